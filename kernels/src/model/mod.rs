//! The stores: everything that instances share, structure-of-arrays, validated once and then immutable.
//!
//! A [`Model`] is one [`Skeleton`], its [`Clip`]s, its [`Skin`]s and one [`Mesh`] that concatenates the
//! vertices of every primitive. Nothing here knows a file format.

mod affine;
mod bounds;
mod clip;
mod lists;
mod mesh;
mod notes;
mod parts;
mod shape;
mod skeleton;
mod skeleton_builder;
mod skin;
mod targets;

pub(crate) use affine::affine_to_f64_rows;
pub use affine::{
    EVEN, IDENTITY_ROWS, Rows, Similarity, affine_to_rows, columns_to_rows, is_uneven,
    rows_to_affine,
};
pub use bounds::Bounds;
pub use clip::compact;
pub use clip::{
    Channel, Clip, ClipKeys, Interpolation, Keys, LATEST_KEY, RawKeys, RotationBlend, Track,
    WeightKeys, sphere,
};
pub use lists::Lists;
pub use mesh::{
    INFLUENCE_CLASSES, Influences, MAX_INFLUENCES, Mesh, Primitive, PrimitiveData, Subset,
    VertexOrigin, VertexRun, area_normals,
};
pub use notes::Notes;
pub use parts::{Axes, Handedness, Image, Material, ModelParts, Pixels, Texture, Wrap};
pub use shape::Shape;
pub use skeleton::{Joint, JointTransform, MAX_JOINTS, NO_PARENT, Skeleton, Transform};
pub use skeleton_builder::{Frame, JointBuilder, SkeletonBuilder};
pub use skin::{Skin, SkinData};
pub use targets::{DeltaRun, MAX_TARGETS, Target, TargetDeltas, TargetWeight, Targets, UNMOVED};

