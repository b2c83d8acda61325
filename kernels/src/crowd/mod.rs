//! All instances of a scene, structure-of-arrays, grouped by model.
//!
//! Time is integer: a layer's phase is a `u32` fraction of its clip's cycle, advanced by a whole step per tick. Every
//! backend and the reference therefore read bit-identical clip times after any run time ([`time`]). Fades count whole
//! ticks.

mod changing;
mod economy;
mod expressions;
mod layers;
mod live;
mod live_state;
mod playing;
mod reach;
mod schedule;
mod shown;
mod turnover;
mod update_rate;

pub use changing::InstanceLayers;
pub use expressions::Expression;
pub use layers::{
    Fade, Inertia, LEAST_SHARE, Layer, LayerKind, MAX_LAYERS, Playback, REST, UNMASKED, time,
    time_at,
};
pub use live::{InstanceId, LiveCrowd, LiveGroup, LiveLayer};
pub use live_state::JointOverride;
pub use playing::{FASTEST, LONGEST_FADE, Play};
pub use reach::{EntryReach, Reach};
pub use schedule::{LONGEST, Presence, Schedule, TICKS_PER_SECOND};
pub use shown::{JointShown, Shown};
pub use turnover::Turnover;
pub use update_rate::{Between, UpdateRate};

use crate::error::ensure;
use crate::model::{Clip, Lists, Model, RotationBlend, Rows, TargetWeight};
use crate::vertex::{Attributes, VertexFormat};
use fieldwork::Fieldwork;
use layers::with_usual_weights;
use live_state::LiveState;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Instances per block: the unit in which CPU kernels put instances in SIMD lanes.
pub const BLOCK: usize = 16;

/// The layers of all instances.
pub type Layers = Lists<Layer>;

/// Error for instances or options that a crowd cannot hold.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CrowdError(String);

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for CrowdError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<String> for CrowdError {
    fn from(problem: String) -> Self {
        Self(problem)
    }
}

/// A model's instances: a range of the crowd's.
#[derive(Debug, Clone)]
pub struct Group {
    /// The model of these instances.
    pub model: Arc<Model>,
    /// Their indices in the crowd.
    pub instances: Range<u32>,
    /// Format of their skinned vertices.
    pub format: VertexFormat,
    /// Number of the last instances, which keep their pose.
    pub frozen: u32,
    masks: Vec<f32>,
    /// Found when it is asked for.
    pub(crate) shown: OnceLock<Shown>,
}

impl Group {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }
    /// Always `false`: a group has at least one instance.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }
    /// The instances as indices of slices.
    fn indices(&self) -> Range<usize> {
        self.instances.start as usize..self.instances.end as usize
    }
    /// Returns whether the model has morph targets.
    pub fn has_targets(&self) -> bool {
        !self.model.mesh().targets().is_empty()
    }
    /// The instances whose pose changes from tick to tick.
    pub fn moving(&self) -> Range<u32> {
        self.instances.start..self.instances.end - self.frozen
    }
    /// Returns whether one of the instances keeps its pose.
    pub fn is_frozen(&self, instance: u32) -> bool {
        instance >= self.moving().end
    }
    /// A mask of the group: one weight per joint, 0 to 1.
    ///
    /// # Panics
    /// The group has no mask with this index.
    pub fn mask(&self, index: u32) -> &[f32] {
        let joints = self.model.skeleton().len();
        &self.masks[index as usize * joints..][..joints]
    }
    /// All masks of the group, `[mask][joint]`.
    pub fn masks(&self) -> &[f32] {
        &self.masks
    }
    /// 32-bit words of one skinned instance.
    pub fn instance_words(&self) -> usize {
        self.model.mesh().vertex_count() * self.format.words()
    }
}

/// All instances of a scene. Instances of one model are neighbours.
#[derive(Debug, Clone, Default, Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Crowd {
    /// Instances by model.
    #[field = true]
    groups: Vec<Group>,
    /// Layers of all instances.
    #[field = true]
    layers: Layers,
    /// Model to world, one per instance.
    #[field = true]
    placements: Vec<Rows>,
    /// The vertex format of every group.
    #[field(get(copy))]
    format: VertexFormat,
    // One per instance, or empty if all are posed at every tick.
    rates: Vec<UpdateRate>,
    // Expressions: one item of each per instance, or none if no instance has any.
    pinned: Lists<TargetWeight>,
    alone: Vec<bool>,
    turnover: Option<Box<Turnover>>,
    live: Option<Box<LiveState>>,
}

