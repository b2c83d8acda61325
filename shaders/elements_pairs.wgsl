// Elements of vertices of an even number of floats: pairs. On llvmpipe this makes a kernel a sixth faster.
//
// import FLOATS, Skinned from chunk.wgsl

alias Element = vec2f;
// Elements of a vertex, and the most of any.
override ELEMENTS = FLOATS / 2u;
const MOST_ELEMENTS = 5u;

fn elements_of(skinned: Skinned) -> array<vec2f, MOST_ELEMENTS> {
    let middle = vec2f(skinned.position.z, skinned.normal.x);
    return array(skinned.position.xy, middle, skinned.normal.yz, skinned.tangent.xy, skinned.tangent.zw);
}
