//! Importer of `.m3d`, the text format of Frank Luna's DirectX 12 book, chapter 23.
//!
//! Left-handed, Y up, row vectors. Vertices become one primitive; the subset table divides its triangles by material.

use crate::budget::Budget;
use crate::fault::{Fault, OffUnit};
use crate::tokenizer::{Scanner, Syntax};
use crate::{ImportError, matrices};
use glam::DAffine3;
use skinbench_kernels::model::{
    Axes, Channel, Clip, Handedness, Joint, JointTransform, Keys, Material, ModelParts, PrimitiveData, Repair,
    RotationBlend, Rows, Skeleton, SkinData, Subset, rows_to_affine,
};
use std::path::Path;

const SYNTAX: Syntax = Syntax { marks: "{}", comments: false };

/// A fourth weight below this is a rounding error of 1 - (w0 + w1 + w2).
const WEIGHT_ROUNDING: f32 = 1e-6;

pub(super) fn sniff(head: &[u8]) -> bool {
    crate::read_file::contains(head, "m3d-File-Header")
}

/// Reads a file.
pub(super) fn import(file: &Path) -> Result<ModelParts, ImportError> {
    let text = crate::read_file::read_text(file)?;
    let mut reader =
        Reader { scanner: Scanner::new(&text, SYNTAX), budget: Budget::new(text.len()), off_unit: OffUnit::default() };
    reader.read(crate::read_file::stem(file)).map_err(|fault| fault.in_file(file))
}

/// Counts in the file's header.
struct Counts {
    materials: u16,
    vertices: u32,
    triangles: u32,
    bones: u16,
    clips: u32,
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    budget: Budget,
    off_unit: OffUnit,
}

