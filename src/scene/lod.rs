//! Levels of detail: instances that are small on the screen show a mesh with fewer triangles.
//!
//! Cameras of scenes and the places of instances do not move, so every instance has one level for all ticks: choosing
//! it needs no hysteresis and keeps no state. A level is a model, and the instances that show it are a group: every
//! backend runs, verifies and times them like any other.

use super::camera::Camera;
use crate::crowd::Crowd;
use crate::error::DataError;
use crate::model::{Bounds, Model, rows_to_affine};
use crate::reference::{shown, with_fitting_cubes};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::Arc;

/// A rule by which instances drop detail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Lod {
    /// All instances show the full character.
    #[default]
    None,
    /// Triangles: a half below 200 pixels, a quarter below 100, an eighth below 40.
    Mesh,
}

/// A level of detail below the full character.
struct Level {
    /// Size on the screen below which an instance shows it: pixels of the diagonal of its model's bounding box.
    below: f64,
    /// Fraction of the full character's triangles.
    triangles: f64,
}

impl Lod {
    /// The levels below the full character, each with a smaller size than the one before.
    fn levels(self) -> &'static [Level] {
        match self {
            Self::None => &[],
            Self::Mesh => &[
                Level {
                    below: 200.0,
                    triangles: 0.5,
                },
                Level {
                    below: 100.0,
                    triangles: 0.25,
                },
                Level {
                    below: 40.0,
                    triangles: 0.125,
                },
            ],
        }
    }

    /// The level for a size on the screen; 0 is the full character.
    fn level(self, size: f64) -> usize {
        self.levels()
            .iter()
            .filter(|level| size < level.below)
            .count()
    }
}

/// The levels of a crowd's instances.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshLevels {
    /// Instances at each level; level 0 is the full character.
    pub counts: Vec<usize>,
    /// Largest error of their meshes at rest, by meshoptimizer's metric, over the diagonal of the full character.
    pub error: f64,
    /// The same in pixels, each instance at its distance from the camera.
    pub error_px: f64,
}

/// A crowd with levels.
pub struct Leveled {
    pub crowd: Crowd,
    pub levels: MeshLevels,
    /// One line for each level at which meshes were kept whole.
    pub remarks: Vec<String>,
}

/// Instances of a group of the full crowd that show one level.
struct Placed<'a> {
    group: usize,
    level: usize,
    instances: &'a [u32],
}

/// A model at one level.
struct LevelModel {
    model: Arc<Model>,
    /// Largest error of its mesh, in the model's unit of length; `None` if the mesh could not be simplified.
    error: Option<f64>,
}

/// Chooses the level of each instance by a rule and its size on the screen.
///
/// # Errors
/// A mesh that cannot be simplified, or a model that cannot be put in a crowd.
pub fn leveled(
    full: &Crowd,
    rule: Lod,
    camera: &Camera,
    resolution: [u32; 2],
) -> Result<Leveled, Box<dyn Error>> {
    let sizes: Vec<f64> = sizes(full, camera, resolution).collect();
    let key = |instance: u32| {
        (
            full.group_of(instance),
            rule.level(sizes[instance as usize]),
        )
    };
    let mut original: Vec<u32> = (0..sizes.len() as u32).collect();
    original.sort_by_cached_key(|&instance| key(instance));
    let mut placed = Vec::new();
    for instances in original.chunk_by(|&a, &b| key(a) == key(b)) {
        let (group, level) = key(instances[0]);
        placed.push(Placed {
            group,
            level,
            instances,
        });
    }
    let models = placed
        .par_iter()
        .map(|placed| level_model(&full.groups()[placed.group].model, rule, placed.level))
        .collect::<Result<Vec<LevelModel>, DataError>>()?;
    let mut levels = MeshLevels {
        counts: vec![0; 1 + rule.levels().len()],
        error: 0.0,
        error_px: 0.0,
    };
    let mut crowd = Crowd::with_format(full.format());
    for (placed, LevelModel { model, error }) in placed.iter().zip(&models) {
        let group = &full.groups()[placed.group];
        let joints = model.skeleton().len();
        let masks: Vec<Vec<f32>> = group.masks().chunks(joints).map(<[f32]>::to_vec).collect();
        let instances = placed.instances.iter().map(|&instance| {
            let instance = instance as usize;
            (full.placements()[instance], full.layers().of(instance))
        });
        crowd.push_masked_group(Arc::clone(model), &masks, instances)?;
        levels.counts[placed.level] += placed.instances.len();
        let relative = error.unwrap_or(0.0) / shown(full, group).diagonal;
        levels.error = levels.error.max(relative);
        for &instance in placed.instances {
            levels.error_px = levels.error_px.max(relative * sizes[instance as usize]);
        }
    }
    let mut crowd = with_fitting_cubes(crowd);
    if full.has_targets() {
        // Levels keep all targets, so that an instance keeps its expression.
        let expressions = original.iter().map(|&instance| full.expression(instance));
        crowd = crowd.with_expressions(expressions)?;
    }
    Ok(Leveled {
        remarks: remarks(rule, &placed, &models),
        crowd,
        levels,
    })
}

