// gpu-baked: the frames that an instance is between.

struct Shown {
    first: u32, // entry of the earlier one
    next: u32, // entry of the later one
    part: f32, // of the way from one to the other
    padding: u32,
}
