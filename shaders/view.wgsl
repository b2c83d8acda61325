// Camera and light of a picture.

struct View {
    view_projection: mat4x4f,
    light: vec3f, // direction towards it, world space
    padding: f32,
}