use crate::error::{DataError, first_too_large};
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
    /// Joint of each palette entry, all skins concatenated; those of a skin are in the order in which vertices of its file refer to
    /// them.
    palette_joints: Vec<u16>,
    /// Inverse bind matrix of each palette entry, all skins concatenated.
    inverse_binds: Vec<Rows>,
    /// Clips in file order.
    clips: Vec<Clip>,
    /// The concatenated vertex streams.
    mesh: Mesh,
    /// Materials; subsets name them by index.
    materials: Vec<Material>,
    /// What the model lacks or has otherwise than its file.
    notes: Notes,
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
    pub fn new(parts: ModelParts) -> Result<Self, DataError> {
        let ModelParts {
            name,
            axes,
            skeleton,
            skins,
            clips,
            primitives,
            targets,
            mut materials,
            mut notes,
        } = parts;
        if materials.is_empty() {
            materials.push(Material::default());
        }
        let mut palette_joints = Vec::new();
        let mut inverse_binds = Vec::new();
        let mut stored_skins = Vec::with_capacity(skins.len());
        for (index, skin) in skins.into_iter().enumerate() {
            let place = format!("skin {index} {:?}", skin.name);
            skin.check(skeleton.len())
                .map_err(|problem| DataError::new(&place, problem))?;
            let first = palette_joints.len() as u32;
            palette_joints.extend(skin.joints);
            inverse_binds.extend(skin.inverse_binds);
            if palette_joints.len() > MAX_JOINTS {
                return Err(DataError::new(
                    place,
                    format!("the skins hold more than {MAX_JOINTS} palette entries together"),
                ));
            }
            stored_skins.push(Skin {
                name: skin.name,
                entries: first..palette_joints.len() as u32,
            });
        }
        let skins = stored_skins;
        for clip in &clips {
            check_clip(clip, &skeleton, targets.len())?;
        }
        let mut mesh = Mesh::new(primitives, targets, &skins, materials.len(), &mut notes)?;
        let rest_palette = rest_palette(&skeleton, &palette_joints, &inverse_binds);
        let bounds = rest_bounds(&rest_palette, &mesh)?;
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
            notes,
            bounds,
        })
    }

    /// Takes the model apart, to change some parts and build another one. Triangles that no subset draws are left out.
    pub fn into_parts(self) -> ModelParts {
        let mut skins = Vec::with_capacity(self.skins.len());
        for skin in &self.skins {
            let entries = skin.entries.start as usize..skin.entries.end as usize;
            skins.push(SkinData {
                name: skin.name.clone(),
                joints: self.palette_joints[entries.clone()].to_vec(),
                inverse_binds: self.inverse_binds[entries].to_vec(),
            });
        }
        ModelParts {
            skins,
            primitives: self.mesh.to_primitives(&self.skins),
            targets: self.mesh.targets().list().to_vec(),
            name: self.name,
            axes: self.axes,
            skeleton: self.skeleton,
            clips: self.clips,
            materials: self.materials,
            notes: self.notes,
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
            for entry in self.mesh.entries_of(vertex) {
                boxes[entry]
                    .get_or_insert(Bounds::at(position))
                    .include(position);
            }
        }
        boxes
    }
    /// For each joint whether some vertex follows it, or a joint below it.
    pub fn followed_joints(&self) -> Vec<bool> {
        let mut followed = vec![false; self.skeleton.len()];
        for vertex in 0..self.mesh.vertex_count() {
            for entry in self.mesh.entries_of(vertex) {
                followed[usize::from(self.palette_joints[entry])] = true;
            }
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
    pub fn smoothed(self) -> Result<Self, DataError> {
        let clips: Result<_, _> = self.clips.iter().map(Clip::smoothed).collect();
        Ok(self.with_clips(clips?))
    }
    /// Adds a clip and returns its index.
    ///
    /// # Errors
    /// A track of a joint that the skeleton lacks, or of a target that the mesh lacks.
    pub fn add_clip(&mut self, clip: Clip) -> Result<u32, DataError> {
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

fn check_clip(clip: &Clip, skeleton: &Skeleton, targets: usize) -> Result<(), DataError> {
    let place = format!("clip {:?}", clip.name());
    for track in clip.weights() {
        let end = track.targets.end;
        if end as usize > targets {
            let target = end - 1;
            return Err(DataError::new(
                place,
                format!("a track sets the weight of target {target}; the model has {targets}"),
            ));
        }
    }
    let joints = skeleton.len();
    for joint in clip.keys().joints() {
        if usize::from(joint) >= joints {
            return Err(DataError::new(
                place,
                format!("a track moves joint {joint}; the skeleton has {joints}"),
            ));
        }
    }
    Ok(())
}

fn rest_palette(skeleton: &Skeleton, joints: &[u16], inverse_binds: &[Rows]) -> Vec<DAffine3> {
    let pose = skeleton.rest_model_pose();
    let mut palette = Vec::with_capacity(joints.len());
    for (joint, inverse_bind) in joints.iter().zip(inverse_binds) {
        palette.push(pose[usize::from(*joint)] * rows_to_affine(inverse_bind));
    }
    palette
}

/// The box around the vertices at rest, which must be finite.
fn rest_bounds(palette: &[DAffine3], mesh: &Mesh) -> Result<Bounds, DataError> {
    let mut skinned = Vec::with_capacity(mesh.vertex_count());
    for (vertex, position) in mesh.positions().iter().enumerate() {
        let position = Vec3::from(*position).as_dvec3();
        let mut sum = DVec3::ZERO;
        for (entry, weight) in mesh.influences_of(vertex) {
            sum += f64::from(weight) * palette[usize::from(entry)].transform_point3(position);
        }
        let sum = sum.as_vec3();
        if let Some(found) = first_too_large(&[sum.to_array()]) {
            let problem = format!("vertex {vertex} is at {found}");
            return Err(DataError::new("rest pose", problem));
        }
        skinned.push(sum);
    }
    Ok(Bounds::around(skinned))
}
