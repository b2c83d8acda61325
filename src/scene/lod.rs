//! Levels of detail: instances that are small on the screen show a model with less detail.
//!
//! Cameras of scenes and the places of instances do not move, so every instance has one level for all ticks: choosing
//! it needs no hysteresis and keeps no state. A crowd with levels is a crowd whose groups are pairs of model and level,
//! and every backend runs, verifies and times it like any other crowd.

use super::camera::Camera;
use super::settings::{Clips, Lod};
use crate::asset::{adapt, joint_level};
use crate::bake;
use crate::crowd::Crowd;
use crate::frustum::Eye;
use crate::model::{Model, ModelError};
use crate::reference::{shown, with_fitting_cubes};
use rayon::prelude::*;
use std::error::Error;
use std::sync::{Arc, OnceLock};

/// Number of levels; level 0 is the full character.
pub const LEVELS: usize = 4;

/// Size on the screen below which an instance has level 1, 2 or 3: pixels of the diagonal of its model's bounding box.
pub const SIZES: [f64; LEVELS - 1] = [200.0, 100.0, 40.0];

/// Fraction of the triangles at levels 1, 2 and 3.
const TRIANGLES: [f64; LEVELS - 1] = [0.5, 0.25, 0.125];
/// Reach of the limbs that levels 1, 2 and 3 leave out, over the diagonal. At the size at which its level begins, a
/// limb of this reach has 4, 6 and 4 pixels.
const LIMBS: [f64; LEVELS - 1] = [0.02, 0.06, 0.1];
/// Most influences of a vertex at levels 1, 2 and 3.
const INFLUENCES: [usize; LEVELS - 1] = [4, 2, 1];

/// The levels of a crowd's instances.
#[derive(Debug)]
pub struct Levels {
    /// The same instances in full detail, in another order, posed individually at every tick.
    pub full: Crowd,
    /// For each instance of the scene's crowd its index in [`Levels::full`].
    pub original: Vec<u32>,
    /// For each instance of the scene's crowd its size on the screen: pixels of its full model's diagonal.
    pub pixels: Vec<f64>,
    /// Instances at each level.
    pub counts: [usize; LEVELS],
    /// Largest distance from the full character, once the harness has measured it: parts of the diagonal, and pixels.
    pub(crate) error: OnceLock<[f64; 2]>,
    maker: LevelMaker,
    choices: OnceLock<Result<Crowd, String>>,
}

impl Levels {
    /// Every instance at every level, as a crowd of families: for each model the groups of all its levels. Those that
    /// the scene's crowd does not show are made when this is asked for the first time.
    ///
    /// # Errors
    /// A model that cannot be reduced, or that cannot be put in a crowd.
    pub(super) fn choices(&self) -> Result<&Crowd, String> {
        let make = || -> Result<Crowd, Box<dyn Error>> {
            let instances: Vec<u32> = (0..self.full.instance_count() as u32).collect();
            let all = self
                .full
                .groups()
                .iter()
                .enumerate()
                .flat_map(|(group, own)| {
                    let own = &instances[own.instances.start as usize..own.instances.end as usize];
                    (0..LEVELS).map(move |level| (group, level, own))
                });
            let crowd = self.maker.crowd(&self.full, &all.collect::<Vec<_>>())?;
            Ok(crowd.with_families(&SIZES.map(|size| size as f32))?)
        };
        self.choices
            .get_or_init(|| make().map_err(|error| error.to_string()))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The index among [`BuiltScene::choices`](super::BuiltScene::choices) of each instance of the scene's crowd, at
    /// the level that the scene shows.
    pub fn chosen(&self) -> impl Iterator<Item = u32> {
        self.original
            .iter()
            .zip(&self.pixels)
            .map(|(&instance, &pixels)| {
                let group = &self.full.groups()[self.full.group_of(instance)];
                let (before, levels) = (group.instances.start, LEVELS as u32);
                before * levels + level(pixels) as u32 * group.len() as u32 + (instance - before)
            })
    }
}

/// A group of the full crowd, a level, and the instances that show it.
type Placed<'a> = (usize, usize, &'a [u32]);

/// A model at one level.
#[derive(Debug)]
struct LevelModel {
    model: Arc<Model>,
    /// For each joint the index in the full model, if joints were left out.
    joints: Option<Vec<u16>>,
    /// `true` if the mesh could not be simplified.
    whole: bool,
}

