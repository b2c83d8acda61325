//! Building of scenes: loads models, resolves clips and masks, places instances.

use super::description::GroupDescription;
use super::error;
use super::expression::ExpressionPlan;
use super::layer::{self, ResolvedClips};
use super::lod;
use super::placing::Stand;
use super::resolved::{ResolvedScene, StoredModel};
use super::{Camera, Lod, MeshLevels, ModelSource, Scene, Settings, argument};
use crate::asset::Place;
use crate::crowd::{Crowd, Expression, Layer};
use crate::error::{DataError, written};
use crate::frame::View;
use crate::gameplay::Gameplay;
use crate::model::{Bounds, Channel, Clip, ClipKeys, Model, Rows, rows_to_affine};
use crate::reference::{clip_bounds, shown, with_fitting_cubes};
use crate::vertex::Encoding;
use crate::wording;
use bytesize::ByteSize;
use glam::{DVec2, Mat4};
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

/// Rounding over the diagonal, of f32 and of packed positions, beyond which a remark says so.
const CLOSE: f64 = 1e-5;
const CLOSE_PACKED: f64 = 7e-5;

/// A scene's crowd and view, ready to run.
#[derive(Debug)]
pub struct BuiltScene {
    /// Name of the scene, or of the model used as one.
    pub name: String,
    /// Hash of everything that determines the vertices or the picture; passes are not part of it.
    pub hash: u64,
    /// All instances. Groups of one model are one group of the crowd.
    pub crowd: Crowd,
    /// Number of models in groups that mix several, or would with another number; `None` without such a group.
    pub mixed_models: Option<u32>,
    /// Number of times that a frame draws the crowd.
    pub passes: u32,
    /// Width and height of the picture.
    pub resolution: [u32; 2],
    /// The camera.
    pub camera: Camera,
    /// What was chosen, in the scene's file and beside it.
    pub settings: Settings,
    /// Bounds and sockets that gameplay reads in every frame, if any.
    pub gameplay: Option<Arc<Gameplay>>,
    /// The levels of instances, if detail is dropped.
    pub levels: Option<MeshLevels>,
    /// Remarks about models that importers repaired, or that could not be reduced as asked for, one line each.
    pub remarks: Vec<String>,
}

impl BuiltScene {
    /// Distances at which depths are 0 and 1.
    pub fn depth_range(&self) -> [f32; 2] {
        self.camera.depth_range(&self.crowd, self.resolution)
    }

    /// Size of the largest instance on the screen: pixels of its model's diagonal.
    pub fn largest_pixels(&self) -> f64 {
        lod::sizes(&self.crowd, &self.camera, self.resolution).fold(0.0, f64::max)
    }

    /// World to clip space, depth 0 to 1.
    pub fn view_projection(&self) -> Mat4 {
        self.camera.view_projection(&self.crowd, self.resolution)
    }

    /// The picture of the scene.
    pub fn view(&self) -> View {
        let [width, height] = self.resolution;
        View {
            view_projection: self.view_projection(),
            light: glam::Vec3::new(0.45, 0.77, 0.45).normalize(),
            width,
            height,
            mode: Default::default(),
        }
    }
}

