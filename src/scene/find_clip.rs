//! Look-up of clips by name.

use crate::model::{Clip, Model};
use crate::wording;

/// Index of a clip by name, or by number if no clip has that name.
///
/// # Errors
/// There is no such clip; the message lists the existing ones.
pub fn find_clip(model: &Model, wanted: &str) -> Result<u32, String> {
    find_among(model.name(), model.clips(), wanted)
}

pub(super) fn find_among(model: &str, clips: &[Clip], wanted: &str) -> Result<u32, String> {
    let named = clips.iter().position(|clip| clip.name() == wanted);
    let numbered = || {
        wanted
            .parse()
            .ok()
            .filter(|&index: &usize| index < clips.len())
    };
    named
        .or_else(numbered)
        .map(|index| index as u32)
        .ok_or_else(|| {
            let names: Vec<_> = clips
                .iter()
                .map(|clip| clip.name())
                .filter(|name| !name.is_empty())
                .collect();
            let unknown = match names[..] {
                [] => format!("unknown clip {wanted:?};"),
                _ => format!("{} or", wording::unknown("clip", wanted, &names)),
            };
            match clips.len() {
                0 => format!("unknown clip {wanted:?}; {model:?} has no clips"),
                1 => format!("{unknown} index 0"),
                count => format!("{unknown} an index, 0 to {}", count - 1),
            }
        })
}
