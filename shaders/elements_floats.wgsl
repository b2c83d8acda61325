// Elements of vertices of three floats.
//
// import Skinned from chunk.wgsl

alias Element = f32;
// Elements of a vertex, and the most of any.
const ELEMENTS = 3u;
const MOST_ELEMENTS = 3u;

fn elements_of(skinned: Skinned) -> array<f32, MOST_ELEMENTS> {
    return array(skinned.position.x, skinned.position.y, skinned.position.z);
}
