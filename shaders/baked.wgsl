// gpu-baked: the two baked frames between which an instance is interpolated.

struct Shown {
    first: u32, // entry of the earlier one
    next: u32, // entry of the later one
    part: f32, // of the way from one to the other
    padding: u32,
}
