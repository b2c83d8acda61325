// Elements of packed positions, normals and tangents: one, because a compiler cannot see that words of an array belong together.
//
// import Skinned from chunk.wgsl
// import packed_direction, packed_place from packing.wgsl

alias Element = vec4u;
const ELEMENTS = 1u;
const MOST_ELEMENTS = 1u;

fn elements_of(skinned: Skinned) -> array<Element, MOST_ELEMENTS> {
    let normal = packed_direction(skinned.normal);
    let tangent = packed_direction(skinned.tangent.xyz);
    return array<Element, MOST_ELEMENTS>(vec4u(packed_place(skinned), normal, tangent));
}