impl Scene {
    /// Loads the models and places every instance.
    ///
    /// `memory` is the number of available bytes; a crowd that does not fit is refused before it is allocated.
    ///
    /// # Errors
    /// A model that cannot be loaded, a clip that it lacks, or too many instances.
    pub fn build(&self, memory: u64) -> Result<BuiltScene, DataError> {
        let settings = &self.settings;
        settings
            .check()
            .map_err(|refused| self.refused(&refused.causes(), None, refused.of_key()))?;
        self.check_instances()?;
        self.check_memory(memory)?;
        let resolved = self.resolve()?;
        let mut remarks = self.notes(&resolved.models);
        let mut members = self.placed(&resolved);
        // Instances of one model become neighbours in the crowd, so that one dispatch handles all of them.
        members.sort_by_key(|member| member.index);
        let mut crowd = Crowd::with_format(settings.format());
        for same_model in members.chunk_by(|a, b| a.index == b.index) {
            let mut masks = Vec::new();
            let mut instances = Vec::new();
            for member in same_model {
                masks.extend_from_slice(&member.clips.masks);
                let layers = 1 + self.groups[member.group].layers.len();
                let placements = member.placements.iter().copied();
                instances.extend(placements.zip(member.layers.chunks(layers)));
            }
            let model = Arc::clone(&same_model[0].model);
            crowd
                .push_masked_group(model, &masks, instances)
                .map_err(|error| self.error(None, error))?;
        }
        let mut crowd = with_fitting_cubes(self.expressed(crowd, &members)?);
        let mut levels = None;
        if let Some(rule) = settings.lod.filter(|rule| *rule != Lod::None) {
            let leveled = lod::leveled(&crowd, rule, &self.camera, self.resolution)
                .map_err(|error| self.refused(&["lod"], None, error))?;
            crowd = leveled.crowd;
            levels = Some(leveled.levels);
            remarks.extend(leveled.remarks);
        }
        let crowd = self.reusing_poses(crowd)?;
        for group in crowd.first_of_models() {
            let name = group.model.name();
            shown(&crowd, group)
                .check()
                .map_err(|problem| self.error(None, format!("{name} {problem}")))?;
        }
        remarks.extend(coarse_positions(&crowd));
        Ok(BuiltScene {
            name: self.name.clone(),
            hash: resolved.hash(),
            mixed_models: self.mixed_models(),
            passes: self.passes(),
            resolution: self.resolution,
            camera: self.camera,
            settings: settings.clone(),
            gameplay: self.gameplay(&crowd)?,
            crowd,
            levels,
            remarks,
        })
    }

