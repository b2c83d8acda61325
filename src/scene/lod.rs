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
use crate::error::DataError;
use crate::frustum::Eye;
use crate::model::Model;
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
        self.choices
            .get_or_init(|| self.every_level().map_err(|error| error.to_string()))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn every_level(&self) -> Result<Crowd, Box<dyn Error>> {
        let instances: Vec<u32> = (0..self.full.instance_count() as u32).collect();
        let mut placed = Vec::new();
        for (group, full) in self.full.groups().iter().enumerate() {
            let instances = &instances[full.instances.start as usize..full.instances.end as usize];
            placed.extend((0..LEVELS).map(|level| Placed {
                group,
                level,
                instances,
            }));
        }
        let crowd = self.maker.crowd(&self.full, &placed)?;
        Ok(crowd.with_families(&SIZES.map(|size| size as f32))?)
    }

    /// The index among [`BuiltScene::choices`](super::BuiltScene::choices) of each instance of the scene's crowd, at
    /// the level that the scene shows.
    pub fn chosen(&self) -> impl Iterator<Item = u32> {
        (0..self.original.len()).map(|index| {
            let instance = self.original[index];
            let group = &self.full.groups()[self.full.group_of(instance)];
            let first = group.instances.start;
            let level = level(self.pixels[index]) as u32;
            first * LEVELS as u32 + level * group.len() as u32 + (instance - first)
        })
    }
}

/// Instances of a group of the full crowd that show one level.
struct Placed<'a> {
    group: usize,
    level: usize,
    instances: &'a [u32],
}

/// A crowd with levels.
pub struct Leveled {
    pub crowd: Crowd,
    pub levels: Levels,
    /// One line for each model that was kept whole.
    pub remarks: Vec<String>,
}

/// A model at one level.
#[derive(Debug)]
struct LevelModel {
    model: Arc<Model>,
    /// For each joint the index in the full model, if joints were left out.
    joints: Option<Vec<u16>>,
    /// `true` if the mesh could not be simplified.
    whole: bool,
}

/// Chooses the level of each instance by its size on the screen.
///
/// # Errors
/// A model that cannot be reduced, or that cannot be put in a crowd.
pub fn leveled(
    full: Crowd,
    maker: LevelMaker,
    camera: &Camera,
    resolution: [u32; 2],
) -> Result<Leveled, Box<dyn Error>> {
    let sizes: Vec<f64> = sizes(&full, camera.seen_from(&full, resolution)).collect();
    let level_of = |instance: u32| level(sizes[instance as usize]);
    let key = |instance: u32| (full.group_of(instance), level_of(instance));
    let mut original: Vec<u32> = (0..sizes.len() as u32).collect();
    original.sort_by_cached_key(|&instance| key(instance));
    let mut placed = Vec::new();
    let mut counts = [0; LEVELS];
    for instances in original.chunk_by(|&a, &b| key(a) == key(b)) {
        let level = level_of(instances[0]);
        counts[level] += instances.len();
        placed.push(Placed {
            group: full.group_of(instances[0]),
            level,
            instances,
        });
    }
    let mut crowd = maker.crowd(&full, &placed)?;
    let remarks = remarks(&placed, &maker, &full, &crowd);
    if full.has_targets() {
        // Levels keep all targets, so that an instance keeps its expression.
        let expressions = original.iter().map(|&instance| full.expression(instance));
        crowd = crowd.with_expressions(expressions)?;
    }
    let pixels = original.iter().map(|&instance| sizes[instance as usize]);
    let levels = Levels {
        pixels: pixels.collect(),
        full,
        original,
        counts,
        error: OnceLock::new(),
        maker,
        choices: OnceLock::new(),
    };
    Ok(Leveled {
        crowd,
        levels,
        remarks,
    })
}

/// Makes the models of levels, each of them once.
#[derive(Debug)]
pub struct LevelMaker {
    /// The model of each of the full crowd's groups, with raw clips.
    models: Vec<Arc<Model>>,
    lod: Lod,
    clips: Clips,
    /// `[group][level]`.
    reduced: Vec<[OnceLock<Result<LevelModel, DataError>>; LEVELS]>,
}

