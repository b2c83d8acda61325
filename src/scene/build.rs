//! Building of scenes: loads models, resolves clips and masks, places instances.

use super::description::GroupDescription;
use super::expression::ExpressionPlan;
use super::hash;
use super::layer::{self, ResolvedClips};
use super::lod::{self, LevelMaker};
use super::model_source::LoadedModels;
use super::placing::Stand;
use super::{Camera, Levels, ModelSource, Scene, SceneError, Settings};
use crate::asset::Place;
use crate::crowd::{Crowd, CrowdError, Expression, Layer};
use crate::frame::View;
use crate::frustum::Eye;
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
    /// The model of each of the scene's groups, the first of those that mix.
    pub models: Vec<Arc<Model>>,
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
    pub levels: Option<Levels>,
    /// Remarks about models that importers repaired, or that could not be reduced as asked for, one line each.
    pub remarks: Vec<String>,
}

impl BuiltScene {
    /// The eye by which levels of detail are chosen.
    pub fn eye(&self) -> Eye {
        // Levels change the boxes of models a little, but not the view.
        let crowd = self
            .levels
            .as_ref()
            .map_or(&self.crowd, |levels| &levels.full);
        self.camera.seen_from(crowd, self.resolution)
    }

    /// Every instance at every level of detail, for backends that choose levels on the device: a crowd of families.
    ///
    /// # Errors
    /// No levels, poses that are shared or not updated at every tick, or a model that cannot be reduced.
    pub fn choices(&self) -> Result<&Crowd, String> {
        let Some(levels) = &self.levels else {
            return Err("chooses levels of detail on the device; needs --lod".into());
        };
        if self.crowd.is_reduced() {
            return Err(
                "poses every instance; needs a run without --phase-buckets and --update-rate"
                    .into(),
            );
        }
        levels.choices()
    }

    /// Distances at which depths are 0 and 1.
    pub fn depth_range(&self) -> [f32; 2] {
        self.camera.depth_range(&self.crowd, self.resolution)
    }