impl Crowd {
    /// A crowd without instances; its vertices have positions and unit normals.
    pub fn new() -> Self {
        Self::with_format(VertexFormat::default())
    }

    /// A crowd without instances. Models without tangents fall back from `pnt` to `pn`.
    pub fn with_format(format: VertexFormat) -> Self {
        Self {
            format,
            ..Self::default()
        }
    }

    /// Appends a model's instances: for each its placement (model to world, used by `draw` only) and its layers.
    ///
    /// # Errors
    /// No instance; more than `u32::MAX` in total; update rates, or a crowd that changes; or invalid
    /// layers: none or more than [`MAX_LAYERS`], a clip that the model lacks, a first layer that does not merge, a
    /// merge layer after another kind, a weight out of range, merge weights that sum to zero, fades longer than their
    /// schedule, more than one inertial layer, or an inertial layer that merges.
    pub fn push_group<L: AsRef<[Layer]>>(
        &mut self,
        model: Arc<Model>,
        instances: impl IntoIterator<Item = (Rows, L)>,
    ) -> Result<(), CrowdError> {
        self.push_masked_group(model, &[], instances)
    }

    /// As [`Crowd::push_group`], with masks that layers refer to by index. Each mask has one weight per joint, 0 to 1.
    ///
    /// # Errors
    /// As [`Crowd::push_group`]; a mask with another length or a weight out of range; or an index without a mask.
    pub fn push_masked_group<L: AsRef<[Layer]>>(
        &mut self,
        model: Arc<Model>,
        masks: &[Vec<f32>],
        instances: impl IntoIterator<Item = (Rows, L)>,
    ) -> Result<(), CrowdError> {
        self.require_full_posing()?;
        check_masks(&model, masks)?;
        let first = self.instance_count() as u32;
        for (placement, layers) in instances {
            let layers = layers.as_ref();
            check_layers(&model, masks.len(), layers).map_err(|problem| {
                CrowdError(format!("an instance of {:?}: {problem}", model.name()))
            })?;
            let most = u32::MAX as usize;
            ensure!(
                self.placements.len() < most && self.layers.all().len() + layers.len() <= most,
                "more than {most} instances or layers"
            );
            self.placements.push(placement);
            self.layers.push(with_usual_weights(layers));
        }
        let end = self.placements.len() as u32;
        ensure!(
            end > first,
            "no instance of {:?}; expected at least one",
            model.name()
        );
        let mut format = self.format;
        if model.mesh().tangents().is_none() {
            format.attributes = format.attributes.min(Attributes::Pn);
        }
        self.groups.push(Group {
            model,
            instances: first..end,
            format,
            frozen: 0,
            masks: masks.concat(),
            shown: OnceLock::new(),
        });
        Ok(())
    }

    /// Replaces the model of a group by one that differs in its cube alone.
    pub(crate) fn set_model(&mut self, group: usize, model: Arc<Model>) {
        self.groups[group].model = model;
    }

    /// The same instances with another interpolation of every clip's linear rotations.
    #[must_use]
    pub fn with_rotation_blend(mut self, blend: RotationBlend) -> Self {
        for group in &mut self.groups {
            group.model = Arc::new(Model::clone(&group.model).with_rotation_blend(blend));
        }
        self
    }