fn level_model(full: &Arc<Model>, rule: Lod, level: usize) -> Result<LevelModel, DataError> {
    let Some(below) = level.checked_sub(1) else {
        return Ok(LevelModel {
            model: Arc::clone(full),
            error: Some(0.0),
        });
    };
    simplified(full, rule.levels()[below].triangles).map_err(|error| error.within(full.name()))
}

fn simplified(full: &Arc<Model>, fraction: f64) -> Result<LevelModel, DataError> {
    Ok(
        match crate::asset::mesh_level::simplified(full, fraction)? {
            Some(simplified) => LevelModel {
                model: Arc::new(simplified.model),
                error: Some(simplified.error),
            },
            None => LevelModel {
                model: Arc::clone(full),
                error: None,
            },
        },
    )
}

/// One line for each level at which meshes were kept whole.
fn remarks(rule: Lod, placed: &[Placed], models: &[LevelModel]) -> Vec<String> {
    let mut remarks = Vec::new();
    for level in 1..=rule.levels().len() {
        let mut whole = Vec::new();
        for (placed, LevelModel { model, error }) in placed.iter().zip(models) {
            if placed.level == level && error.is_none() {
                whole.push(model.name());
            }
        }
        let who = match whole[..] {
            [] => continue,
            [only] => format!("{only} keeps"),
            [first, ..] => format!("{first} and {} more keep", whole.len() - 1),
        };
        remarks.push(format!(
            "{who} the whole mesh at level {level}: too few vertices inside seams and borders"
        ));
    }
    remarks
}

/// Size of each instance on the screen: pixels of its model's diagonal; without a limit around the camera.
pub fn sizes(crowd: &Crowd, camera: &Camera, resolution: [u32; 2]) -> impl Iterator<Item = f64> {
    let eye = camera.eye(crowd, resolution).as_dvec3();
    let scale = f64::from(camera.pixels_of_metre(resolution));
    (0..crowd.instance_count() as u32).map(move |instance| {
        let group = &crowd.groups()[crowd.group_of(instance)];
        let placement = rows_to_affine(&crowd.placements()[instance as usize]);
        let Bounds { min, max } = shown(crowd, group).bounds;
        let middle = placement.transform_point3((0.5 * (min + max)).as_dvec3());
        let diagonal = placement.transform_vector3((max - min).as_dvec3()).length();
        scale * diagonal / eye.distance(middle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_instances_have_less_detail() {
        assert_eq!(
            [f64::INFINITY, 200.0, 199.0, 100.0, 99.0, 40.0, 39.0, 0.0]
                .map(|size| Lod::Mesh.level(size)),
            [0, 0, 1, 1, 2, 2, 3, 3]
        );
    }

    /// A model whose triangles share no vertex.
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

    #[test]
    fn a_mesh_that_cannot_be_simplified_is_kept_and_named() {
        use crate::crowd::Layer;
        use crate::model::IDENTITY_ROWS;
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::new(shreds()), [(IDENTITY_ROWS, [Layer::held(0, 0.0)])])
            .unwrap();
        let camera = Camera {
            orbit: 0.0,
            elevation: 0.0,
            distance: 1.0,
            field_of_view: 40.0,
        };
        let leveled = leveled(&crowd, Lod::Mesh, &camera, [8, 8]).unwrap();
        assert_eq!(leveled.levels.counts, [0, 0, 0, 1]);
        assert_eq!(leveled.levels.error, 0.0);
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
