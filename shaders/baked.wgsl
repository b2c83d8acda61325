// gpu-baked: the two baked frames between which a layer of an instance is interpolated, and its share of the pose.

struct FramePair {
    first: u32, // first entry of the earlier frame
    next: u32, // first entry of the later frame
    part: f32, // fraction of the way from the earlier to the later
    weight: f32, // the weights of an instance sum to 1
}