    /// Number of instances.
    pub fn instance_count(&self) -> usize {
        self.placements.len()
    }
    /// Skinned vertices of one frame.
    pub fn vertex_count(&self) -> u64 {
        self.sum(|group| group.model.mesh().vertex_count())
    }
    /// Posed joints of one frame.
    pub fn joint_count(&self) -> u64 {
        self.sum(|group| group.model.skeleton().len())
    }
    /// Palette entries of one frame.
    pub fn palette_entries(&self) -> u64 {
        self.sum(|group| group.model.palette_joints().len())
    }
    /// The sum over all instances of what each one of a group has.
    fn sum(&self, each: impl Fn(&Group) -> usize) -> u64 {
        self.groups
            .iter()
            .map(|group| group.len() as u64 * each(group) as u64)
            .sum()
    }
    /// The first group of each model.
    pub fn first_of_models(&self) -> impl Iterator<Item = &Group> {
        let mut first: Vec<&Group> = Vec::new();
        for group in &self.groups {
            if !first
                .iter()
                .any(|other| Arc::ptr_eq(&other.model, &group.model))
            {
                first.push(group);
            }
        }
        first.into_iter()
    }
    /// The formats that occur among the groups, each once: at most two.
    pub fn formats(&self) -> Vec<VertexFormat> {
        let mut formats: Vec<VertexFormat> = self.groups.iter().map(|g| g.format).collect();
        formats.sort_by_key(|f| f.attributes);
        formats.dedup();
        formats
    }
    /// 32-bit words of one frame's skinned vertices: `[instance][vertex][word]`, group after group.
    pub fn output_words(&self) -> u64 {
        self.sum(Group::instance_words)
    }
    /// The group that holds an instance.
    pub fn group_of(&self, instance: u32) -> usize {
        self.groups.partition_point(|g| g.instances.end <= instance)
    }
    fn require_full_posing(&self) -> Result<(), CrowdError> {
        ensure!(
            self.rates.is_empty() && !self.changes() && !self.is_live(),
            "poses are updated less often, frozen or replaced already; expected one of them"
        );
        Ok(())
    }

    /// The rate at which an instance is posed.
    pub fn update_rate(&self, instance: u32) -> UpdateRate {
        self.rates
            .get(instance as usize)
            .copied()
            .unwrap_or(UpdateRate::PLAIN)
    }

    /// Returns whether some instances may not be posed at every tick.
    pub fn has_update_rates(&self) -> bool {
        !self.rates.is_empty()
    }

    /// Brings layers, expressions and placements into another order of instances.
    fn reorder(&mut self, order: &[u32]) {
        self.layers = self.layers.reordered(order);
        self.placements = reordered(&self.placements, order);
        if !self.alone.is_empty() {
            self.pinned = self.pinned.reordered(order);
            self.alone = reordered(&self.alone, order);
        }
    }
}

fn reordered<T: Copy>(items: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&item| items[item as usize]).collect()
}

fn check_masks(model: &Model, masks: &[Vec<f32>]) -> Result<(), CrowdError> {
    let joints = model.skeleton().len();
    for (index, mask) in masks.iter().enumerate() {
        ensure!(
            mask.len() == joints,
            "mask {index} of {:?} has {} weights; expected {joints}, one per joint",
            model.name(),
            mask.len()
        );
        for weight in mask {
            ensure!(
                (0.0..=1.0).contains(weight),
                "mask {index} of {:?} has the weight {weight}; expected 0 to 1",
                model.name()
            );
        }
    }
    Ok(())
}

fn check_layers(model: &Model, masks: usize, layers: &[Layer]) -> Result<(), String> {
    ensure!(
        (1..=MAX_LAYERS).contains(&layers.len()),
        "{} layers; expected 1 to {MAX_LAYERS}",
        layers.len()
    );
    let merged = layers
        .iter()
        .take_while(|l| l.kind == LayerKind::Merge)
        .count();
    let (merged, others) = layers.split_at(merged);
    ensure!(
        !merged.is_empty() && others.iter().all(|l| l.kind != LayerKind::Merge),
        "expected merge layers first, one at least, then the others"
    );
    ensure!(
        merged.iter().map(|l| l.weight).sum::<f32>() != 0.0,
        "weights of merge layers that sum to 0; expected more"
    );
    ensure!(
        layers.iter().filter(|l| l.fade == Fade::Inertial).count() <= 1,
        "more than one inertial layer; expected one at most"
    );
    for (index, layer) in layers.iter().enumerate() {
        check_layer(model, masks, layer)
            .map_err(|problem| format!("layer {index} has {problem}"))?;
    }
    Ok(())
}

