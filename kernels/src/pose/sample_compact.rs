//! Stage `sample` from compact clips: decodes two frames and interpolates between them, linearly or along the arc.

use super::arc::ShortArc;
use super::lanes::{Lanes, write};
use super::{Local, first_row};
use crate::model::Channel;
use crate::model::compact::{Compact, CompactKey, Decoder};

/// Overwrites the poses of one instance with the values of a compact clip's tracks.
pub(super) fn sample_compact<const L: usize>(
    compact: &Compact,
    time: f32,
    lanes: Lanes,
    local: &mut [Local<L>],
) {
    let frames = Frames::of(compact);
    let (first, fraction) = frames.place(time);
    let arc = ShortArc::new::<1, f32>(fraction);
    let before = &compact.numbers[first * compact.row..];
    let after = &compact.numbers[frames.after(first) * compact.row..];
    for (track, place) in compact.places() {
        let [a, b] = [before, after].map(|row| Compact::key(row, place, track));
        let decoder = track.decoder();
        let joint = usize::from(track.joint);
        let row = first_row(track.channel);
        if track.channel == Channel::Rotation {
            let value = arc.between(quaternion(&decoder, &a), quaternion(&decoder, &b));
            write(local, joint, lanes, row, &value);
        } else {
            let a = decoder.vector(a.numbers);
            let b = decoder.vector(b.numbers);
            let value: [f32; 3] = std::array::from_fn(|c| a[c] + fraction * (b[c] - a[c]));
            write(local, joint, lanes, row, &value);
        }
    }
}

/// Times of a clip's frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frames {
    start: f32,
    interval: f32,
    last: u32,
}

impl Frames {
    /// The frames of a clip.
    pub fn of(compact: &Compact) -> Self {
        Self {
            start: compact.start,
            interval: compact.interval,
            last: compact.frames - 1,
        }
    }

    /// The frame before a time and the fraction of the way to the next one.
    pub fn place(self, time: f32) -> (usize, f32) {
        // In f64, because far into a long clip a float leaves few digits for the fraction.
        let since = f64::from(time) - f64::from(self.start);
        let last = f64::from(self.last);
        let place = if self.last > 0 {
            (since / f64::from(self.interval)).clamp(0.0, last)
        } else {
            0.0
        };
        let first = (place as u32).min(self.last.saturating_sub(1));
        (first as usize, (place - f64::from(first)) as f32)
    }

    /// The frame after another one; the last one follows itself.
    pub fn after(self, frame: usize) -> usize {
        (frame + 1).min(self.last as usize)
    }
}

fn quaternion(decoder: &Decoder, key: &CompactKey) -> [f32; 4] {
    let kept = decoder.vector(key.numbers);
    let largest = (1.0 - kept.iter().map(|v| v * v).sum::<f32>())
        .max(0.0)
        .sqrt();
    let [a, b, c] = kept;
    match key.dropped {
        0 => [largest, a, b, c],
        1 => [a, largest, b, c],
        2 => [a, b, largest, c],
        _ => [a, b, c, largest],
    }
}
