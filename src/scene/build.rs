//! Building of scenes: loads models, resolves clips and masks, places instances.

use super::camera::Camera;
use super::description::{ClipChoice, Clips, Economy, GroupDescription, Scene};
use super::error::{Place, SceneError};
use super::expression::ExpressionPlan;
use super::hash::SceneHash;
use super::layer::{self, Deriving, ResolvedClips, ResolvedLayer};
use super::model_source::ModelSource;
use super::placing::Stand;
use crate::compaction;
use crate::crowd::{Crowd, CrowdError, Expression, Layer, LayerKind, MAX_LAYERS, REST};
use crate::frame::View;
use crate::model::{Model, Rows, rows_to_affine};
use crate::vertex::Encoding;
use arrayvec::ArrayVec;
use bytesize::ByteSize;
use glam::{DVec2, Mat4};
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::sync::Arc;

/// A scene's crowd and view, ready to run.
#[derive(Debug)]
pub struct BuiltScene {
    /// Name of the scene, or of the model used as one.
    pub name: String,
    /// Hash of everything that determines the vertices or the picture; passes are not part of it.
    pub hash: u64,
    /// All instances. Groups of one model are one group of the crowd.
    pub crowd: Crowd,
    /// The model of each of the scene's groups.
    pub models: Vec<Arc<Model>>,
    /// Number of times that a frame draws the crowd.
    pub passes: u32,
    /// Width and height of the picture.
    pub resolution: [u32; 2],
    /// The camera.
    pub camera: Camera,
    /// Storage of clips.
    pub clips: Clips,
    /// `true` if an option replaced clips' straight lines with curves.
    pub smooth: bool,
    /// Active morph targets of each instance, if an option set their number.
    pub active_targets: Option<u32>,
    /// Reduction of posing.
    pub economy: Economy,
}

impl BuiltScene {
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
        let instances = self.instances();
        let most_layers = self.groups.iter().map(|g| 1 + g.layers.len()).max().unwrap_or(1);
        let bytes = instances.saturating_mul((size_of::<Rows>() + most_layers * size_of::<Layer>()) as u64);
        if bytes > memory || instances > u64::from(u32::MAX) {
            let problem = format!(
                "{instances} instances take {} before a vertex is skinned; expected at most {} and {} instances",
                ByteSize(bytes).display().si(),
                ByteSize(memory).display().si(),
                u32::MAX
            );
            return Err(SceneError::new(self.name.clone(), problem));
        }
        let mut hash = SceneHash::default();
        hash.number(self.seed);
        hash.number(self.resolution[0]);
        hash.number(self.resolution[1]);
        let Camera { orbit, elevation, distance, field_of_view } = self.camera;
        [orbit, elevation, distance, field_of_view].iter().for_each(|value| hash.float(*value));
        hash.bytes(self.format.attributes.name().as_bytes());
        hash.bytes(self.format.normals.name().as_bytes());
        if self.format.encoding != Encoding::F32 {
            hash.bytes(self.format.encoding.name().as_bytes());
        }