impl LevelMaker {
    /// `models` are those of the full crowd's groups, with raw clips.
    pub fn new(models: Vec<Arc<Model>>, lod: Lod, clips: Clips) -> Self {
        Self {
            reduced: models.iter().map(|_| Default::default()).collect(),
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
            .for_each(|placed| drop(self.model(full, placed.group, placed.level)));
        let mut crowd = Crowd::with_format(full.format());
        for placed in placed {
            let LevelModel { model, joints, .. } = self.model(full, placed.group, placed.level)?;
            let group = &full.groups()[placed.group];
            let mut masks = Vec::new();
            for mask in group.masks().chunks(group.model.skeleton().len()) {
                masks.push(match joints {
                    Some(kept) => kept.iter().map(|&joint| mask[usize::from(joint)]).collect(),
                    None => mask.to_vec(),
                });
            }
            let instances = placed.instances.iter().map(|&instance| {
                let instance = instance as usize;
                (full.placements()[instance], full.layers().of(instance))
            });
            crowd.push_masked_group(Arc::clone(model), &masks, instances)?;
            if self.lod.vertices
                && placed.level == LEVELS - 1
                && let Some(group) = crowd.groups().last()
                && bake::blends(&crowd, group)
            {
                crowd.bake_last_group();
            }
        }
        Ok(with_fitting_cubes(crowd))
    }

    /// The model of a group of the full crowd at a level.
    fn model(&self, full: &Crowd, group: usize, level: usize) -> Result<&LevelModel, DataError> {
        self.reduced[group][level]
            .get_or_init(|| {
                let reduced = self.reduce(full, group, level);
                reduced.map_err(|error| error.within(self.models[group].name()))
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    fn reduce(&self, full: &Crowd, group: usize, level: usize) -> Result<LevelModel, DataError> {
        let Some(reduction) = level.checked_sub(1) else {
            return Ok(LevelModel {
                model: Arc::clone(&full.groups()[group].model),
                joints: None,
                whole: false,
            });
        };
        let model = &self.models[group];
        let mut reduced = Model::clone(model);
        let mut joints = None;
        let mut whole = false;
        if self.lod.mesh {
            match simplified(model, TRIANGLES[reduction])? {
                Some(simpler) => reduced = simpler,
                None => whole = true,
            }
        }
        if self.lod.joints
            && let Some(fewer) = joint_level::without_small_limbs(&reduced, LIMBS[reduction])?
        {
            reduced = fewer.model;
            joints = Some(fewer.kept);
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
    let mut remarks = Vec::new();
    for level in 1..LEVELS {
        let mut whole = Vec::new();
        for (placed, group) in placed.iter().zip(crowd.groups()) {
            let model = maker.model(full, placed.group, placed.level);
            if placed.level == level && model.is_ok_and(|model| model.whole) {
                whole.push(group.model.name());
            }
        }
        let mesh =
            format!("the whole mesh at level {level}: too few vertices inside seams and borders");
        remarks.extend(keeping(&whole, mesh));
    }
    let mut posed = Vec::new();
    for (placed, group) in placed.iter().zip(crowd.groups()) {
        if placed.level == LEVELS - 1 && maker.lod.vertices && !group.baked {
            posed.push(group.model.name());
        }
    }
    let unbaked = "masks, additive layers, inertial fades and morph targets are not baked";
    let poses = format!("its poses at level {}: {unbaked}", LEVELS - 1);
    remarks.extend(keeping(&posed, poses));
    remarks
}

/// One line about models that keep something; none without such a model.
fn keeping(models: &[&str], what: String) -> Option<String> {
    match models {
        [] => None,
        [only] => Some(format!("{only} keeps {what}")),
        [first, others @ ..] => Some(format!("{first} and {} more keep {what}", others.len())),
    }
}

/// Size of each instance on the screen: pixels of its model's diagonal.
pub fn sizes(crowd: &Crowd, eye: Eye) -> impl Iterator<Item = f64> {
    (0..crowd.instance_count() as u32).map(move |instance| {
        let group = &crowd.groups()[crowd.group_of(instance)];
        let placement = &crowd.placements()[instance as usize];
        eye.pixels(shown(crowd, group).bounds, placement)
    })
}

/// The level for a size on the screen.
fn level(size: f64) -> usize {
    SIZES.iter().filter(|least| size < **least).count()
}

#[cfg(feature = "resample")]
fn simplified(model: &Model, fraction: f64) -> Result<Option<Model>, DataError> {
    crate::asset::mesh_level::simplified(model, fraction)
}

#[cfg(not(feature = "resample"))]
fn simplified(_: &Model, _: f64) -> Result<Option<Model>, DataError> {
    Err(DataError::new(
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
        let mut parts = crate::characters::walker(500).unwrap().into_parts();
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
        let leveled = leveled(crowd, maker, &camera, [8, 8]).unwrap();
        assert_eq!(leveled.levels.counts, [0, 0, 0, 1]);
        assert_eq!(leveled.crowd.vertex_count(), 60);
        let [remark] = &leveled.remarks[..] else {
            panic!("{:?}", leveled.remarks);
        };
        assert!(
            remark.starts_with("walker keeps the whole mesh at level 3: "),
            "{remark}"
        );
    }
}
