// Draws colours and, for each pixel, its motion since the last frame.
//
// import Fragment, drawn, shaded from draw.wgsl
// import place, view from draw_view.wgsl
// import previous_position from previous

struct MovingFragment {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) color: vec3f,
    @location(2) world: vec3f,
    @location(3) now: vec3f, // clip space x, y, w
    @location(4) before: vec3f,
}

struct ColorAndMotion {
    @location(0) color: vec4f,
    @location(1) motion: vec2f,
}

@vertex
fn vertex_motion(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> MovingFragment {
    let f = drawn(index, instance);
    let world = place(instance, vec4f(previous_position(index, instance), 1.0));
    let before = view.view_projection * vec4f(world, 1.0);
    return MovingFragment(f.clip, f.normal, f.color, f.world, f.clip.xyw, before.xyw);
}

@fragment
fn fragment_motion(in: MovingFragment) -> ColorAndMotion {
    let motion = in.now.xy / in.now.z - in.before.xy / in.before.z;
    return ColorAndMotion(shaded(Fragment(in.clip, in.normal, in.color, in.world)), motion);
}
