//! The condition of backends that do not morph.

use crate::crowd::Crowd;
use crate::frame::{BackendError, Result};

/// Refuses a crowd with morph targets, for a backend that leaves them out.
///
/// # Errors
/// A model of the crowd has morph targets.
pub(super) fn require_no_targets(crowd: &Crowd) -> Result<()> {
    let morphs = crowd.groups().iter().find(|group| !group.model.mesh().targets().is_empty());
    match morphs {
        None => Ok(()),
        Some(group) => {
            let (name, count) = (group.model.name(), group.model.mesh().targets().len());
            let message = format!("has no morph targets, of which {name:?} has {count}; needs models without them");
            Err(BackendError::Unavailable(message))
        }
    }
}