    /// Refuses fewer instances than the groups and their models need.
    fn check_instances(&self) -> Result<(), DataError> {
        let least = self.least_instances();
        match self.settings.instances {
            Some(asked) if asked < least => {
                let problem = format!(
                    "instances = {asked}; expected {least} or more, one for each group and model"
                );
                Err(self.refused(&["instances"], None, problem))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a crowd whose instances do not fit in so many bytes.
    fn check_memory(&self, memory: u64) -> Result<(), DataError> {
        let instances = self.instances();
        let layers = self.groups.iter().map(|group| 1 + group.layers.len());
        let instance_bytes = size_of::<Rows>() + layers.max().unwrap_or(1) * size_of::<Layer>();
        // Instances are drawn first and then sorted by model.
        let bytes = instances.saturating_mul(2 * instance_bytes as u64);
        if bytes <= memory && instances <= u64::from(u32::MAX) {
            return Ok(());
        }
        let problem = format!(
            "{instances} instances take {} before a vertex is skinned; expected at most {} and {} instances",
            ByteSize(bytes).display().si(),
            ByteSize(memory).display().si(),
            u32::MAX
        );
        let mut place = None;
        if self.settings.instances.is_none() {
            let largest = self.groups.iter().max_by_key(|group| group.count);
            place = largest.and_then(|group| group.model_place);
        }
        Err(self.refused(&["instances"], place, problem))
    }

    /// The notes about models.
    fn notes(&self, models: &[StoredModel]) -> Vec<String> {
        // A model file may be the whole scene. The name of an OgreXML scene has the first of its two endings.
        let scene = self.name.strip_suffix(".mesh").unwrap_or(&self.name);
        let mut remarks = Vec::new();
        for model in models {
            for note in model.stored.notes().lines() {
                remarks.push(if model.stored.name() == scene {
                    note
                } else {
                    format!("{}: {note}", model.stored.name())
                });
            }
        }
        remarks
    }

    /// Places the instances of all groups, which stand side by side along X around 0. Returns the models of all groups
    /// in the order of the groups.
    fn placed<'a>(&self, resolved: &'a ResolvedScene) -> Vec<Member<'a>> {
        let mut members = Vec::new();
        let mut spacings = Vec::with_capacity(self.groups.len());
        let mut half_widths = Vec::with_capacity(self.groups.len());
        for (group, resolved_group) in resolved.groups.iter().enumerate() {
            let description = &self.groups[group];
            let mut footprint: f64 = 0.1;
            for member in &resolved_group.members {
                let model = Arc::clone(&resolved.models[member.model].stored);
                let bounds = standing_bounds(&model, &member.clips.clips);
                let stand = Stand::new(&model, bounds, description.scale);
                footprint = footprint.max(stand.footprint);
                members.push(Member {
                    index: member.model,
                    group,
                    model,
                    clips: &member.clips,
                    stand,
                    placements: Vec::new(),
                    layers: Vec::new(),
                });
            }
            let spacing = description.spacing.unwrap_or(1.25 * footprint);
            let count = description.count as u32;
            half_widths.push(description.layout.half_width(count, spacing));
            spacings.push(spacing);
        }
        let mut edge = -half_widths.iter().sum::<f64>();
        for same_group in members.chunk_by_mut(|a, b| a.group == b.group) {
            let group = same_group[0].group;
            let middle = edge + half_widths[group];
            edge += 2.0 * half_widths[group];
            self.draw(same_group, middle, spacings[group]);
        }
        members
    }

    /// Places a group's instances and chooses their layers, with one stream of random numbers for the group and one for
    /// each layer.
    fn draw(&self, members: &mut [Member], middle: f64, spacing: f64) {
        let index = members[0].group;
        let group = &self.groups[index];
        let count = group.count as u32;
        let member_of = shuffled(count, members.len(), self.seed, index);
        let mut random = Pcg32::new(self.seed, index as u64);
        let mut layer_random = layer::streams(self.seed, index, group.layers.len());
        for (instance, member) in (0..count).zip(member_of) {
            let member = &mut members[member as usize];
            let clips = member.clips;
            // Always three draws, so that changing one key does not affect the others' values.
            let phase = random.next_u32();
            let pace = 1.0 + group.speed_spread * either_way(random.next_u32());
            let yaw = group.yaw
                + group.yaw_spread * either_way(random.next_u32())
                + group.layout.facing(instance, count);
            let speed = group.speed * pace;
            let clip = clips.clips[member.placements.len() % clips.clips.len()];
            let base = layer::playing(&member.model, clip, &group.play, phase, speed);
            let first = member.layers.len();
            member.layers.push(Layer {
                weight: group.weight as f32,
                ..base
            });
            for (index, plan) in group.layers.iter().enumerate() {
                let random = &mut layer_random[index];
                let layer =
                    plan.of_instance(&member.model, &clips.layers[index], &base, pace, random);
                member.layers.push(layer);
            }
            layer::fall_in_step(&member.model, &mut member.layers[first..], speed);
            let place = DVec2::new(middle, 0.0) + group.layout.place(instance, count, spacing);
            member
                .placements
                .push(member.stand.placement(place, yaw.to_radians()));
        }
    }

    /// Number of models in groups that mix several.
    fn mixed_models(&self) -> Option<u32> {
        let mixed = self.groups.iter().filter(|group| group.is_mixed());
        let models: HashSet<&ModelSource> = mixed.flat_map(GroupDescription::used_models).collect();
        (!models.is_empty()).then_some(models.len() as u32)
    }

    /// What gameplay reads of a crowd in every frame.
    fn gameplay(&self, crowd: &Crowd) -> Result<Option<Arc<Gameplay>>, DataError> {
        let Settings {
            bounds, sockets, ..
        } = &self.settings;
        for socket in sockets {
            for group in crowd.groups() {
                wording::position("joint", socket, group.model.skeleton().names()).map_err(
                    |problem| {
                        let model = group.model.name();
                        self.refused(
                            &["sockets"],
                            None,
                            format!("socket of {model:?}: {problem}"),
                        )
                    },
                )?;
            }
        }
        if !bounds && sockets.is_empty() {
            return Ok(None);
        }
        let gameplay = Gameplay::new(crowd, *bounds, sockets);
        gameplay
            .map(|gameplay| Some(Arc::new(gameplay)))
            .map_err(|error| self.error(None, error))
    }

    /// Gives each instance the weights of the scene's keys; `members` are in the order of the crowd.
    fn expressed(&self, crowd: Crowd, members: &[Member]) -> Result<Crowd, DataError> {
        let requested = self.settings.active_targets;
        if let Some(count) = requested
            && !crowd.has_targets()
        {
            let problem = format!(
                "{count} active morph targets, but no model of the scene has one; expected a model with morph targets, such as face"
            );
            return Err(self.refused(&["active_targets"], None, problem));
        }
        let mut plans = Vec::with_capacity(members.len());
        for member in members {
            let mut plan = self.groups[member.group].expression.clone();
            if !member.model.mesh().targets().is_empty() {
                plan.active = requested.or(plan.active);
            }
            plans.push(plan);
        }
        if plans.iter().all(ExpressionPlan::is_empty) {
            return Ok(crowd);
        }
        let mut weights = Vec::with_capacity(crowd.instance_count());
        for (index, member) in members.iter().enumerate() {
            let plan = &plans[index];
            // Each model of a group has a sequence of its own.
            let earlier = members[..index]
                .iter()
                .filter(|other| other.group == member.group)
                .count();
            let stream = member.group + earlier * self.groups.len();
            let count = member.placements.len();
            let pinned = plan
                .of_instances(&member.model, self.seed, stream, count)
                .map_err(|problem| self.caused(plan.place, problem))?;
            weights.push(pinned);
        }
        let mut expressions = Vec::with_capacity(crowd.instance_count());
        for (plan, weights) in plans.iter().zip(&weights) {
            expressions.extend(weights.iter().map(|pinned| Expression {
                pinned,
                alone: plan.active.is_some(),
            }));
        }
        crowd
            .with_expressions(expressions)
            .map_err(|error| self.error(None, error))
    }

    /// Poses that instances keep, or take at some ticks only, and instances that are replaced.
    fn reusing_poses(&self, mut crowd: Crowd) -> Result<Crowd, DataError> {
        let settings = &self.settings;
        if let Some(share) = settings.frozen
            && share > 0.0
        {
            crowd = crowd
                .with_frozen(share, self.seed)
                .map_err(|error| self.refused(&["frozen"], None, error))?;
        }
        if let Some(share) = settings.turnover
            && share > 0.0
        {
            return crowd
                .with_turnover(share, self.seed)
                .map_err(|error| self.refused(&["turnover"], None, error));
        }
        let Some([near, far]) = settings.update_rate else {
            return Ok(crowd);
        };
        let eye = self.camera.eye(&crowd, self.resolution).as_dvec3();
        let rated = crowd.with_update_rates(|placement| {
            let distance = rows_to_affine(placement).translation.distance(eye);
            if distance > far {
                4
            } else if distance > near {
                2
            } else {
                1
            }
        });
        rated.map_err(|error| self.refused(&["update_rate"], None, error))
    }

    /// The error for settings that together cause a problem: of the first that was given as an argument, and of a place
    /// in the file if none was.
    pub(super) fn refused(
        &self,
        settings: &[&str],
        place: Option<Place>,
        problem: impl Display,
    ) -> DataError {
        let given = self.beside.chosen();
        let is_given = |name: &&&str| given.iter().any(|chosen| chosen.setting.name == **name);
        match settings.iter().find(is_given) {
            Some(name) => {
                let cause = format!("{} for {}", argument(name), self.name);
                error::error(&cause, None, problem)
            }
            None => self.error(place, problem),
        }
    }

    /// The error for a problem whose place is the setting that causes it, or empty.
    pub(super) fn caused(&self, place: Option<Place>, error: DataError) -> DataError {
        self.refused(&[&error.place], place, error.problem)
    }

    pub(super) fn error(&self, place: Option<Place>, problem: impl Display) -> DataError {
        error::error(&self.file, place, problem)
    }
}

/// A model of a group, and the instances that show it.
struct Member<'a> {
    /// Index among all models of the scene.
    index: usize,
    /// Index of its group.
    group: usize,
    model: Arc<Model>,
    clips: &'a ResolvedClips,
    stand: Stand,
    placements: Vec<Rows>,
    /// `[instance][layer]`.
    layers: Vec<Layer>,
}

