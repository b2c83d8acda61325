//! What crowds and jobs ask of a backend, and the refusal of what a backend cannot do.

use super::even_scale::{mirrored, uneven, vanishing};
use super::{Job, Retention};
use skinbench_kernels::crowd::{Crowd, Fade, Layer, LayerKind, UNMASKED};
use skinbench_kernels::vertex::Encoding;
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
    /// Joints whose scale is so small that f32 numbers have no square of it, and that still show.
    #[strum(to_string = "scale below 1e-18")]
    VanishingScale,
    /// Joints that scale by more than this factor.
    #[strum(to_string = "scale beyond {0}")]
    ScaleBeyond(u32),
    /// Models with more palette entries than this.
    #[strum(to_string = "palettes beyond {0} entries")]
    EntriesBeyond(usize),
    /// Models with morph targets.
    #[strum(to_string = "morph targets")]
    MorphTargets,
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
        let mut groups = crowd.groups().iter();
        let (asks, needs) = match self {
            Self::PackedOutput => (crowd.format().encoding == Encoding::Packed, "--output f32"),
            Self::RingOutput => (job.keep == Retention::Ring, "--output f32 or packed"),
            Self::Motion => (job.keep == Retention::TwoFrames, "a run without --motion"),
            Self::UnevenScale => {
                let place = groups.find_map(|group| uneven(crowd, group))?;
                return Some(format!(": {place}"));
            }
            Self::MirroredScale => {
                let place = groups.find_map(|group| mirrored(crowd, group))?;
                return Some(format!(": {place}"));
            }
            Self::VanishingScale => {
                let place = groups.find_map(|group| vanishing(crowd, group))?;
                return Some(format!(": {place}"));
            }
            Self::ScaleBeyond(most) => {
                return groups.find_map(|group| {
                    let reaches = crowd.entry_reaches(group);
                    let stretch = reaches
                        .iter()
                        .map(|reach| reach.stretch)
                        .fold(0.0, f64::max);
                    let name = group.model.name();
                    (stretch > most.into()).then(|| {
                        format!(
                            "; needs joints that scale by at most {most}; {name:?} has {stretch:.0}"
                        )
                    })
                });
            }
            Self::EntriesBeyond(most) => {
                return groups.find_map(|group| {
                    let entries = group.model.palette_joints().len();
                    let name = group.model.name();
                    (entries > most).then(|| {
                        format!("; needs models with at most {most} palette entries; {name:?} has {entries}")
                    })
                });
            }
            Self::MorphTargets => {
                let group = groups.find(|group| group.has_targets())?;
                let name = group.model.name();
                let count = group.model.mesh().targets().len();
                return Some(format!(
                    ", of which {name:?} has {count}; needs models without them"
                ));
            }
            Self::UpdateRates => (crowd.has_update_rates(), "a crowd without update rates"),
            Self::Turnover => (crowd.turnover().is_some(), "a run without --turnover"),
            Self::LayersBeyond(most) => (
                (0..crowd.instance_count())
                    .any(|instance| crowd.layers().of(instance).len() > most),
                "instances with no more layers",
            ),
            Self::Masks => (
                any_layer(crowd, |layer| layer.mask != UNMASKED),
                "a crowd without masks",
            ),
            Self::AdditiveLayers => (
                any_layer(crowd, |layer| layer.kind == LayerKind::Additive),
                "a crowd without additive layers",
            ),
            Self::InertialFades => (
                any_layer(crowd, |layer| layer.fade == Fade::Inertial),
                "a crowd whose layers fade by weight, not inertially",
            ),
            Self::Bounds => (
                job.gameplay
                    .as_ref()
                    .is_some_and(|gameplay| gameplay.bounds),
                "a run without --bounds",
            ),
            Self::Gameplay => (
                job.gameplay.is_some(),
                "a run without --bounds and --sockets",
            ),
        };
        asks.then(|| format!("; needs {needs}"))
    }
}

fn any_layer(crowd: &Crowd, has: fn(&Layer) -> bool) -> bool {
    crowd.layers().all().iter().any(has)
}
