//! What crowds and jobs ask of a backend, and the refusal of what a backend cannot do.

use super::even_scale::uneven;
use super::{Job, Retention};
use crate::crowd::{Crowd, Fade, Group, Layer, LayerKind, UNMASKED};
use crate::vertex::Encoding;
use std::fmt;

/// Something that a crowd or a job may ask for. A backend can do whatever it does not [lack](Lack).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Vertices as packed words.
    PackedOutput,
    /// A ring of buffers that the chunks of a crowd share.
    RingOutput,
    /// The vertices of the previous frame beside those of this one.
    Motion,
    /// Joints that scale their axes differently, or mirror.
    UnevenScale,
    /// Joints that scale by more than this factor.
    ScaleBeyond(u32),
    /// Models with more palette entries than this.
    EntriesBeyond(usize),
    /// Models with morph targets.
    MorphTargets,
    /// Tangents that morph targets move.
    MorphedTangents,
    /// Poses that are not updated at every tick.
    UpdateRates,
    /// Instances that others replace.
    Turnover,
    /// Instances with more layers than this.
    LayersBeyond(usize),
    /// Layers that move a part of the skeleton.
    Masks,
    /// Layers that are added to others.
    AdditiveLayers,
    /// Fades that go on from the motion before them.
    InertialFades,
    /// Crowds whose instances have one level of detail.
    OneLevel,
    /// Bounds of instances.
    Bounds,
    /// Bounds or sockets of instances.
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
        Some(format!("{}{}", self.reason, self.ability.asked(crowd, job)?))
    }
}

impl Ability {
    /// The end of the message to a crowd and a job that ask for the ability: where they do, or what to do without it.
    /// `None` if they do not ask for it.
    fn asked(self, crowd: &Crowd, job: &Job) -> Option<String> {
        let remedy = |asks: bool, needs: &str| asks.then(|| format!("; needs {needs}"));
        let any_layer = |has: fn(&Layer) -> bool| crowd.layers().all().iter().any(has);
        match self {
            Self::PackedOutput => remedy(crowd.format().encoding == Encoding::Packed, "--output f32"),
            Self::RingOutput => remedy(job.keep == Retention::Ring, "--output f32 or packed"),
            Self::Motion => remedy(job.keep == Retention::TwoFrames, "a run without --motion"),
            Self::UnevenScale => {
                crowd.groups().iter().find_map(|group| uneven(&group.model)).map(|place| format!(": {place}"))
            }
            Self::ScaleBeyond(most) => crowd.groups().iter().find_map(|group| {
                let stretch = crowd.entry_reaches(group).iter().map(|reach| reach.stretch).fold(0.0, f64::max);
                let name = group.model.name();
                let message = || format!("; needs joints that scale by at most {most}; {name:?} has {stretch:.0}");
                (stretch > most.into()).then(message)
            }),
            Self::EntriesBeyond(most) => crowd.groups().iter().find_map(|group| {
                let (entries, name) = (group.model.palette_joints().len(), group.model.name());
                let message = || format!("; needs models with at most {most} palette entries; {name:?} has {entries}");
                (entries > most).then(message)
            }),
            Self::MorphTargets => crowd.groups().iter().find_map(|group| {
                let (count, name) = (group.model.mesh().targets().len(), group.model.name());
                (count > 0).then(|| format!(", of which {name:?} has {count}; needs models without them"))
            }),
            Self::MorphedTangents => remedy(crowd.groups().iter().any(morphs_tangents), "--attributes p or pn"),
            Self::UpdateRates => remedy(crowd.has_update_rates(), "a crowd without update rates"),
            Self::Turnover => remedy(crowd.turnover().is_some(), "a run without --turnover"),
            Self::LayersBeyond(most) => {
                let asks = (0..crowd.instance_count()).any(|instance| crowd.layers().of(instance).len() > most);
                remedy(asks, "instances with no more layers")
            }
            Self::Masks => remedy(any_layer(|layer| layer.mask != UNMASKED), "a crowd without masks"),
            Self::AdditiveLayers => {
                remedy(any_layer(|layer| layer.kind == LayerKind::Additive), "a crowd without additive layers")
            }
            Self::InertialFades => remedy(
                any_layer(|layer| layer.fade == Fade::Inertial),
                "a crowd whose layers fade by weight, not inertially",
            ),
            Self::OneLevel => remedy(crowd.levels() == 1, "`run` or `verify` with --lod"),
            Self::Bounds => {
                remedy(job.gameplay.as_ref().is_some_and(|gameplay| gameplay.bounds), "a run without --bounds")
            }
            Self::Gameplay => remedy(job.gameplay.is_some(), "a run without --bounds and --sockets"),
        }
    }
}

/// Returns whether the vertices of a group have tangents that morph targets move.
fn morphs_tangents(group: &Group) -> bool {
    group.format.floats() > 6 && !group.model.mesh().targets().tangents().is_empty()
}

impl fmt::Display for Ability {
    /// The name in lists of what backends lack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::PackedOutput => "packed output",
            Self::RingOutput => "ring output",
            Self::Motion => "motion vectors",
            Self::UnevenScale => "uneven scale",
            Self::ScaleBeyond(most) => return write!(f, "scale beyond {most}"),
            Self::EntriesBeyond(most) => return write!(f, "palettes beyond {most} entries"),
            Self::MorphTargets => "morph targets",
            Self::MorphedTangents => "morphed tangents",
            Self::UpdateRates => "update rates",
            Self::Turnover => "turnover",
            Self::LayersBeyond(most) => return write!(f, "layers beyond {most}"),
            Self::Masks => "masks",
            Self::AdditiveLayers => "additive layers",
            Self::InertialFades => "inertial fades",
            Self::OneLevel => "crowds without --lod",
            Self::Bounds => "bounds",
            Self::Gameplay => "bounds and sockets",
        };
        f.write_str(name)
    }
}
