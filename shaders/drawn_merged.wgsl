// Draws of instances of several models at once. An instance has its index in the crowd, a vertex one index among the
// vertices of all models.

struct DrawnInstance {
    place: u32, // what to add to the index of a vertex to find the skinned one; wraps around
    model: u32, // index of its cube
}

@group(0) @binding(0) var<storage, read> drawn_instances: array<DrawnInstance>;
// Centre, and half the length of the edges, of the cube that packed vertices of a model are relative to.
@group(0) @binding(3) var<storage, read> cubes: array<vec4f>;

fn crowd_instance(instance: u32) -> u32 {
    return instance;
}

fn skinned_place(vertex: u32, instance: u32) -> u32 {
    return drawn_instances[instance].place + vertex;
}

fn cube_of(instance: u32) -> vec4f {
    return cubes[drawn_instances[instance].model];
}
