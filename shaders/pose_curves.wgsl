// Interpolation between keys: the same algorithms as kernels/src/pose/sample.rs.
//
// import Sought, Track, value_of, word from pose_keys.wgsl

// Keys, four numbers each.
@group(0) @binding(7) var<storage, read> quads: array<vec4f>;

// sin(x)/x for x in 0..2.9 radians, within 2e-7.
fn sine_over_x(x: f32) -> f32 {
    let u = x * x;
    let high = 2.7211408e-6 - 2.1296863e-8 * u;
    return 1.0 + u * (-0.16666646 + u * (8.333043e-3 + u * (-1.98264e-4 + u * high)));
}

// Spherical interpolation between unit quaternions `angle` radians apart.
fn slerp(a: vec4f, b: vec4f, angle: f32, t: f32) -> vec4f {
    let whole = sine_over_x(angle);
    let share_a = (1.0 - t) * sine_over_x((1.0 - t) * angle) / whole;
    let share_b = t * sine_over_x(t * angle) / whole;
    return share_a * a + share_b * b;
}

// Arc tangent of 0 to 1 within 1e-7: formula 4.4.49 of Abramowitz and Stegun.
fn arc_tangent(x: f32) -> f32 {
    let u = x * x;
    let high = 0.042909615 + u * (-0.016165737 + u * 0.0028662257);
    return x * (1.0 + u * (-0.33333145 + u * (0.19993551 + u * (-0.142089 + u * (0.10656264 + u * (-0.07528964 + u * high))))));
}

// Angle between two unit quaternions, 0 to pi.
fn angle_between(a: vec4f, b: vec4f) -> f32 {
    let chord = length(a - b);
    let other = length(a + b);
    let half = arc_tangent(min(chord, other) / max(chord, other));
    return select(3.1415927 - 2.0 * half, 2.0 * half, chord <= other);
}

// Hermite spline; a key is in-tangent, value, out-tangent.
fn cubic(first: u32, at: Sought) -> vec4f {
    let key = first + 3u * at.key;
    let t = at.fraction;
    let t2 = t * t;
    let t3 = t2 * t;
    let keys = (2.0 * t3 - 3.0 * t2 + 1.0) * quads[key + 1u] + (3.0 * t2 - 2.0 * t3) * quads[key + 4u];
    return keys + at.interval * ((t3 - 2.0 * t2 + t) * quads[key + 2u] + (t3 - t2) * quads[key + 3u]);
}

// Shoemake's squad; a key is value, control point.
fn squad(track: Track, at: Sought) -> vec4f {
    let key = value_of(track) + 2u * at.key;
    let angle = track.angle + 2u * at.key;
    let t = at.fraction;
    let keys = slerp(quads[key], quads[key + 2u], word(angle), t);
    let controls = slerp(quads[key + 1u], quads[key + 3u], word(angle + 1u), t);
    return normalize(slerp(keys, controls, angle_between(keys, controls), 2.0 * t * (1.0 - t)));
}