    /// Size of the largest instance on the screen: pixels of its model's diagonal.
    pub fn largest_pixels(&self) -> f64 {
        lod::sizes(&self.crowd, self.eye()).fold(0.0, f64::max)
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
    pub fn build(&self, memory: u64) -> Result<BuiltScene, SceneError> {
        self.build_with(memory, &mut ModelSource::load_all)
    }

    /// As [`Scene::build`]; takes models from `load`, one for each source.
    pub(crate) fn build_with(
        &self,
        memory: u64,
        load: &mut dyn FnMut(&[&ModelSource]) -> LoadedModels,
    ) -> Result<BuiltScene, SceneError> {
        let settings = &self.settings;
        settings
            .check()
            .map_err(|(_, problem)| SceneError::new(self.name.clone(), problem))?;
        let instances = self.instances();
        let most_layers = self
            .groups
            .iter()
            .map(|g| 1 + g.layers.len())
            .max()
            .unwrap_or(1);
        // Instances are drawn first and then sorted by model.
        let bytes = instances
            .saturating_mul(2 * (size_of::<Rows>() + most_layers * size_of::<Layer>()) as u64);
        if bytes > memory || instances > u64::from(u32::MAX) {
            let [taken, most] = [bytes, memory].map(|bytes| ByteSize(bytes).display().si());
            let expected = format!("expected at most {most} and {} instances", u32::MAX);
            let problem = format!(
                "{instances} instances take {taken} before a vertex is skinned; {expected}"
            );
            let largest = self
                .groups
                .iter()
                .max_by_key(|group| group.count)
                .and_then(|group| group.model_place);
            return Err(match settings.instances {
                Some(_) => SceneError::new(self.name.clone(), problem),
                None => self.error(largest, problem),
            });
        }
        let resolved = self.resolve(load)?;
        let format = settings.format();
        let mut members = Vec::new();
        let mut first_models = Vec::with_capacity(self.groups.len());
        let mut spacings = Vec::with_capacity(self.groups.len());
        for (place, group) in resolved.groups.iter().enumerate() {
            let mut footprint: f64 = 0.1;
            for member in &group.members {
                let model = Arc::clone(&resolved.models[member.model].stored);
                let bounds = standing_bounds(&model, &member.clips.clips);
                let stand = Stand::new(&model, bounds, group.description.scale);
                footprint = footprint.max(stand.footprint);
                members.push(Member {
                    index: member.model,
                    group: place,
                    model,
                    clips: &member.clips,
                    stand,
                    placements: Vec::new(),
                    layers: Vec::new(),
                });
            }
            spacings.push(group.description.spacing.unwrap_or(1.25 * footprint));
            let first = group.members[0].model;
            first_models.push(Arc::clone(&resolved.models[first].stored));
        }

        let mut remarks = Vec::new();
        // A model file may be the whole scene. The name of an OgreXML scene has the first of its two endings.
        let own_name = self.name.strip_suffix(".mesh").unwrap_or(&self.name);
        for model in &resolved.models {
            for repair in model.raw.repairs() {
                remarks.push(if model.raw.name() == own_name {
                    repair.message.clone()
                } else {
                    format!("{}: {}", model.raw.name(), repair.message)
                });
            }
        }
        let mut crowd = Crowd::with_format(format);
        let across = self
            .groups
            .iter()
            .zip(&spacings)
            .map(|(g, spacing)| g.layout.half_width(g.count as u32, *spacing));
        let middles = side_by_side(&across.collect::<Vec<_>>());
        for (place, own) in members.chunk_by_mut(Member::beside).enumerate() {
            draw(
                own,
                &self.groups[place],
                middles[place],
                spacings[place],
                self.seed,
                place,
            );
        }
        // Instances of one model become neighbours in the crowd, so that one dispatch handles all of them.
        members.sort_by_key(|member| member.index);
        for showing in members.chunk_by(|a, b| a.index == b.index) {
            let masks: Vec<_> = showing
                .iter()
                .flat_map(|member| member.clips.masks.iter().cloned())
                .collect();
            let all = showing.iter().flat_map(|member| {
                let layers = member
                    .layers
                    .chunks(1 + self.groups[member.group].layers.len());
                member.placements.iter().copied().zip(layers)
            });
            let pushed = crowd.push_masked_group(Arc::clone(&showing[0].model), &masks, all);
            pushed.map_err(|error| self.error(None, error))?;
        }
        let crowd = with_fitting_cubes(self.expressed(crowd, &members)?);
        let mixed = self
            .groups
            .iter()
            .filter(|group| group.is_mixed())
            .flat_map(GroupDescription::used_models);
        let mixed_models = mixed.collect::<HashSet<_>>().len();
        let (crowd, levels) = match settings.lod.filter(|lod| !lod.is_none()) {
            None => (crowd, None),
            Some(lod) => {
                // Every model has a group, in the same order.
                let raw = resolved.models.iter().map(|model| Arc::clone(&model.raw));
                let maker = LevelMaker::new(raw.collect(), lod, settings.clips.unwrap_or_default());
                let made = lod::leveled(crowd, maker, &self.camera, self.resolution);
                let (crowd, levels, whole) = made.map_err(|error| self.error(None, error))?;
                remarks.extend(whole);
                (crowd, Some(levels))
            }
        };
        let crowd = self
            .reusing_poses(crowd)
            .map_err(|error| self.error(None, error))?;
        remarks.extend(coarse_positions(&crowd));
        for (socket, group) in settings
            .sockets
            .iter()
            .flat_map(|s| crowd.groups().iter().map(move |g| (s, g)))
        {
            let names: Vec<&str> = group
                .model
                .skeleton()
                .names()
                .iter()
                .map(String::as_str)
                .collect();
            if !names.contains(&socket.as_str()) {
                let problem = wording::unknown("joint", socket, &names);
                return Err(self.error(
                    None,
                    format!("socket of {:?}: {problem}", group.model.name()),
                ));
            }
        }
        let reads = settings.bounds || !settings.sockets.is_empty();
        let gameplay = reads.then(|| Gameplay::new(&crowd, settings.bounds, &settings.sockets));
        let gameplay = gameplay
            .transpose()
            .map_err(|error| self.error(None, error))?
            .map(Arc::new);
        Ok(BuiltScene {
            name: self.name.clone(),
            hash: hash::hash(&resolved),
            crowd,
            models: first_models,
            mixed_models: (mixed_models > 0).then_some(mixed_models as u32),
            passes: self.passes(),
            resolution: self.resolution,
            camera: self.camera,
            settings: settings.clone(),
            gameplay,
            levels,
            remarks,
        })
    }

    /// Gives each instance the weights of the scene's keys; `members` are in the order of the crowd.
    fn expressed(&self, crowd: Crowd, members: &[Member]) -> Result<Crowd, SceneError> {
        let requested = self.settings.active_targets;
        if let Some(count) = requested.filter(|_| !crowd.has_targets()) {
            let problem = format!(
                "{count} active morph targets requested; no model of the scene has targets"
            );
            return Err(self.error(None, problem));
        }
        let plan = |member: &Member| {
            let own = &self.groups[member.group].expression;
            let morphs = !member.model.mesh().targets().is_empty();
            ExpressionPlan {
                active: requested.filter(|_| morphs).or(own.active),
                ..own.clone()
            }
        };
        if members.iter().all(|member| plan(member).is_empty()) {
            return Ok(crowd);
        }
        let mut expressions = Vec::with_capacity(crowd.instance_count());
        for (index, member) in members.iter().enumerate() {
            let plan = plan(member);
            // Each model of a group has a sequence of its own.
            let earlier = members[..index]
                .iter()
                .filter(|other| other.group == member.group)
                .count();
            let stream = member.group + earlier * self.groups.len();
            let own = plan.of_instances(&member.model, self.seed, stream, member.placements.len());
            expressions.extend(own.map_err(|problem| self.error(plan.place, problem))?);
        }
        let expressions = expressions.iter().map(|(pinned, alone)| Expression {
            pinned,
            alone: *alone,
        });
        crowd
            .with_expressions(expressions)
            .map_err(|error| self.error(None, error))
    }

    /// Poses that instances share or keep, and instances that are replaced.
    fn reusing_poses(&self, crowd: Crowd) -> Result<Crowd, CrowdError> {
        let share = |share: Option<f64>| share.filter(|share| *share > 0.0);
        let crowd = match share(self.settings.frozen) {
            Some(share) => crowd.with_frozen(share, self.seed)?,
            None => crowd,
        };
        if let Some(share) = share(self.settings.turnover) {
            return crowd.with_turnover(share, self.seed);
        }
        match (self.settings.phase_buckets, self.settings.update_rate) {
            (None, None) => Ok(crowd),
            (Some(buckets), _) => crowd.with_phase_buckets(buckets),
            (None, Some([near, far])) => {
                let eye = self.camera.eye(&crowd, self.resolution).as_dvec3();
                crowd.with_update_rates(|placement| {
                    let distance = rows_to_affine(placement).translation.distance(eye);
                    match () {
                        _ if distance > far => 4,
                        _ if distance > near => 2,
                        _ => 1,
                    }
                })
            }
        }
    }

    pub(super) fn error(&self, place: Option<Place>, problem: impl Display) -> SceneError {
        SceneError {
            place,
            ..SceneError::new(self.file.clone(), problem.to_string())
        }
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

impl Member<'_> {
    fn beside(&self, other: &Self) -> bool {
        self.group == other.group
    }
}

/// Centres along X of groups with these half widths, in a row around 0.
fn side_by_side(half_widths: &[f64]) -> Vec<f64> {
    let mut edge = -half_widths.iter().sum::<f64>();
    let middle = |half: &f64| {
        let middle = edge + half;
        edge += 2.0 * half;
        middle
    };
    half_widths.iter().map(middle).collect()
}

/// The box in which a model stands. Clips that scale joints may show it much larger or smaller than at rest.
fn standing_bounds(model: &Arc<Model>, clips: &[u32]) -> Bounds {
    let scales = |clip: &&u32| {
        let keys = model.clips().get(**clip as usize).map(Clip::keys);
        keys.is_some_and(|keys| match keys {
            ClipKeys::Raw(raw) => raw.tracks().iter().any(|t| t.channel == Channel::Scale),
            ClipKeys::Compact(compact) => {
                let moving = compact.tracks.iter().map(|track| track.channel);
                let still = compact.still.iter().map(|track| track.channel);
                moving.chain(still).any(|channel| channel == Channel::Scale)
            }
        })
    };
    let scaling: Vec<u32> = clips.iter().filter(scales).copied().collect();
    match scaling[..] {
        [] => model.bounds(),
        _ => clip_bounds(model, &scaling),
    }
}

/// One line for each model of which f32 or packed numbers cannot hold positions as closely as they hold others.
fn coarse_positions(crowd: &Crowd) -> Vec<String> {
    let mut remarks = Vec::new();
    for group in crowd.first_of_models() {
        let (name, shown) = (group.model.name(), shown(crowd, group));
        let rounding = shown.relative_rounding();
        if rounding > CLOSE {
            remarks.push(format!(
                "{name} is up to {} from its origin, where f32 numbers may round positions by {rounding:.1e} of its \
                 diagonal of {}: that is the limit for backends, instead of {CLOSE:.0e}",
                shown.farthest as f32, shown.diagonal as f32
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

/// Places a group's instances and chooses their layers, with one stream of random numbers for the group and one for
/// each layer.
fn draw(
    members: &mut [Member],
    group: &GroupDescription,
    middle: f64,
    spacing: f64,
    seed: u64,
    stream: usize,
) {
    let count = group.count as u32;
    let member_of = shuffled(count, members.len(), seed, stream);
    let mut random = Pcg32::new(seed, stream as u64);
    let mut layer_random = layer::streams(seed, stream, group.layers.len());
    for (instance, member) in (0..count).zip(member_of) {
        let Member {
            model,
            clips,
            stand,
            placements,
            layers,
            ..
        } = &mut members[member as usize];
        // Always three draws, so that changing one key does not affect the others' values.
        let [phase, speed, yaw] = [random.next_u32(), random.next_u32(), random.next_u32()];
        let either_way = |draw: u32| f64::from(draw) / 2f64.powi(31) - 1.0;
        let place = DVec2::new(middle, 0.0) + group.layout.place(instance, count, spacing);
        let yaw = group.yaw + group.yaw_spread * either_way(yaw);
        let clip = clips.clips[placements.len() % clips.clips.len()];
        let pace = 1.0 + group.speed_spread * either_way(speed);
        let yaw = yaw + group.layout.facing(instance, count);
        let own = layer::playing(model, clip, &group.play, phase, group.speed * pace);
        let first = layers.len();
        layers.push(Layer {
            weight: group.weight as f32,
            ..own
        });
        for ((plan, found), random) in group
            .layers
            .iter()
            .zip(&clips.layers)
            .zip(&mut layer_random)
        {
            layers.push(plan.of_instance(model, found, &own, pace, random));
        }
        layer::fall_in_step(model, &mut layers[first..], group.speed * pace);
        placements.push(stand.placement(place, yaw.to_radians()));
    }
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
