//! The stores: everything that instances share, structure-of-arrays, validated once and then immutable.
//!
//! A [`Model`] is one [`Skeleton`], its [`Clip`]s, its [`Skin`]s and one [`Mesh`] that concatenates the
//! vertices of every primitive. Nothing here knows a file format.

mod affine;
mod bounds;
mod clip;
mod error;
mod lists;
mod mesh;
mod parts;
mod repair;
mod shape;
mod skeleton;
mod skeleton_builder;
mod skin;
mod targets;

pub(crate) use affine::row_numbers;
pub use affine::{IDENTITY_ROWS, Rows, Similarity, affine_to_rows, rows_to_affine};
pub use bounds::Bounds;
pub use clip::compact;
pub use clip::{
    Channel, Clip, ClipKeys, Interpolation, Keys, RawKeys, RotationBlend, Track, WeightKeys, sphere,
};
pub(crate) use error::ensure;
pub use error::{ModelError, bounded, shortened};
pub use lists::Lists;
pub use mesh::{
    INFLUENCE_CLASSES, Influences, MAX_INFLUENCES, Mesh, Primitive, PrimitiveData, Subset,
    VertexOrigin, VertexRun, area_normals,
};
pub use parts::{Axes, Handedness, Image, Material, ModelParts, Texture, Wrap};
pub use repair::Repair;
pub use shape::Shape;
pub use skeleton::{Joint, JointTransform, MAX_JOINTS, NO_PARENT, Skeleton, Transform};
pub use skeleton_builder::{BuiltSkeleton, Frame, JointBuilder, SkeletonBuilder};
pub use skin::{Skin, SkinData};
pub use targets::{
    DeltaRun, MAX_TARGETS, PackedTargets, Target, TargetDeltas, TargetWeight, Targets, UNMOVED,
};

use crate::vertex::Cube;
use fieldwork::Fieldwork;
use glam::{DAffine3, DVec3, Vec3};

/// Skeleton, clips, skins and mesh: shared by all instances and immutable.
#[derive(Debug, Clone, Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Model {
    /// Display name.
    name: String,
    /// The file's axes.
    #[field(get(copy))]
    axes: Axes,
    /// Joints, parents first.
    skeleton: Skeleton,
    /// Skins as ranges of palette entries.
    skins: Vec<Skin>,
    /// Joint of each palette entry, all skins concatenated.
    palette_joints: Vec<u16>,
    /// Inverse bind matrix of each palette entry, all skins concatenated.
    inverse_binds: Vec<Rows>,
    /// Clips in file order.
    clips: Vec<Clip>,
    /// The concatenated vertex streams.
    mesh: Mesh,
    /// Materials; subsets name them by index.
    materials: Vec<Material>,
    /// Repairs made on import.
    repairs: Vec<Repair>,
    /// Box around the rest pose's skinned vertices, in model space.
    #[field(get(copy))]
    bounds: Bounds,
}

impl Model {
    /// Checks the parts against each other and concatenates the primitives.
    ///
    /// # Errors
    /// A joint, skin, material or vertex index out of range, a stream of the wrong length, a non-finite number,
    /// a negative weight, more than 65,535 palette entries, or no vertex at all.
    pub fn new(parts: ModelParts) -> Result<Self, ModelError> {
        let ModelParts {
            name,
            axes,
            skeleton,
            skins,
            clips,
            primitives,
            targets,
            mut materials,
            mut repairs,
        } = parts;
        if materials.is_empty() {
            materials.push(Material::default());
        }
        let mut ranges = Vec::with_capacity(skins.len());
        let mut palette_joints = Vec::new();
        let mut inverse_binds = Vec::new();
        for (index, skin) in skins.into_iter().enumerate() {
            let place = format!("skin {index} {:?}", skin.name);
            skin.check(skeleton.len())
                .map_err(|problem| ModelError::new(&place, problem))?;
            let first = palette_joints.len() as u32;
            palette_joints.extend(skin.joints);
            inverse_binds.extend(skin.inverse_binds);
            ensure(palette_joints.len() <= MAX_JOINTS, || {
                ModelError::new(
                    place,
                    format!("the skins hold more than {MAX_JOINTS} palette entries together"),
                )
            })?;
            ranges.push(Skin {
                name: skin.name,
                entries: first..palette_joints.len() as u32,
            });
        }
        let skins = ranges;
        for clip in &clips {
            check_clip(clip, &skeleton, targets.len())?;
        }
        let mut mesh = Mesh::new(primitives, targets, &skins, materials.len(), &mut repairs)?;
        let bounds = rest_bounds(
            &rest_palette(&skeleton, &palette_joints, &inverse_binds),
            &mesh,
        )
        .ok_or_else(|| ModelError::new("rest pose", "skinned vertices are not finite"))?;
        mesh.cube = Cube::around(bounds.min.to_array(), bounds.max.to_array());
        Ok(Self {
            name,
            axes,
            skeleton,
            skins,
            palette_joints,
            inverse_binds,
            clips,
            mesh,
            materials,
            repairs,
            bounds,
        })
    }

