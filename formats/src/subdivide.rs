//! Times of further keys, where straight lines between keys leave a curve.

/// The times between two others at which a curve needs keys, rising: an interval is halved if `is_off` says so of its
/// ends, and its halves again, at most `depth` times.
pub fn subdivide(from: f32, to: f32, depth: u32, is_off: &impl Fn(f32, f32) -> bool) -> Vec<f32> {
    let middle = from + (to - from) / 2.0;
    if depth == 0 || !(from < middle && middle < to) || !is_off(from, to) {
        return Vec::new();
    }
    let mut times = subdivide(from, middle, depth - 1, is_off);
    times.push(middle);
    times.extend(subdivide(middle, to, depth - 1, is_off));
    times
}
