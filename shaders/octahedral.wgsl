// Decoding of octahedral directions.

// The unit vector of a point on the unfolded octahedron, -1 to 1 in each coordinate.
fn unfolded(octahedral: vec2f) -> vec3f {
    var n = vec3f(octahedral, 1.0 - abs(octahedral.x) - abs(octahedral.y));
    let fold = max(-n.z, 0.0);
    n.x -= select(-fold, fold, n.x >= 0.0);
    n.y -= select(-fold, fold, n.y >= 0.0);
    return normalize(n);
}