fn check_layer(model: &Model, masks: usize, layer: &Layer) -> Result<(), String> {
    let clip = model.clips().get(layer.clip as usize);
    ensure!(
        clip.is_some() || layer.clip == REST,
        "clip {}; the model has {}",
        layer.clip,
        model.clips().len()
    );
    ensure!(
        clip.is_some_and(Clip::is_additive) == (layer.kind == LayerKind::Additive),
        "an additive clip on a layer that is not additive, or the reverse"
    );
    if layer.kind == LayerKind::Merge {
        ensure!(
            (0.0..=f32::MAX).contains(&layer.weight),
            "the weight {}; expected 0 or more",
            layer.weight
        );
        ensure!(
            layer.fade != Fade::Inertial,
            "an inertial fade on a merge layer; expected an override or additive layer"
        );
    } else {
        ensure!(
            (0.0..=1.0).contains(&layer.weight),
            "the weight {}; expected 0 to 1",
            layer.weight
        );
    }
    ensure!(
        layer.mask == UNMASKED || (layer.mask as usize) < masks,
        "mask {}; the group has {masks}",
        layer.mask
    );
    let Schedule {
        period,
        length,
        fade_in,
        fade_out,
        ..
    } = layer.schedule;
    ensure!(
        u64::from(fade_in) + u64::from(fade_out) <= u64::from(length)
            && length <= LONGEST
            && (period == 0 || length <= period),
        "fades of {fade_in} and {fade_out} ticks in {length} of {period}; expected each to fit the next"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests;
    use crate::model::IDENTITY_ROWS;

    #[test]
    fn layers_that_cannot_be_are_refused_with_what_could() {
        let model = Arc::new(fixture_tests::chain());
        let plain = Layer::looping(&model, 0, 0, 1.0);
        let over = Layer {
            kind: LayerKind::Override,
            ..plain
        };
        let refused = |masks: &[Vec<f32>], layers: &[Layer]| {
            let instance = (IDENTITY_ROWS, layers.to_vec());
            Crowd::new()
                .push_masked_group(Arc::clone(&model), masks, [instance])
                .unwrap_err()
                .to_string()
        };
        let schedule = Schedule {
            length: 9,
            fade_in: 5,
            fade_out: 5,
            ..Schedule::ALWAYS
        };
        let late = Schedule {
            period: 8,
            length: 9,
            ..Schedule::ALWAYS
        };
        let short = vec![0.5; 3];
        let negative = vec![-0.5; 64];
        type Case<'a> = (&'a [Vec<f32>], Vec<Layer>, &'a str);
        let cases: [Case; 14] = [
            (&[], vec![], "0 layers; expected 1 to 8"),
            (&[], vec![plain; 9], "9 layers; expected 1 to 8"),
            (&[], vec![over], "expected merge layers first, one at least"),
            (
                &[],
                vec![plain, over, plain],
                "expected merge layers first, one at least",
            ),
            (
                &[],
                vec![
                    Layer {
                        weight: 0.0,
                        ..plain
                    };
                    2
                ],
                "weights of merge layers that sum to 0",
            ),
            (
                &[],
                vec![Layer {
                    weight: -1.0,
                    ..plain
                }],
                "layer 0 has the weight -1; expected 0 or more",
            ),
            (
                &[],
                vec![
                    plain,
                    Layer {
                        weight: 1.5,
                        ..over
                    },
                ],
                "layer 1 has the weight 1.5; expected 0 to 1",
            ),
            (
                &[],
                vec![Layer { clip: 7, ..plain }],
                "layer 0 has clip 7; the model has",
            ),
            (
                &[],
                vec![plain, Layer { mask: 0, ..over }],
                "layer 1 has mask 0; the group has 0",
            ),
            (
                &[],
                vec![plain, Layer { schedule, ..over }],
                "fades of 5 and 5 ticks in 9",
            ),
            (
                &[],
                vec![
                    plain,
                    Layer {
                        schedule: late,
                        ..over
                    },
                ],
                "in 9 of 8",
            ),
            (
                &[],
                vec![
                    plain,
                    Layer {
                        kind: LayerKind::Additive,
                        ..plain
                    },
                ],
                "an additive clip",
            ),
            (&[short], vec![plain], "3 weights; expected 64"),
            (&[negative], vec![plain], "the weight -0.5; expected 0 to 1"),
        ];
        for (masks, layers, expected) in cases {
            let error = refused(masks, &layers);
            assert!(error.contains(expected), "{error}\nnot {expected}");
        }
        let inertial = Layer {
            fade: Fade::Inertial,
            ..over
        };
        assert!(
            refused(&[], &[plain, inertial, inertial]).contains("more than one inertial layer")
        );
        assert!(
            refused(
                &[],
                &[Layer {
                    fade: Fade::Inertial,
                    ..plain
                }]
            )
            .contains("inertial fade on a merge layer")
        );
    }
}