impl Reader<'_> {
    fn read(&mut self, name: String) -> Result<ModelParts, Fault> {
        let counts = self.header()?;
        let materials = self.materials(&counts)?;
        let subsets = self.subsets(&counts)?;
        let mut primitive = self.vertices(&counts)?;
        primitive.subsets = subsets;
        primitive.indices = self.triangles(&counts)?;
        let offsets = self.bone_offsets(&counts)?;
        let joints = self.hierarchy(&counts, &offsets)?;
        let (skeleton, joint_of) = Skeleton::new(joints)?;
        let clips = self.clips(&counts, &joint_of)?;
        self.scanner.end()?;
        let mut repairs: Vec<Repair> = Vec::new();
        std::mem::take(&mut self.off_unit).describe("rotation keys", &mut repairs);
        let skin = SkinData {
            name: String::new(),
            joints: joint_of,
            inverse_binds: offsets.iter().map(|(rows, _)| *rows).collect(),
        };
        let axes = Axes { handedness: Handedness::Left, up: 1 };
        let parts = ModelParts::new(name, skeleton, skin, vec![primitive]);
        Ok(ModelParts { axes, clips, materials, repairs, ..parts })
    }

    /// Expects a title between asterisks.
    fn title(&mut self, title: &str) -> Result<(), Fault> {
        let expected = format!("a line of asterisks around {title}");
        let token = self.scanner.token(&expected)?;
        let found = token.text.starts_with('*') && token.text.trim_matches('*') == title;
        if found { Ok(()) } else { Err(self.scanner.unexpected(token, &expected)) }
    }

    fn values<const N: usize>(&mut self, label: &str) -> Result<[f32; N], Fault> {
        self.scanner.expect(label)?;
        self.scanner.numbers(label)
    }

    fn header(&mut self) -> Result<Counts, Fault> {
        self.title("m3d-File-Header")?;
        Ok(Counts {
            materials: self.scanner.labelled("#Materials")?,
            vertices: self.scanner.labelled("#Vertices")?,
            triangles: self.scanner.labelled("#Triangles")?,
            bones: self.scanner.labelled("#Bones")?,
            clips: self.scanner.labelled("#AnimationClips")?,
        })
    }

    fn materials(&mut self, counts: &Counts) -> Result<Vec<Material>, Fault> {
        self.title("Materials")?;
        let mut materials = Vec::new();
        for _ in 0..counts.materials {
            self.scanner.expect("Name:")?;
            let name = self.scanner.token("a material's name")?.text.into();
            let [r, g, b] = self.values("Diffuse:")?;
            self.values::<3>("Fresnel0:")?;
            self.values::<1>("Roughness:")?;
            for label in ["AlphaClip:", "MaterialTypeName:", "DiffuseMap:", "NormalMap:"] {
                self.scanner.expect(label)?;
                self.scanner.token(label)?;
            }
            materials.push(Material { name, base_color: [r, g, b, 1.0], ..Material::default() });
        }
        Ok(materials)
    }

    fn subsets(&mut self, counts: &Counts) -> Result<Vec<Subset>, Fault> {
        self.title("SubsetTable")?;
        let mut subsets = Vec::new();
        for material in 0..counts.materials {
            let start = self.scanner.offset();
            for label in ["SubsetID:", "VertexStart:", "VertexCount:"] {
                self.scanner.labelled::<u32>(label)?;
            }
            let first: u32 = self.scanner.labelled("FaceStart:")?;
            let count: u32 = self.scanner.labelled("FaceCount:")?;
            let Some(end) = first.checked_add(count).filter(|end| *end <= counts.triangles) else {
                let expected = format!("expected them among the file's {} triangles", counts.triangles);
                return Err(self.scanner.fault_at(start, format!("{count} faces from {first}; {expected}")));
            };
            // The header's count is not verified until the triangles have been read.
            subsets.push(Subset { material, indices: first.saturating_mul(3)..end.saturating_mul(3) });
        }
        Ok(subsets)
    }

    fn vertices(&mut self, counts: &Counts) -> Result<PrimitiveData, Fault> {
        self.title("Vertices")?;
        let mut primitive = PrimitiveData::default();
        let (mut normals, mut tangents, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
        for vertex in 0..counts.vertices {
            primitive.positions.push(self.values("Position:")?);
            tangents.push(self.values("Tangent:")?);
            normals.push(self.values("Normal:")?);
            uvs.push(self.values("Tex-Coords:")?);
            self.scanner.expect("BlendWeights:")?;
            let mut weights = [0.0; 4];
            for weight in &mut weights {
                *weight = self.scanner.weight()?;
            }
            // The book's shader ignores the fourth weight and computes it.
            weights[3] = 1.0 - (weights[0] + weights[1] + weights[2]);
            if weights[3] < WEIGHT_ROUNDING {
                weights[3] = 0.0;
            }
            self.scanner.expect("BlendIndices:")?;
            let mut pairs = [(0, 0.0); 4];
            for (pair, weight) in pairs.iter_mut().zip(weights) {
                // Without a weight, an index may refer to any bone.
                let bones = if weight > 0.0 { counts.bones.into() } else { usize::MAX };
                *pair = (self.scanner.index("bone", bones)? as u16, weight);
            }
            self.budget.charge_vertices(1, 4, || format!("vertex {vertex}"))?;
            primitive.influences.push(pairs);
        }
        primitive.normals = Some(normals);
        primitive.tangents = Some(tangents);
        primitive.uvs = Some(uvs);
        primitive.dumped_vertices = counts.vertices;
        Ok(primitive)
    }

    fn triangles(&mut self, counts: &Counts) -> Result<Vec<u32>, Fault> {
        self.title("Triangles")?;
        let mut indices = Vec::new();
        for _ in 0..counts.triangles {
            for _ in 0..3 {
                indices.push(self.scanner.index("vertex", counts.vertices as usize)?);
            }
        }
        Ok(indices)
    }

    /// Reads inverse binds and computes their inverses.
    fn bone_offsets(&mut self, counts: &Counts) -> Result<Vec<(Rows, DAffine3)>, Fault> {
        self.title("BoneOffsets")?;
        let mut offsets = Vec::new();
        for bone in 0..counts.bones {
            let label = self.scanner.expect(&format!("BoneOffset{bone}"))?;
            let matrix = self.scanner.numbers("an offset matrix")?;
            let rows = matrices::rows(&matrix).map_err(|problem| self.scanner.fault(label, problem))?;
            let bind = matrices::inverse(&rows_to_affine(&rows)).ok_or_else(|| {
                self.scanner.fault(label, "an offset matrix without an inverse; expected an invertible one")
            })?;
            offsets.push((rows, bind));
        }
        Ok(offsets)
    }

    /// Bones at rest are in their bind pose: the file has no other rest pose.
    fn hierarchy(&mut self, counts: &Counts, offsets: &[(Rows, DAffine3)]) -> Result<Vec<Joint>, Fault> {
        self.title("BoneHierarchy")?;
        let mut joints = Vec::new();
        for (bone, (_, bind)) in offsets.iter().enumerate() {
            self.scanner.expect(&format!("ParentIndexOfBone{bone}:"))?;
            let start = self.scanner.offset();
            let parent: i64 = self.scanner.integer("a parent")?;
            let parent = usize::try_from(parent).ok();
            let to_parent = match (parent, parent.and_then(|p| offsets.get(p))) {
                (None, _) => *bind,
                (Some(_), Some((parent_offset, _))) => rows_to_affine(parent_offset) * *bind,
                (Some(parent), None) => {
                    let problem = format!("parent {parent} is out of range; there are {} bones", counts.bones);
                    return Err(self.scanner.fault_at(start, problem));
                }
            };
            let rest = JointTransform::Transform(matrices::decompose(&to_parent));
            joints.push(Joint { name: format!("Bone{bone}"), parent, rest });
        }
        Ok(joints)
    }

    fn clips(&mut self, counts: &Counts, joint_of: &[u16]) -> Result<Vec<Clip>, Fault> {
        self.title("AnimationClips")?;
        let mut clips = Vec::new();
        for _ in 0..counts.clips {
            self.scanner.expect("AnimationClip")?;
            let name = self.scanner.token("a clip's name")?;
            self.scanner.expect("{")?;
            let mut keys = Vec::new();
            for (bone, &joint) in joint_of.iter().enumerate() {
                self.scanner.expect(&format!("Bone{bone}"))?;
                keys.extend(self.bone_keys(joint)?);
            }
            self.scanner.expect("}")?;
            let clip = Clip::new(name.text, None, RotationBlend::Slerp, keys)
                .map_err(|error| self.scanner.fault(name, error.to_string()))?;
            clips.push(clip);
        }
        Ok(clips)
    }

    /// A bone's keys as tracks of translation, scale and rotation.
    fn bone_keys(&mut self, joint: u16) -> Result<Vec<Keys>, Fault> {
        let count: u32 = self.scanner.labelled("#Keyframes:")?;
        self.scanner.expect("{")?;
        let (mut times, mut translations, mut scales, mut rotations) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            self.scanner.expect("Time:")?;
            times.push(self.scanner.time(times.last().copied())?);
            translations.extend(self.values::<3>("Pos:")?);
            scales.extend(self.values::<3>("Scale:")?);
            self.scanner.expect("Quat:")?;
            rotations.extend(self.scanner.quaternion("a rotation", &mut self.off_unit)?);
        }
        self.scanner.expect("}")?;
        if times.is_empty() {
            return Ok(Vec::new());
        }
        let track = |channel, values| Keys::linear(joint, channel, times.clone(), values);
        Ok(vec![
            track(Channel::Translation, translations),
            track(Channel::Scale, scales),
            track(Channel::Rotation, rotations),
        ])
    }
}