    /// Takes the model apart, to change some parts and build another one. Triangles that no subset draws are left out.
    pub fn into_parts(self) -> ModelParts {
        let skin = |skin: &Skin| {
            let entries = skin.entries.start as usize..skin.entries.end as usize;
            SkinData {
                name: skin.name.clone(),
                joints: self.palette_joints[entries.clone()].to_vec(),
                inverse_binds: self.inverse_binds[entries].to_vec(),
            }
        };
        ModelParts {
            skins: self.skins.iter().map(skin).collect(),
            primitives: self.mesh.to_primitives(&self.skins),
            targets: self.mesh.targets().list().to_vec(),
            name: self.name,
            axes: self.axes,
            skeleton: self.skeleton,
            clips: self.clips,
            materials: self.materials,
            repairs: self.repairs,
        }
    }

    /// The matrix of each palette entry at rest, from mesh to model space, in f64.
    pub fn rest_palette(&self) -> Vec<DAffine3> {
        rest_palette(&self.skeleton, &self.palette_joints, &self.inverse_binds)
    }
    /// The box around the vertices that each palette entry moves, in mesh space; `None` for an entry without vertices.
    pub fn entry_boxes(&self) -> Vec<Option<Bounds>> {
        let mut boxes: Vec<Option<Bounds>> = vec![None; self.palette_joints.len()];
        for (vertex, position) in self.mesh.positions().iter().enumerate() {
            let position = Vec3::from(*position);
            for (entry, _) in self
                .mesh
                .influences_of(vertex)
                .filter(|(_, weight)| *weight > 0.0)
            {
                let held = boxes[usize::from(entry)].get_or_insert(Bounds {
                    min: position,
                    max: position,
                });
                *held = Bounds {
                    min: held.min.min(position),
                    max: held.max.max(position),
                };
            }
        }
        boxes
    }
    /// For each joint whether some vertex follows it, or a joint below it.
    pub fn followed_joints(&self) -> Vec<bool> {
        let mut followed = vec![false; self.skeleton.len()];
        for (joint, boxed) in self.palette_joints.iter().zip(self.entry_boxes()) {
            followed[usize::from(*joint)] |= boxed.is_some();
        }
        for (joint, &parent) in self.skeleton.parents().iter().enumerate().rev() {
            if followed[joint] && parent != NO_PARENT {
                followed[usize::from(parent)] = true;
            }
        }
        followed
    }
    /// The same model with another cube for packed positions.
    pub(crate) fn with_cube(mut self, cube: Cube) -> Self {
        self.mesh.cube = cube;
        self
    }
    /// The same model with other clips for the same skeleton.
    pub fn with_clips(self, clips: Vec<Clip>) -> Self {
        Self { clips, ..self }
    }
    /// The same model with every clip [smoothed](Clip::smoothed).
    ///
    /// # Errors
    /// The errors of [`Clip::smoothed`].
    pub fn smoothed(self) -> Result<Self, ModelError> {
        let clips = self
            .clips
            .iter()
            .map(Clip::smoothed)
            .collect::<Result<_, _>>()?;
        Ok(self.with_clips(clips))
    }
    /// Adds a clip and returns its index.
    ///
    /// # Errors
    /// A track of a joint that the skeleton lacks, or of a target that the mesh lacks.
    pub fn add_clip(&mut self, clip: Clip) -> Result<u32, ModelError> {
        check_clip(&clip, &self.skeleton, self.mesh.targets().len())?;
        self.clips.push(clip);
        Ok(self.clips.len() as u32 - 1)
    }
    /// The same model with another interpolation of every clip's linear rotations (`dump --rotation`).
    pub fn with_rotation_blend(mut self, blend: RotationBlend) -> Self {
        for clip in &mut self.clips {
            clip.set_rotation_blend(blend);
        }
        self
    }
}

fn check_clip(clip: &Clip, skeleton: &Skeleton, targets: usize) -> Result<(), ModelError> {
    let refused =
        |problem: String| Err(ModelError::new(format!("clip {:?}", clip.name()), problem));
    if let Some(end) = clip
        .weights()
        .iter()
        .map(|track| track.targets.end)
        .find(|&end| end as usize > targets)
    {
        return refused(format!(
            "a track sets the weight of target {}; the model has {targets}",
            end - 1
        ));
    }
    match clip
        .keys()
        .joints()
        .find(|&joint| usize::from(joint) >= skeleton.len())
    {
        None => Ok(()),
        Some(joint) => refused(format!(
            "a track moves joint {joint}; the skeleton has {}",
            skeleton.len()
        )),
    }
}

fn rest_palette(skeleton: &Skeleton, joints: &[u16], inverse_binds: &[Rows]) -> Vec<DAffine3> {
    let pose = skeleton.rest_model_pose();
    joints
        .iter()
        .zip(inverse_binds)
        .map(|(&j, m)| pose[usize::from(j)] * rows_to_affine(m))
        .collect()
}

/// The box around the vertices at rest, if all of them are finite.
fn rest_bounds(palette: &[DAffine3], mesh: &Mesh) -> Option<Bounds> {
    let skinned = |vertex: usize| {
        let position = DVec3::from(mesh.positions()[vertex].map(f64::from));
        let moved = |(entry, weight): (u16, f32)| {
            f64::from(weight) * palette[usize::from(entry)].transform_point3(position)
        };
        mesh.influences_of(vertex)
            .map(moved)
            .sum::<DVec3>()
            .as_vec3()
    };
    let skinned: Vec<Vec3> = (0..mesh.vertex_count()).map(skinned).collect();
    let finite = skinned.iter().all(|position| position.is_finite());
    finite.then(|| Bounds::around(skinned))
}