/// Chooses the level of each instance by its size on the screen. Returns the crowd with levels, and remarks about
/// models that were kept whole.
///
/// # Errors
/// A model that cannot be reduced, or that cannot be put in a crowd.
pub(super) fn leveled(
    full: Crowd,
    maker: LevelMaker,
    camera: &Camera,
    resolution: [u32; 2],
) -> Result<(Crowd, Levels, Vec<String>), Box<dyn Error>> {
    let eye = camera.seen_from(&full, resolution);
    let sizes: Vec<f64> = sizes(&full, eye).collect();
    let place = |instance: u32| (full.group_of(instance), level(sizes[instance as usize]));
    let mut original: Vec<u32> = (0..sizes.len() as u32).collect();
    original.sort_by_cached_key(|&instance| place(instance));
    let mut placed: Vec<Placed> = Vec::new();
    let mut counts = [0; LEVELS];
    for instances in original.chunk_by(|&a, &b| place(a) == place(b)) {
        let (group, level) = place(instances[0]);
        counts[level] += instances.len();
        placed.push((group, level, instances));
    }
    let mut crowd = maker.crowd(&full, &placed)?;
    let remarks = remarks(&placed, &maker, &full, &crowd);
    if full.has_targets() {
        // Levels keep all targets, so that an instance keeps its expression.
        crowd =
            crowd.with_expressions(original.iter().map(|&instance| full.expression(instance)))?;
    }
    let pixels = original
        .iter()
        .map(|&instance| sizes[instance as usize])
        .collect();
    let (error, choices) = (OnceLock::new(), OnceLock::new());
    let levels = Levels {
        full,
        original,
        pixels,
        counts,
        error,
        maker,
        choices,
    };
    Ok((crowd, levels, remarks))
}

/// Makes the models of levels, each of them once.
#[derive(Debug)]
pub(super) struct LevelMaker {
    /// The model of each of the full crowd's groups, with raw clips.
    models: Vec<Arc<Model>>,
    lod: Lod,
    clips: Clips,
    /// `[group][level]`.
    made: Vec<[OnceLock<Result<LevelModel, ModelError>>; LEVELS]>,
}

impl LevelMaker {
    /// `models` are those of the full crowd's groups, with raw clips.
    pub fn new(models: Vec<Arc<Model>>, lod: Lod, clips: Clips) -> Self {
        Self {
            made: models.iter().map(|_| Default::default()).collect(),
            models,
            lod,
            clips,
        }
    }

    /// The crowd of some instances, each at a level. Lets backends bake the vertices of the last level if that is asked
    /// for and the instances play what can be baked.
    fn crowd(&self, full: &Crowd, placed: &[Placed]) -> Result<Crowd, Box<dyn Error>> {
        placed
            .par_iter()
            .for_each(|&(group, level, _)| drop(self.model(full, group, level)));
        let mut crowd = Crowd::with_format(full.format());
        for &(group, level, instances) in placed {
            let LevelModel { model, joints, .. } = self.model(full, group, level)?;
            let group = &full.groups()[group];
            let masks =
                group
                    .masks()
                    .chunks(group.model.skeleton().len())
                    .map(|mask| match joints {
                        Some(kept) => kept.iter().map(|&joint| mask[usize::from(joint)]).collect(),
                        None => mask.to_vec(),
                    });
            let own = instances.iter().map(|&instance| instance as usize);
            let own = own.map(|instance| (full.placements()[instance], full.layers().of(instance)));
            crowd.push_masked_group(Arc::clone(model), &masks.collect::<Vec<_>>(), own)?;
            let asked = level == LEVELS - 1 && self.lod.vertices;
            if asked
                && crowd
                    .groups()
                    .last()
                    .is_some_and(|group| bake::blends(&crowd, group))
            {
                crowd.bake_last_group();
            }
        }
        Ok(with_fitting_cubes(crowd))
    }

