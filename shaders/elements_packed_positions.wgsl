// Elements of packed positions: one, because a compiler cannot see that words of an array belong together.
//
// import Skinned from chunk.wgsl
// import packed_place from packing.wgsl

alias Element = vec2u;
const ELEMENTS = 1u;
const MOST_ELEMENTS = 1u;

fn elements_of(skinned: Skinned) -> array<Element, MOST_ELEMENTS> {
    return array<Element, MOST_ELEMENTS>(packed_place(skinned));
}
