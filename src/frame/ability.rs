//! What crowds and jobs ask of a backend, and the refusal of what a backend cannot do.

use super::even_scale::{mirrored, uneven};
use super::{Job, Retention};
use crate::crowd::{Crowd, Fade, Group, Layer, LayerKind, UNMASKED};
use crate::vertex::Encoding;
use strum::Display;

/// Something that a crowd or a job may ask for. A backend can do whatever it does not [lack](Lack). It is shown by its
/// name in lists of what backends lack.
#[derive(Debug, Clone, Copy, Display, PartialEq, Eq)]
pub enum Ability {
    /// Vertices as packed words.
    #[strum(to_string = "packed output")]
    PackedOutput,
    /// A ring of buffers that the chunks of a crowd share.
    #[strum(to_string = "ring output")]
    RingOutput,
    /// The vertices of the previous frame beside those of this one.
    #[strum(to_string = "motion vectors")]
    Motion,
    /// Joints that scale their axes differently.
    #[strum(to_string = "uneven scale")]
    UnevenScale,
    /// Joints that mirror vertices: those with a negative scale.
    #[strum(to_string = "mirrored joints")]
    MirroredScale,
    /// Joints that scale by more than this factor.
    #[strum(to_string = "scale beyond {0}")]
    ScaleBeyond(u32),
    /// Models with more palette entries than this.
    #[strum(to_string = "palettes beyond {0} entries")]
    EntriesBeyond(usize),
    /// Models with morph targets.
    #[strum(to_string = "morph targets")]
    MorphTargets,
    /// Tangents that morph targets move.
    #[strum(to_string = "morphed tangents")]
    MorphedTangents,
    /// Poses that are not updated at every tick.
    #[strum(to_string = "update rates")]
    UpdateRates,
    /// Instances that others replace.
    #[strum(to_string = "turnover")]
    Turnover,
    /// Instances with more layers than this.
    #[strum(to_string = "layers beyond {0}")]
    LayersBeyond(usize),
    /// Layers that move a part of the skeleton.
    #[strum(to_string = "masks")]
    Masks,
    /// Layers that are added to others.
    #[strum(to_string = "additive layers")]
    AdditiveLayers,
    /// Fades that go on from the motion before them.
    #[strum(to_string = "inertial fades")]
    InertialFades,
    /// Crowds whose instances have one level of detail.
    #[strum(to_string = "crowds without --lod")]
    OneLevel,
    /// Bounds of instances.
    #[strum(to_string = "bounds")]
    Bounds,
    /// Bounds or sockets of instances.
    #[strum(to_string = "bounds and sockets")]
    Gameplay,
}

/// An ability that a backend lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lack {
    /// The ability.
    pub ability: Ability,
    /// The reason, as the beginning of a message: what the backend does instead.
    pub reason: &'static str,
}

impl Lack {
    /// The message with which a backend refuses a crowd and a job; `None` if they do not ask for the ability.
    pub fn refusal(&self, crowd: &Crowd, job: &Job) -> Option<String> {
        Some(format!(
            "{}{}",
            self.reason,
            self.ability.asked(crowd, job)?
        ))
    }
}

impl Ability {
    /// The end of the message to a crowd and a job that ask for the ability: where they do, or what to do without it.
    /// `None` if they do not ask for it.
    fn asked(self, crowd: &Crowd, job: &Job) -> Option<String> {
        let remedy = |asks: bool, needs: &str| asks.then(|| format!("; needs {needs}"));
        let any_layer = |has: fn(&Layer) -> bool| crowd.layers().all().iter().any(has);
        match self {
            Self::PackedOutput => {
                remedy(crowd.format().encoding == Encoding::Packed, "--output f32")
            }
            Self::RingOutput => remedy(job.keep == Retention::Ring, "--output f32 or packed"),
            Self::Motion => remedy(job.keep == Retention::TwoFrames, "a run without --motion"),
            Self::UnevenScale => crowd
                .groups()
                .iter()
                .find_map(|group| uneven(crowd, group))
                .map(|place| format!(": {place}")),
            Self::MirroredScale => crowd
                .groups()
                .iter()
                .find_map(|group| mirrored(crowd, group))
                .map(|place| format!(": {place}")),
            Self::ScaleBeyond(most) => crowd.groups().iter().find_map(|group| {
                let stretch = crowd
                    .entry_reaches(group)
                    .iter()
                    .map(|reach| reach.stretch)
                    .fold(0.0, f64::max);
                let name = group.model.name();
                let message = || {
                    format!(
                        "; needs joints that scale by at most {most}; {name:?} has {stretch:.0}"
                    )
                };
                (stretch > most.into()).then(message)
            }),
            Self::EntriesBeyond(most) => crowd.groups().iter().find_map(|group| {
                let (entries, name) = (group.model.palette_joints().len(), group.model.name());
                let message = || {
                    format!(
                        "; needs models with at most {most} palette entries; {name:?} has {entries}"
                    )
                };
                (entries > most).then(message)
            }),
            Self::MorphTargets => crowd.groups().iter().find_map(|group| {
                let (count, name) = (group.model.mesh().targets().len(), group.model.name());
                (count > 0)
                    .then(|| format!(", of which {name:?} has {count}; needs models without them"))
            }),
            Self::MorphedTangents => remedy(
                crowd.groups().iter().any(morphs_tangents),
                "--attributes p or pn",
            ),
            Self::UpdateRates => remedy(crowd.has_update_rates(), "a crowd without update rates"),
            Self::Turnover => remedy(crowd.turnover().is_some(), "a run without --turnover"),
            Self::LayersBeyond(most) => {
                let asks = (0..crowd.instance_count())
                    .any(|instance| crowd.layers().of(instance).len() > most);
                remedy(asks, "instances with no more layers")
            }
            Self::Masks => remedy(
                any_layer(|layer| layer.mask != UNMASKED),
                "a crowd without masks",
            ),
            Self::AdditiveLayers => remedy(
                any_layer(|layer| layer.kind == LayerKind::Additive),
                "a crowd without additive layers",
            ),
            Self::InertialFades => remedy(
                any_layer(|layer| layer.fade == Fade::Inertial),
                "a crowd whose layers fade by weight, not inertially",
            ),
            Self::OneLevel => remedy(crowd.levels() == 1, "`run` or `verify` with --lod"),
            Self::Bounds => remedy(
                job.gameplay
                    .as_ref()
                    .is_some_and(|gameplay| gameplay.bounds),
                "a run without --bounds",
            ),
            Self::Gameplay => remedy(
                job.gameplay.is_some(),
                "a run without --bounds and --sockets",
            ),
        }
    }
}

/// Returns whether the vertices of a group have tangents that morph targets move.
fn morphs_tangents(group: &Group) -> bool {
    group.format.floats() > 6 && !group.model.mesh().targets().tangents().is_empty()
}