    /// The model of a group of the full crowd at a level.
    fn model(&self, full: &Crowd, group: usize, level: usize) -> Result<&LevelModel, ModelError> {
        self.made[group][level]
            .get_or_init(|| self.make(full, group, level))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn make(&self, full: &Crowd, group: usize, level: usize) -> Result<LevelModel, ModelError> {
        let Some(reduction) = level.checked_sub(1) else {
            return Ok(LevelModel {
                model: Arc::clone(&full.groups()[group].model),
                joints: None,
                whole: false,
            });
        };
        let model = &self.models[group];
        let mut reduced = Model::clone(model);
        let (mut joints, mut whole) = (None, false);
        if self.lod.mesh {
            match simplified(model, TRIANGLES[reduction])? {
                Some(simpler) => reduced = simpler,
                None => whole = true,
            }
        }
        if self.lod.joints
            && let Some(fewer) = joint_level::without_small_limbs(&reduced, LIMBS[reduction])?
        {
            (reduced, joints) = (fewer.model, Some(fewer.kept));
        }
        if self.lod.influences && reduced.mesh().max_influences() as usize > INFLUENCES[reduction] {
            reduced = adapt::with_influences(reduced, INFLUENCES[reduction])?;
        }
        Ok(LevelModel {
            model: self.clips.stored(Arc::new(reduced))?,
            joints,
            whole,
        })
    }
}

/// One line per level at which meshes were kept whole, and one for models that are posed at the last level although
/// vertices were to be baked.
fn remarks(placed: &[Placed], maker: &LevelMaker, full: &Crowd, crowd: &Crowd) -> Vec<String> {
    let remark = |names: &[&str], what: String| match names {
        [] => None,
        [only] => Some(format!("{only} keeps {what}")),
        [first, others @ ..] => Some(format!("{first} and {} more keep {what}", others.len())),
    };
    let of = |level: usize| {
        placed
            .iter()
            .zip(crowd.groups())
            .filter(move |(own, _)| own.1 == level)
    };
    let of_level = |level: usize| {
        let whole = of(level)
            .filter(|(own, _)| maker.model(full, own.0, level).is_ok_and(|made| made.whole));
        let names: Vec<&str> = whole.map(|(_, group)| group.model.name()).collect();
        remark(
            &names,
            format!("the whole mesh at level {level}: too few vertices inside seams and borders"),
        )
    };
    let posed = of(LEVELS - 1).filter(|(_, group)| maker.lod.vertices && !group.baked);
    let posed: Vec<&str> = posed.map(|(_, group)| group.model.name()).collect();
    let unbaked = "masks, additive layers, inertial fades and morph targets are not baked";
    let poses = format!("its poses at level {}: {unbaked}", LEVELS - 1);
    (1..LEVELS)
        .filter_map(of_level)
        .chain(remark(&posed, poses))
        .collect()
}

/// Size of each instance on the screen: pixels of its model's diagonal.
pub(super) fn sizes(crowd: &Crowd, eye: Eye) -> impl Iterator<Item = f64> {
    crowd
        .placements()
        .iter()
        .zip(0..)
        .map(move |(placement, instance)| {
            let group = &crowd.groups()[crowd.group_of(instance)];
            eye.pixels(shown(crowd, group).bounds, placement)
        })
}

/// The level for a size on the screen.
fn level(size: f64) -> usize {
    SIZES.iter().filter(|least| size < **least).count()
}

#[cfg(feature = "resample")]
fn simplified(model: &Model, fraction: f64) -> Result<Option<Model>, ModelError> {
    crate::asset::mesh_level::simplified(model, fraction)
}

#[cfg(not(feature = "resample"))]
fn simplified(_: &Model, _: f64) -> Result<Option<Model>, ModelError> {
    Err(ModelError::new(
        "mesh levels",
        "this build lacks the feature `resample`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_instances_have_less_detail() {
        assert_eq!(
            [f64::INFINITY, 200.0, 199.0, 100.0, 99.0, 40.0, 39.0, 0.0].map(level),
            [0, 0, 1, 1, 2, 2, 3, 3]
        );
    }

    /// A model whose triangles share no vertex.
    #[cfg(feature = "resample")]
    fn shreds() -> Model {
        use crate::model::{PrimitiveData, Subset};
        let mut parts = crate::asset::walker::walker(500).unwrap().into_parts();
        let primitive = &mut parts.primitives[0];
        let corners: Vec<u32> = primitive.indices[..60].to_vec();
        *primitive = PrimitiveData {
            indices: (0..60).collect(),
            ..primitive.with_vertices(&corners)
        };
        primitive.subsets = vec![Subset {
            material: 0,
            indices: 0..60,
        }];
        // Each corner at a place of its own.
        primitive
            .positions
            .iter_mut()
            .zip(0u8..)
            .for_each(|(position, at)| position[0] += f32::from(at));
        Model::new(parts).unwrap()
    }

    #[cfg(feature = "resample")]
    #[test]
    fn a_mesh_that_cannot_be_simplified_is_kept_and_named() {
        use crate::crowd::Layer;
        use crate::model::IDENTITY_ROWS;
        let model = Arc::new(shreds());
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::clone(&model), [(IDENTITY_ROWS, [Layer::held(0, 0.0)])])
            .unwrap();
        let camera = Camera {
            orbit: 0.0,
            elevation: 0.0,
            distance: 1.0,
            field_of_view: 40.0,
        };
        let lod = Lod {
            mesh: true,
            ..Lod::default()
        };
        let maker = LevelMaker::new(vec![model], lod, Clips::Raw);
        let (crowd, levels, remarks) = leveled(crowd, maker, &camera, [8, 8]).unwrap();
        assert_eq!(levels.counts, [0, 0, 0, 1]);
        assert_eq!(crowd.vertex_count(), 60);
        assert_eq!(remarks.len(), 1);
        assert!(
            remarks[0].starts_with("walker keeps the whole mesh at level 3: "),
            "{:?}",
            remarks
        );
    }
}
