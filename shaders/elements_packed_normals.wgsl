// Elements of packed positions and normals: one, because a compiler cannot see that words of an array belong together.
//
// import Skinned from chunk.wgsl
// import packed_direction, packed_place from packing.wgsl

alias Element = array<u32, 3>;
const ELEMENTS = 1u;
const MOST_ELEMENTS = 1u;

fn elements_of(skinned: Skinned) -> array<Element, MOST_ELEMENTS> {
    let place = packed_place(skinned);
    return array<Element, MOST_ELEMENTS>(array(place.x, place.y, packed_direction(skinned.normal)));
}