/// The box in which a model stands. Clips that scale joints may show it much larger or smaller than at rest.
fn standing_bounds(model: &Arc<Model>, clips: &[u32]) -> Bounds {
    let mut scaling = clips.to_vec();
    scaling.retain(|clip| model.clips().get(*clip as usize).is_some_and(scales_joints));
    if scaling.is_empty() {
        model.bounds()
    } else {
        clip_bounds(model, &scaling)
    }
}

fn scales_joints(clip: &Clip) -> bool {
    match clip.keys() {
        ClipKeys::Raw(raw) => raw.tracks().iter().any(|t| t.channel == Channel::Scale),
        ClipKeys::Compact(compact) => {
            compact.tracks.iter().any(|t| t.channel == Channel::Scale)
                || compact.still.iter().any(|t| t.channel == Channel::Scale)
        }
    }
}

/// One line for each model of which f32 or packed numbers cannot hold positions as closely as they hold others.
fn coarse_positions(crowd: &Crowd) -> Vec<String> {
    let mut remarks = Vec::new();
    for group in crowd.first_of_models() {
        let name = group.model.name();
        let shown = shown(crowd, group);
        let rounding = shown.relative_rounding();
        if rounding > CLOSE {
            remarks.push(format!(
                "{name} is up to {} from its origin, where f32 numbers may round positions by {rounding:.1e} of its \
                 diagonal of {}: backends may be off by as much, instead of {CLOSE:.0e}",
                written(shown.farthest as f32),
                written(shown.diagonal as f32)
            ));
        }
        if shown.sampling > CLOSE {
            let what = if shown.fading < shown.sampling {
                "turns along curves that pass so near to zero"
            } else {
                "fades inertially for so many ticks"
            };
            remarks.push(format!(
                "{name} {what} that f32 numbers may round rotations by {:.1e}: backends may be off by as much, instead of \
                 {CLOSE:.0e}",
                shown.sampling
            ));
        }
        if shown.turning > CLOSE {
            remarks.push(format!(
                "{name} has so long chains of joints that f32 numbers may round their poses by {:.1e}: backends \
                 may be off by as much, instead of {CLOSE:.0e}",
                shown.turning
            ));
        }
        let cube = group.model.mesh().cube();
        let packing = cube.rounding(shown.diagonal);
        if crowd.format().encoding == Encoding::Packed && packing > CLOSE_PACKED {
            remarks.push(format!(
                "{name} moves so far that the cube around its packed positions is {:.0} diagonals wide: they are off by \
                 up to {packing:.1e} of its diagonal; --output f32 holds them",
                2.0 * f64::from(cube.half) / shown.diagonal
            ));
        }
    }
    remarks
}

/// A number from -1 to 1 for a random number.
fn either_way(draw: u32) -> f64 {
    f64::from(draw) / 2f64.powi(31) - 1.0
}

/// The model of each of `count` instances: equally many of each, in a random order.
fn shuffled(count: u32, models: usize, seed: u64, stream: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count)
        .map(|instance| instance % models as u32)
        .collect();
    if models > 1 {
        // A stream that neither groups nor layers use.
        let mut random = Pcg32::new(seed, u64::MAX ^ stream as u64);
        for last in (1..order.len()).rev() {
            let other = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
            order.swap(last, other as usize);
        }
    }
    order
}
