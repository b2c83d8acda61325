// gpu-vertex: skins in the vertex shader, again in every pass.

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    return skin(held(vertex), instance);
}
