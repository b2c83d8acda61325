//! Look-up of clips by name.

use crate::model::Clip;
use crate::wording;

/// Index of a clip among those of a model by name, or by number if no clip has that name.
///
/// # Errors
/// There is no such clip; the message lists the existing ones.
pub fn find_clip(model: &str, clips: &[Clip], wanted: &str) -> Result<u32, String> {
    if let Some(index) = clips.iter().position(|clip| clip.name() == wanted) {
        return Ok(index as u32);
    }
    if let Ok(index) = wanted.parse()
        && (index as usize) < clips.len()
    {
        return Ok(index);
    }
    let mut names: Vec<&str> = clips.iter().map(Clip::name).collect();
    names.retain(|name| !name.is_empty());
    let unknown = if names.is_empty() {
        format!("unknown clip {wanted:?};")
    } else {
        format!("{}, or", wording::unknown("clip", wanted, &names))
    };
    Err(match clips.len() {
        0 => format!("{unknown} {model:?} has no clips"),
        1 => format!("{unknown} number 0"),
        count => format!("{unknown} a number, 0 to {}", count - 1),
    })
}
