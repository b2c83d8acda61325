// Keys of tracks, and the search for a time among them.

// A channel of a joint in a clip.
struct Track {
    // Bits 0-3: its form; from bit 4 on: index of its first value among the quads; compact: its first bit in a frame.
    place: u32,
    angle: u32, // index of the first interval's angle among the words; compact: of its lows, steps and bits
    timeline: u32, // index of its own key times, or NONE: those of the cursor
}

// Position of a time among keys: the interval's first key, the fraction of the way to the next one, the interval's
// seconds, and the key that holds under step interpolation.
struct Sought {
    key: u32,
    fraction: f32,
    interval: f32,
    held: u32,
}

// Key times preceded by their count, angles, and the frames of compact clips.
@group(0) @binding(6) var<storage, read> words: array<u32>;

// Index of a track's first value.
fn value_of(track: Track) -> u32 {
    return track.place >> 4u;
}

fn word(index: u32) -> f32 {
    return bitcast<f32>(words[index]);
}

// Position of a time among a timeline's keys.
fn seek(timeline: u32, time: f32) -> Sought {
    let count = words[timeline];
    let first = timeline + 1u;
    // Bisection: the number of keys up to the time.
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