        let mut models: Vec<(&ModelSource, Deriving)> = Vec::new();
        let mut resolved = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let index = match models.iter().position(|(source, _)| *source == &group.model) {
                Some(index) => index,
                None => {
                    let model = group.model.load().map_err(|error| self.error(group.model_place, error))?;
                    models.push((&group.model, Deriving::new(model)));
                    models.len() - 1
                }
            };
            resolved.push((index, self.find(group, &mut models[index].1)?));
        }
        let stored = |model| match self.clips {
            Clips::Raw => Ok(model),
            Clips::Compact => compaction::compacted(model, compaction::ERROR),
        };
        let models = models.into_iter().map(|(_, deriving)| stored(deriving.model).map(Arc::new));
        let models: Vec<_> = models.collect::<Result<_, _>>().map_err(|error| self.error(None, error.to_string()))?;
        let mut loaded = Vec::with_capacity(self.groups.len());
        for (group, (model, resolved)) in self.groups.iter().zip(resolved) {
            let model = Arc::clone(&models[model]);
            let stand = Stand::new(&model, group.scale);
            let spacing = group.spacing.unwrap_or(1.25 * stand.footprint.max(0.1));
            hash.group(group, &model, &resolved);
            loaded.push(LoadedGroup { model, resolved, stand, spacing });
        }

        let mut crowd = Crowd::with_format(self.format);
        let across = loaded.iter().zip(&self.groups).map(|(s, g)| g.layout.half_width(g.count as u32, s.spacing));
        let middles = side_by_side(&across.collect::<Vec<_>>());
        // Groups of one model become neighbours in the crowd, so that one dispatch handles all of them.
        for first in 0..loaded.len() {
            let same = |other: usize| Arc::ptr_eq(&loaded[other].model, &loaded[first].model);
            if (0..first).any(same) {
                continue;
            }
            let alike: Vec<usize> = (first..loaded.len()).filter(|&other| same(other)).collect();
            let masks: Vec<_> = alike.iter().flat_map(|&index| loaded[index].resolved.masks.iter().cloned()).collect();
            let first_masks = alike.iter().scan(0, |next, &index| {
                let first = *next;
                *next += loaded[index].resolved.masks.len() as u32;
                Some(first)
            });
            let all = alike.iter().zip(first_masks).flat_map(|(&index, first_mask)| {
                instances_of(&self.groups[index], &loaded[index], first_mask, middles[index], self.seed, index)
            });
            crowd
                .push_masked_group(Arc::clone(&loaded[first].model), &masks, all)
                .map_err(|error| self.error(None, error.to_string()))?;
        }
        let crowd = self.expressed(crowd, &loaded)?;
        let crowd = self.economised(crowd).map_err(|error| self.error(None, error.to_string()))?;
        hash.economy(self.economy);
        hash.active_targets(self.active_targets);
        Ok(BuiltScene {
            name: self.name.clone(),
            hash: hash.finish(),
            crowd,
            models: loaded.into_iter().map(|group| group.model).collect(),
            passes: self.passes,
            resolution: self.resolution,
            camera: self.camera,
            clips: self.clips,
            smooth: self.smooth,
            active_targets: self.active_targets,
            economy: self.economy,
        })
    }

    /// Gives each instance the weights of the scene's keys.
    fn expressed(&self, crowd: Crowd, loaded: &[LoadedGroup]) -> Result<Crowd, SceneError> {
        if let Some(count) = self.active_targets.filter(|_| !crowd.has_targets()) {
            let problem = format!("{count} active morph targets requested; no model of the scene has targets");
            return Err(self.error(None, problem));
        }
        let plan = |group: usize| {
            let own = &self.groups[group].expression;
            let morphs = !loaded[group].model.mesh().targets().is_empty();
            ExpressionPlan { active: self.active_targets.filter(|_| morphs).or(own.active), ..own.clone() }
        };
        if (0..loaded.len()).all(|group| plan(group).is_empty()) {
            return Ok(crowd);
        }
        let mut expressions = Vec::with_capacity(crowd.instance_count());
        // In the order of the crowd: groups of one model are neighbours.
        let first =
            |group: usize| (0..=group).position(|other| Arc::ptr_eq(&loaded[other].model, &loaded[group].model));
        let mut order: Vec<usize> = (0..loaded.len()).collect();
        order.sort_by_key(|&group| first(group));
        for group in order {
            let plan = plan(group);
            let resolved = plan.resolve(&loaded[group].model, self.seed, group);
            let mut group_expressions = resolved.map_err(|problem| self.error(plan.place, problem))?;
            for _ in 0..self.groups[group].count {
                let Expression { pinned, alone } = group_expressions.next();
                expressions.push((pinned.to_vec(), alone));
            }
        }
        let expressions = expressions.iter().map(|(pinned, alone)| Expression { pinned, alone: *alone });
        crowd.with_expressions(expressions).map_err(|error| self.error(None, error.to_string()))
    }

    fn economised(&self, crowd: Crowd) -> Result<Crowd, CrowdError> {
        match self.economy {
            Economy::Plain => Ok(crowd),
            Economy::PhaseBuckets(buckets) => crowd.with_phase_buckets(buckets),
            Economy::UpdateRate([near, far]) => {
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

    /// Resolves the clips and masks of a group; derived clips are added to its model.
    fn find(&self, group: &GroupDescription, models: &mut Deriving) -> Result<ResolvedClips, SceneError> {
        let clip_error = |problem| self.error(group.clip_place, problem);
        let clips = clips(group, models).map_err(clip_error)?;
        let own = clips.into_iter().map(|clip| models.clip(clip, group.play.mode, LayerKind::Merge));
        let mut resolved = ResolvedClips {
            clips: own.collect::<Result<_, _>>().map_err(clip_error)?,
            layers: Vec::new(),
            masks: Vec::new(),
        };
        for layer in &group.layers {
            let clip = models
                .find(&layer.clip)
                .and_then(|clip| models.clip(clip, layer.play.mode, layer.kind))
                .map_err(|problem| self.error(Some(layer.clip_place), problem))?;
            resolved.layers.push(ResolvedLayer { clip, mask: resolved.masks.len() as u32 });
            if let Some(mask) = &layer.mask {
                resolved
                    .masks
                    .push(mask.resolve(&models.model).map_err(|problem| self.error(Some(mask.place), problem))?);
            }
        }
        Ok(resolved)
    }

    fn error(&self, place: Option<Place>, problem: String) -> SceneError {
        SceneError { place, ..SceneError::new(self.file.clone(), problem) }
    }
}

/// A group with its model loaded.
struct LoadedGroup {
    model: Arc<Model>,
    resolved: ResolvedClips,
    stand: Stand,
    spacing: f64,
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

/// The clips that a group's instances play.
fn clips(group: &GroupDescription, model: &Deriving) -> Result<Vec<u32>, String> {
    let count = model.own_clips().len() as u32;
    match &group.clip {
        _ if count == 0 && !matches!(group.clip, ClipChoice::Named(_)) => Ok(vec![REST]),
        ClipChoice::First => Ok(vec![0]),
        ClipChoice::All => Ok((0..count).collect()),
        ClipChoice::Named(name) => model.find(name).map(|clip| vec![clip]),
    }
}

/// Placement and layers of each instance of a group, with one stream of random numbers per group and per layer.
///
/// `first_mask` is the index of the group's first mask among all masks of its model.
fn instances_of(
    group: &GroupDescription,
    loaded: &LoadedGroup,
    first_mask: u32,
    middle: f64,
    seed: u64,
    stream: usize,
) -> impl Iterator<Item = (Rows, ArrayVec<Layer, MAX_LAYERS>)> {
    let mut random = Pcg32::new(seed, stream as u64);
    let mut layer_random = layer::streams(seed, stream, group.layers.len());
    let count = group.count as u32;
    (0..count).map(move |instance| {
        // Always three draws, so that changing one key does not affect the others' values.
        let [phase, speed, yaw] = [random.next_u32(), random.next_u32(), random.next_u32()];
        let either_way = |draw: u32| f64::from(draw) / 2f64.powi(31) - 1.0;
        let place = DVec2::new(middle, 0.0) + group.layout.place(instance, count, loaded.spacing);
        let yaw = group.yaw + group.yaw_spread * either_way(yaw);
        let resolved = &loaded.resolved;
        let clip = resolved.clips[instance as usize % resolved.clips.len()];
        let pace = 1.0 + group.speed_spread * either_way(speed);
        let yaw = yaw + group.layout.facing(instance, count);
        let own = layer::playing(&loaded.model, clip, &group.play, phase, group.speed * pace);
        let mut layers = ArrayVec::new();
        layers.push(Layer { weight: group.weight as f32, ..own });
        for ((plan, resolved), random) in group.layers.iter().zip(&resolved.layers).zip(&mut layer_random) {
            let resolved = ResolvedLayer { mask: first_mask + resolved.mask, ..*resolved };
            layers.push(plan.of_instance(&loaded.model, &resolved, &own, pace, random));
        }
        layer::fall_in_step(&loaded.model, &mut layers, group.speed * pace);
        (loaded.stand.placement(place, yaw.to_radians()), layers)
    })
}
