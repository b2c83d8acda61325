// gpu-baked: the two baked frames between which an instance is interpolated.

struct Shown {
    first: u32, // first entry of the earlier frame
    next: u32, // first entry of the later frame
    part: f32, // fraction of the way from the earlier to the later
    padding: u32,
}
