// A 3x4 matrix.

struct Rows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}
