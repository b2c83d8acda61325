// Keys of tracks, and the search for a time among them.

// A channel of a joint in a clip.
struct Track {
    // Bits 0-3: how it goes from key to key; from bit 4: its first value among the quads; compact: its place in a frame.
    place: u32,
    angle: u32, // the first interval's angle among the words; compact: its lows, steps and dropped component
    timeline: u32, // its own key times, or NONE: those of the cursor
}

// Where a time falls: the interval's first key, the way to the next one from 0 to 1, its seconds, and the key that holds under
// step interpolation.
struct Sought {
    key: u32,
    fraction: f32,
    interval: f32,
    held: u32,
}

// Numbers of all kinds: key times behind their count, angles, 16-bit numbers in pairs.
@group(0) @binding(6) var<storage, read> words: array<u32>;

fn word(index: u32) -> f32 {
    return bitcast<f32>(words[index]);
}

// A time among a timeline's keys.
fn seek(timeline: u32, time: f32) -> Sought {
    let count = words[timeline];
    let first = timeline + 1u;
    // The keys up to the time.
    var low = 0u;
    var high = count;
    while low < high {
        let middle = (low + high) / 2u;
        if word(first + middle) <= time {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    let key = min(max(low, 1u) - 1u, max(count, 2u) - 2u);
    if count < 2u {
        return Sought(key, 0.0, 0.0, key);
    }
    let interval = word(first + key + 1u) - word(first + key);
    return Sought(key, clamp((time - word(first + key)) / interval, 0.0, 1.0), interval, max(low, 1u) - 1u);
}
