// Output of compute kernels: vertices one after the other.
//
// import Skinned from chunk.wgsl
// import chunk from numbers
// import ELEMENTS, Element, elements_of from elements

// [instance][vertex][ELEMENTS]
@group(0) @binding(5) var<storage, read_write> output: array<Element>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let at = (chunk.first_vertex + instance * chunk.vertices + vertex) * ELEMENTS;
    let elements = elements_of(skinned);
    for (var k = 0u; k < ELEMENTS; k++) {
        output[at + k] = elements[k];
    }
}
