//! A small character, a stalk with a leaf, and writers of it in every format that is text.
//!
//! Its numbers are in a right-handed space with Y up. Formats of other axes get it turned or mirrored, so that it
//! stands upright in all of them.
#![allow(dead_code, reason = "each test binary uses a part")]
use glam::{DAffine3, DQuat, DVec3};
use std::fmt::Write;

pub const FRAMES_PER_SECOND: usize = 25;
/// Frames from key to key.
const STEP: usize = 4;

pub struct Joint {
    pub name: &'static str,
    pub parent: Option<usize>,
    pub offset: DVec3,
    pub orientation: DQuat,
}

pub struct Vertex {
    pub position: DVec3,
    pub normal: DVec3,
    pub uv: [f64; 2],
    /// Joint and weight.
    pub influences: Vec<(usize, f64)>,
}

pub struct Clip {
    pub name: &'static str,
    pub frames: usize,
    /// Rotations beyond the orientation, one each [`STEP`] frames, by joint; the first again at the end.
    keys: Vec<Vec<DQuat>>,
}

impl Clip {
    /// Between keys on the shorter arc.
    fn rotation(&self, joint: usize, frame: usize) -> DQuat {
        let keys = &self.keys[joint];
        let (key, rest) = (frame / STEP, frame % STEP);
        let next = keys[(key + 1).min(keys.len() - 1)];
        slerp(keys[key], next, rest as f64 / STEP as f64)
    }
}

/// Vertices up to `leaf` are the stalk's; so are quads up to `leaf_quads`. The leaf has a material of its own.
pub struct Sprout {
    pub joints: Vec<Joint>,
    pub vertices: Vec<Vertex>,
    pub leaf: usize,
    pub quads: Vec<[usize; 4]>,
    pub leaf_quads: usize,
    pub clips: Vec<Clip>,
}

pub const MATERIALS: [(&str, [f64; 3]); 2] =
    [("stalk", [0.3, 0.6, 0.2]), ("leaf", [0.8, 0.7, 0.1])];

/// Not std's, whose last digit differs from machine to machine.
fn turn(axis: DVec3, angle: f64) -> DQuat {
    let axis = axis.normalize() * libm::sin(angle / 2.0);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(angle / 2.0))
}

fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let angle = libm::acos(a.dot(b).clamp(-1.0, 1.0));
    if angle < 1e-9 {
        return a;
    }
    (a * libm::sin((1.0 - t) * angle) + b * libm::sin(t * angle)) / libm::sin(angle)
}

impl Sprout {
    pub fn new() -> Self {
        let joint = |name, parent, offset, orientation| Joint {
            name,
            parent,
            offset,
            orientation,
        };
        let joints = vec![
            joint("root", None, DVec3::ZERO, DQuat::IDENTITY),
            joint(
                "stalk",
                Some(0),
                DVec3::new(0.0, 1.0, 0.0),
                turn(DVec3::Y, 0.6),
            ),
            joint(
                "tip",
                Some(1),
                DVec3::new(0.0, 1.0, 0.0),
                turn(DVec3::X, 0.3),
            ),
            joint(
                "leaf",
                Some(1),
                DVec3::new(0.2, 0.25, 0.0),
                turn(DVec3::Z, -1.1),
            ),
        ];
        let mut sprout = Self {
            joints,
            vertices: vec![],
            leaf: 0,
            quads: vec![],
            leaf_quads: 0,
            clips: vec![],
        };
        sprout.tube(DAffine3::IDENTITY, 12, 8, 3.0, |y| 0.25 - 0.05 * y, &|y| {
            let upper = ((y - 0.75) * 2.0).clamp(0.0, 1.0);
            let top = ((y - 1.75) * 2.0).clamp(0.0, 1.0);
            vec![(0, 1.0 - upper), (1, upper - top), (2, top)]
        });
        (sprout.leaf, sprout.leaf_quads) = (sprout.vertices.len(), sprout.quads.len());
        let leaf = sprout.pose(|_| DQuat::IDENTITY)[3];
        sprout.tube(leaf, 4, 4, 0.9, |y| 0.02 + 0.3 * y * (0.9 - y), &|y| {
            let held = (0.25 + 2.5 * y).min(1.0);
            vec![(1, 1.0 - held), (3, held)]
        });
        sprout.clips = vec![
            sprout.clip("sway", 32, |joint, phase| match joint {
                1 => turn(DVec3::Z, 0.25 * libm::sin(phase)),
                2 => turn(DVec3::new(1.0, 0.0, 0.5), 0.3 * libm::cos(phase)),
                3 => turn(DVec3::X, 0.2 * libm::sin(2.0 * phase)),
                _ => DQuat::IDENTITY,
            }),
            sprout.clip("nod", 16, |joint, phase| match joint {
                0 => turn(DVec3::Y, 0.1 * libm::sin(phase)),
                2 => turn(DVec3::X, 0.2 - 0.2 * libm::cos(phase)),
                _ => DQuat::IDENTITY,
            }),
        ];
        sprout
    }

    fn clip(
        &self,
        name: &'static str,
        frames: usize,
        rotation: impl Fn(usize, f64) -> DQuat,
    ) -> Clip {
        let keys = frames / STEP;
        let phase = |key: usize| std::f64::consts::TAU * (key % keys) as f64 / keys as f64;
        let track = |joint| (0..=keys).map(|key| rotation(joint, phase(key))).collect();
        Clip {
            name,
            frames,
            keys: (0..self.joints.len()).map(track).collect(),
        }
    }

    /// Rings around y.
    fn tube(
        &mut self,
        place: DAffine3,
        rings: usize,
        sides: usize,
        length: f64,
        radius: impl Fn(f64) -> f64,
        influences: &dyn Fn(f64) -> Vec<(usize, f64)>,
    ) {
        let first = self.vertices.len();
        for ring in 0..rings {
            let y = length * ring as f64 / (rings - 1) as f64;
            for side in 0..sides {
                let angle = std::f64::consts::TAU * side as f64 / sides as f64;
                let (x, z) = (libm::cos(angle), libm::sin(angle));
                // Three decimals, so that weights sum to one in text.
                let weights = influences(y)
                    .into_iter()
                    .map(|(joint, w)| (joint, (w * 1000.0).round() / 1000.0));
                self.vertices.push(Vertex {
                    position: place.transform_point3(DVec3::new(radius(y) * x, y, radius(y) * z)),
                    normal: place.transform_vector3(DVec3::new(x, 0.0, z)),
                    uv: [side as f64 / sides as f64, y / length],
                    influences: weights.filter(|(_, w)| *w > 0.0).collect(),
                });
                if ring > 0 {
                    let at = |ring: usize, side: usize| first + ring * sides + side % sides;
                    self.quads.push([
                        at(ring - 1, side),
                        at(ring, side),
                        at(ring, side + 1),
                        at(ring - 1, side + 1),
                    ]);
                }
            }
        }
    }

    fn pose(&self, rotation: impl Fn(usize) -> DQuat) -> Vec<DAffine3> {
        let mut pose: Vec<DAffine3> = Vec::new();
        for (index, joint) in self.joints.iter().enumerate() {
            let local = DAffine3::from_rotation_translation(
                joint.orientation * rotation(index),
                joint.offset,
            );
            pose.push(joint.parent.map_or(local, |parent| pose[parent] * local));
        }
        pose
    }

    /// As three.js cuts quads.
    fn triangles(quads: &[[usize; 4]]) -> impl Iterator<Item = [usize; 3]> {
        quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, d], [b, c, d]])
    }

    /// Faces of the stalk and of the leaf, with the indices of their materials.
    fn parts(&self) -> [(usize, &[[usize; 4]]); 2] {
        [
            (0, &self.quads[..self.leaf_quads]),
            (1, &self.quads[self.leaf_quads..]),
        ]
    }

    pub fn m3d(&self) -> String {
        let mut out = String::new();
        let title = |out: &mut String, name: &str| {
            let stars = "*".repeat(15);
            writeln!(out, "{stars}{name}{stars}").unwrap();
        };
        title(&mut out, "m3d-File-Header");
        let triangles = 2 * self.quads.len();
        writeln!(
            out,
            "#Materials 2\n#Vertices {}\n#Triangles {triangles}",
            self.vertices.len()
        )
        .unwrap();
        writeln!(
            out,
            "#Bones {}\n#AnimationClips {}\n",
            self.joints.len(),
            self.clips.len()
        )
        .unwrap();
        title(&mut out, "Materials");
        for (name, color) in MATERIALS {
            writeln!(
                out,
                "Name: {name}\nDiffuse: {}\nFresnel0: 0.05 0.05 0.05",
                numbers(color)
            )
            .unwrap();
            writeln!(
                out,
                "Roughness: 0.5\nAlphaClip: 0\nMaterialTypeName: Skinned"
            )
            .unwrap();
            writeln!(out, "DiffuseMap: none.dds\nNormalMap: none.dds\n").unwrap();
        }
        title(&mut out, "SubsetTable");
        let cuts = [
            (0, self.leaf, 0, self.leaf_quads),
            (
                self.leaf,
                self.vertices.len(),
                self.leaf_quads,
                self.quads.len(),
            ),
        ];
        for (id, (first, end, quad, quad_end)) in cuts.into_iter().enumerate() {
            let (count, faces) = (end - first, 2 * (quad_end - quad));
            let face = 2 * quad;
            writeln!(
                out,
                "SubsetID: {id} VertexStart: {first} VertexCount: {count} FaceStart: {face} FaceCount: {faces}"
            )
            .unwrap();
        }
        writeln!(out).unwrap();
        title(&mut out, "Vertices");
        for vertex in &self.vertices {
            writeln!(out, "Position: {}", numbers(mirrored(vertex.position))).unwrap();
            writeln!(
                out,
                "Tangent: 0 1 0 1\nNormal: {}",
                numbers(mirrored(vertex.normal))
            )
            .unwrap();
            writeln!(out, "Tex-Coords: {}", numbers(vertex.uv)).unwrap();
            let padded = |i: usize| vertex.influences.get(i).copied().unwrap_or((0, 0.0));
            writeln!(
                out,
                "BlendWeights: {}",
                numbers([0, 1, 2, 3].map(|i| padded(i).1))
            )
            .unwrap();
            writeln!(
                out,
                "BlendIndices: {}\n",
                numbers([0, 1, 2, 3].map(|i| padded(i).0 as f64))
            )
            .unwrap();
        }
        title(&mut out, "Triangles");
        for [a, b, c] in Self::triangles(&self.quads) {
            // Mirrored, the other way round.
            writeln!(out, "{a} {c} {b}").unwrap();
        }
        writeln!(out).unwrap();
        title(&mut out, "BoneOffsets");
        for (bone, pose) in self.pose(|_| DQuat::IDENTITY).iter().enumerate() {
            let inverse = pose.inverse();
            let rotation = mirrored_rotation(DQuat::from_mat3(&inverse.matrix3));
            let inverse =
                DAffine3::from_rotation_translation(rotation, mirrored(inverse.translation));
            let rows: Vec<String> = [
                inverse.matrix3.x_axis,
                inverse.matrix3.y_axis,
                inverse.matrix3.z_axis,
            ]
            .into_iter()
            .map(|axis| format!("{} 0", numbers(axis)))
            .collect();
            writeln!(
                out,
                "BoneOffset{bone} {} {} 1",
                rows.join(" "),
                numbers(inverse.translation)
            )
            .unwrap();
        }
        writeln!(out).unwrap();
        title(&mut out, "BoneHierarchy");
        for (bone, joint) in self.joints.iter().enumerate() {
            writeln!(out, "ParentIndexOfBone{bone}: {}", parent(joint)).unwrap();
        }
        writeln!(out).unwrap();
        title(&mut out, "AnimationClips");
        for clip in &self.clips {
            writeln!(out, "AnimationClip {}\n{{", clip.name).unwrap();
            for (bone, joint) in self.joints.iter().enumerate() {
                writeln!(
                    out,
                    "\tBone{bone} #Keyframes: {}\n\t{{",
                    clip.keys[bone].len()
                )
                .unwrap();
                for (key, &rotation) in clip.keys[bone].iter().enumerate() {
                    let rotation = mirrored_rotation(joint.orientation * rotation);
                    writeln!(
                        out,
                        "\t\tTime: {} Pos: {} Scale: 1 1 1 Quat: {}",
                        number(seconds(key * STEP)),
                        numbers(mirrored(joint.offset)),
                        numbers(rotation)
                    )
                    .unwrap();
                }
                writeln!(out, "\t}}").unwrap();
            }
            writeln!(out, "}}\n").unwrap();
        }
        out
    }

    pub fn ram(&self) -> String {
        let mut out = format!("joints {}\n", self.joints.len());
        for (id, joint) in self.joints.iter().enumerate() {
            writeln!(out, "{id} \"{}\"\n\tparent {}", joint.name, parent(joint)).unwrap();
            writeln!(out, "\torientation {}", numbers(joint.orientation)).unwrap();
            writeln!(
                out,
                "\ttranslation {}\n\trotation 0 0 0 1",
                numbers(joint.offset)
            )
            .unwrap();
        }
        writeln!(out, "vertices {}", self.vertices.len()).unwrap();
        self.vertices
            .iter()
            .enumerate()
            .for_each(|(id, v)| writeln!(out, "{id} {}", numbers(v.position)).unwrap());
        writeln!(out, "normals {}", self.vertices.len()).unwrap();
        self.vertices
            .iter()
            .enumerate()
            .for_each(|(id, v)| writeln!(out, "{id} {}", numbers(v.normal)).unwrap());
        // A section may do without its count.
        writeln!(out, "uvs").unwrap();
        self.vertices
            .iter()
            .enumerate()
            .for_each(|(id, v)| writeln!(out, "{id} {}", numbers(v.uv)).unwrap());
        writeln!(out, "triangles {}", 2 * self.quads.len()).unwrap();
        let triangles = self
            .parts()
            .into_iter()
            .flat_map(|(shader, q)| Self::triangles(q).map(move |t| (shader, t)));
        for (id, (shader, [a, b, c])) in triangles.enumerate() {
            writeln!(out, "{id} {shader} {a} {b} {c} {a} {b} {c} {a} {b} {c}").unwrap();
        }
        let weights = self
            .vertices
            .iter()
            .enumerate()
            .flat_map(|(index, v)| v.influences.iter().map(move |pair| (index, pair)));
        writeln!(out, "weights {}", weights.clone().count()).unwrap();
        for (id, (vertex, &(joint, weight))) in weights.enumerate() {
            writeln!(
                out,
                "{id} {vertex} {joint} \"{}\" {}",
                self.joints[joint].name,
                number(weight)
            )
            .unwrap();
        }
        out
    }

    /// The last key is left out: the format wraps to the first.
    pub fn raa(&self, clip: &Clip) -> String {
        let mut out = format!("frames {}\n", clip.frames);
        for (id, (joint, keys)) in self.joints.iter().zip(&clip.keys).enumerate() {
            writeln!(out, "track {id} {id} \"{}\"", joint.name).unwrap();
            for (key, &rotation) in keys[..keys.len() - 1].iter().enumerate() {
                writeln!(out, "{key} {} {}", key * STEP, numbers(rotation)).unwrap();
            }
        }
        out
    }

    /// Format 3, with quads.
    pub fn three_json(&self) -> String {
        let mut clips = Vec::new();
        for clip in &self.clips {
            let tracks = self.joints.iter().zip(&clip.keys).map(|(joint, keys)| {
                let keys = keys.iter().enumerate().map(|(key, &rotation)| {
                    let rest = match key {
                        0 => format!("\"pos\":{},\"scl\":[1,1,1],", list(joint.offset)),
                        _ => String::new(),
                    };
                    let time = number(seconds(key * STEP));
                    format!(
                        "{{\"time\":{time},{rest}\"rot\":{}}}",
                        list(joint.orientation * rotation)
                    )
                });
                format!(
                    "{{\"parent\":{},\"keys\":[\n{}]}}",
                    parent(joint),
                    lines(keys)
                )
            });
            clips.push(format!(
                "{{\"name\":\"{}\",\"fps\":{FRAMES_PER_SECOND},\"length\":{},\"hierarchy\":[\n{}]}}",
                clip.name,
                number(seconds(clip.frames)),
                lines(tracks)
            ));
        }
        format!(
            "{{{},\n\"animations\":[\n{}]\n}}\n",
            self.three_json_geometry(),
            lines(clips)
        )
    }

    /// The first clip with every bone in every frame.
    pub fn three_json_frames(&self) -> String {
        let clip = &self.clips[0];
        let frames = (0..clip.frames).map(|frame| {
            let poses = self.joints.iter().enumerate().map(|(index, joint)| {
                let rotation = joint.orientation * clip.rotation(index, frame);
                format!(
                    "{{\"pos\":{},\"rot\":{}}}",
                    list(joint.offset),
                    list(rotation)
                )
            });
            format!("[{}]", poses.collect::<Vec<_>>().join(","))
        });
        let head = format!("\"name\":\"{}\",\"fps\":{FRAMES_PER_SECOND}", clip.name);
        format!(
            "{{{},\n\"animation\":{{{head},\"keyframes\":[\n{}]}}\n}}\n",
            self.three_json_geometry(),
            lines(frames)
        )
    }

    fn three_json_geometry(&self) -> String {
        const QUAD_MATERIAL_UVS_NORMALS: u32 = 0b0010_1011;
        let all = |values: &dyn Fn(&Vertex) -> String| {
            self.vertices
                .iter()
                .map(values)
                .collect::<Vec<_>>()
                .join(",")
        };
        let bare = |list: String| list.trim_matches(['[', ']']).to_owned();
        let faces = self.parts().into_iter().flat_map(|(material, quads)| {
            quads.iter().map(move |[a, b, c, d]| {
                format!("{QUAD_MATERIAL_UVS_NORMALS},{a},{b},{c},{d},{material},{a},{b},{c},{d},{a},{b},{c},{d}")
            })
        });
        let bones = self.joints.iter().map(|joint| {
            let (pos, rotq) = (list(joint.offset), list(joint.orientation));
            format!(
                "{{\"parent\":{},\"name\":\"{}\",\"pos\":{pos},\"rotq\":{rotq}}}",
                parent(joint),
                joint.name
            )
        });
        let materials = MATERIALS.iter().map(|(name, color)| {
            format!(
                "{{\"DbgName\":\"{name}\",\"colorDiffuse\":{}}}",
                list(*color)
            )
        });
        let padded = |v: &Vertex, i: usize| v.influences.get(i).copied();
        let weights = |v: &Vertex| {
            bare(list(
                [0, 1, 2].map(|i| padded(v, i).map_or(0.0, |(_, w)| w)),
            ))
        };
        let indices = |v: &Vertex| {
            bare(list(
                [0, 1, 2].map(|i| padded(v, i).map_or(-1.0, |(j, _)| j as f64)),
            ))
        };
        format!(
            "\"metadata\":{{\"formatVersion\":3.1}},\n\"influencesPerVertex\":3,\n\"materials\":[\n{}],\n\
             \"vertices\":[{}],\n\"normals\":[{}],\n\"uvs\":[[{}]],\n\"faces\":[\n{}],\n\"bones\":[\n{}],\n\
             \"skinWeights\":[{}],\n\"skinIndices\":[{}]",
            lines(materials),
            all(&|v| bare(list(v.position))),
            all(&|v| bare(list(v.normal))),
            all(&|v| bare(list(v.uv))),
            lines(faces),
            lines(bones),
            all(&weights),
            all(&indices)
        )
    }

    /// Both submeshes share their vertices; positions and normals are in different buffers.
    pub fn mesh_xml(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\"?>\n<mesh>\n");
        writeln!(
            out,
            "<sharedgeometry vertexcount=\"{}\">",
            self.vertices.len()
        )
        .unwrap();
        writeln!(out, "<vertexbuffer positions=\"true\">").unwrap();
        for vertex in &self.vertices {
            writeln!(out, "<vertex><position {}/></vertex>", xyz(vertex.position)).unwrap();
        }
        writeln!(
            out,
            "</vertexbuffer>\n<vertexbuffer normals=\"true\" texture_coords=\"1\">"
        )
        .unwrap();
        for Vertex { normal, uv, .. } in &self.vertices {
            let (u, v) = (number(uv[0]), number(uv[1]));
            writeln!(
                out,
                "<vertex><normal {}/><texcoord u=\"{u}\" v=\"{v}\"/></vertex>",
                xyz(*normal)
            )
            .unwrap();
        }
        writeln!(out, "</vertexbuffer>\n</sharedgeometry>\n<submeshes>").unwrap();
        for (material, quads) in self.parts() {
            writeln!(
                out,
                "<submesh material=\"{}\" usesharedvertices=\"true\">",
                MATERIALS[material].0
            )
            .unwrap();
            writeln!(out, "<faces count=\"{}\">", 2 * quads.len()).unwrap();
            for [a, b, c] in Self::triangles(quads) {
                writeln!(out, "<face v1=\"{a}\" v2=\"{b}\" v3=\"{c}\"/>").unwrap();
            }
            writeln!(out, "</faces>\n</submesh>").unwrap();
        }
        writeln!(
            out,
            "</submeshes>\n<skeletonlink name=\"sprout.skeleton\"/>\n<boneassignments>"
        )
        .unwrap();
        for (index, vertex) in self.vertices.iter().enumerate() {
            for &(joint, weight) in &vertex.influences {
                let weight = number(weight);
                writeln!(
                    out,
                    "<vertexboneassignment vertexindex=\"{index}\" boneindex=\"{joint}\" weight=\"{weight}\"/>"
                )
                .unwrap();
            }
        }
        writeln!(out, "</boneassignments>\n</mesh>").unwrap();
        out
    }

    /// The last key is left out: the format wraps to the first.
    pub fn skeleton_xml(&self) -> String {
        let rotation = |q: DQuat| {
            let q = if q.w < 0.0 { -q } else { q };
            let sin = q.xyz().length();
            let axis = if sin > 1e-12 { q.xyz() / sin } else { DVec3::X };
            format!(
                "angle=\"{}\"><axis {}/>",
                number(2.0 * libm::atan2(sin, q.w)),
                xyz(axis)
            )
        };
        let mut out = String::from("<?xml version=\"1.0\"?>\n<skeleton>\n<bones>\n");
        for (id, joint) in self.joints.iter().enumerate() {
            writeln!(out, "<bone id=\"{id}\" name=\"{}\">", joint.name).unwrap();
            writeln!(
                out,
                "<position {}/><rotation {}</rotation></bone>",
                xyz(joint.offset),
                rotation(joint.orientation)
            )
            .unwrap();
        }
        writeln!(out, "</bones>\n<bonehierarchy>").unwrap();
        for joint in &self.joints {
            if let Some(parent) = joint.parent {
                writeln!(
                    out,
                    "<boneparent bone=\"{}\" parent=\"{}\"/>",
                    joint.name, self.joints[parent].name
                )
                .unwrap();
            }
        }
        writeln!(out, "</bonehierarchy>\n<animations>").unwrap();
        for clip in &self.clips {
            let length = number(seconds(clip.frames));
            writeln!(
                out,
                "<animation name=\"{}\" length=\"{length}\">\n<tracks>",
                clip.name
            )
            .unwrap();
            for (joint, keys) in self.joints.iter().zip(&clip.keys) {
                writeln!(out, "<track bone=\"{}\">\n<keyframes>", joint.name).unwrap();
                for (key, &q) in keys[..keys.len() - 1].iter().enumerate() {
                    let time = number(seconds(key * STEP));
                    writeln!(
                        out,
                        "<keyframe time=\"{time}\"><translate x=\"0\" y=\"0\" z=\"0\"/><rotate {}</rotate></keyframe>",
                        rotation(q)
                    )
                    .unwrap();
                }
                writeln!(out, "</keyframes>\n</track>").unwrap();
            }
            writeln!(out, "</tracks>\n</animation>").unwrap();
        }
        writeln!(out, "</animations>\n</skeleton>").unwrap();
        out
    }

    pub fn md5mesh(&self) -> String {
        let mut out = String::from("MD5Version 10\ncommandline \"\"\n\n");
        writeln!(
            out,
            "numJoints {}\nnumMeshes 2\n\njoints {{",
            self.joints.len()
        )
        .unwrap();
        let pose = self.pose(|_| DQuat::IDENTITY);
        for (joint, pose) in self.joints.iter().zip(&pose) {
            let rotation = z_up() * DQuat::from_mat3(&pose.matrix3);
            writeln!(
                out,
                "\t\"{}\" {} ( {} ) ( {} )",
                joint.name,
                parent(joint),
                numbers(z_up() * pose.translation),
                without_w(rotation)
            )
            .unwrap();
        }
        writeln!(out, "}}").unwrap();
        let cuts = [(0, self.leaf), (self.leaf, self.vertices.len())];
        for ((material, quads), (first, end)) in self.parts().into_iter().zip(cuts) {
            let vertices = &self.vertices[first..end];
            writeln!(
                out,
                "\nmesh {{ // {0}\n\tshader \"{0}\"\n\tnumverts {1}",
                MATERIALS[material].0,
                vertices.len()
            )
            .unwrap();
            let mut weights = Vec::new();
            for (index, vertex) in vertices.iter().enumerate() {
                let start = weights.len();
                weights.extend(vertex.influences.iter().map(|&(joint, weight)| {
                    (
                        joint,
                        weight,
                        pose[joint].inverse().transform_point3(vertex.position),
                    )
                }));
                let (uv, count) = (numbers(vertex.uv), weights.len() - start);
                writeln!(out, "\tvert {index} ( {uv} ) {start} {count}").unwrap();
            }
            writeln!(out, "\tnumtris {}", 2 * quads.len()).unwrap();
            for (index, [a, b, c]) in Self::triangles(quads).enumerate() {
                writeln!(
                    out,
                    "\ttri {index} {} {} {}",
                    a - first,
                    c - first,
                    b - first
                )
                .unwrap();
            }
            writeln!(out, "\tnumweights {}", weights.len()).unwrap();
            for (index, (joint, weight, offset)) in weights.into_iter().enumerate() {
                writeln!(
                    out,
                    "\tweight {index} {joint} {} ( {} )",
                    number(weight),
                    numbers(offset)
                )
                .unwrap();
            }
            writeln!(out, "}}").unwrap();
        }
        out
    }

    /// Every frame, the first again at the end; only rotations move.
    pub fn md5anim(&self, clip: &Clip) -> String {
        let mut out = String::from("MD5Version 10\ncommandline \"\"\n\n");
        writeln!(
            out,
            "numFrames {}\nnumJoints {}",
            clip.frames + 1,
            self.joints.len()
        )
        .unwrap();
        writeln!(
            out,
            "frameRate {FRAMES_PER_SECOND}\nnumAnimatedComponents {}\n",
            3 * self.joints.len()
        )
        .unwrap();
        writeln!(out, "hierarchy {{").unwrap();
        for (index, joint) in self.joints.iter().enumerate() {
            writeln!(
                out,
                "\t\"{}\" {} 56 {}",
                joint.name,
                parent(joint),
                3 * index
            )
            .unwrap();
        }
        writeln!(out, "}}\n\nbounds {{").unwrap();
        (0..=clip.frames).for_each(|_| writeln!(out, "\t( -1 -1 0 ) ( 1 1 3 )").unwrap());
        writeln!(out, "}}\n\nbaseframe {{").unwrap();
        // A root's parent is the space that is turned.
        let outside = |joint: &Joint| {
            if joint.parent.is_none() {
                z_up()
            } else {
                DQuat::IDENTITY
            }
        };
        for joint in &self.joints {
            let (offset, rotation) = (
                outside(joint) * joint.offset,
                outside(joint) * joint.orientation,
            );
            writeln!(out, "\t( {} ) ( {} )", numbers(offset), without_w(rotation)).unwrap();
        }
        writeln!(out, "}}").unwrap();
        for frame in 0..=clip.frames {
            writeln!(out, "\nframe {frame} {{").unwrap();
            for (index, joint) in self.joints.iter().enumerate() {
                let rotation = outside(joint) * joint.orientation * clip.rotation(index, frame);
                writeln!(out, "\t{}", without_w(rotation)).unwrap();
            }
            writeln!(out, "}}").unwrap();
        }
        out
    }
}

/// Six decimals, as few characters as that takes.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" {
        "0".into()
    } else {
        short.into()
    }
}

/// Values that are written as several numbers.
trait Numbers {
    fn numbers(self) -> Vec<f64>;
}

impl Numbers for DVec3 {
    fn numbers(self) -> Vec<f64> {
        self.to_array().into()
    }
}

impl Numbers for DQuat {
    fn numbers(self) -> Vec<f64> {
        self.to_array().into()
    }
}

impl<const N: usize> Numbers for [f64; N] {
    fn numbers(self) -> Vec<f64> {
        self.into()
    }
}

fn numbers(value: impl Numbers) -> String {
    value
        .numbers()
        .into_iter()
        .map(number)
        .collect::<Vec<_>>()
        .join(" ")
}

fn list(value: impl Numbers) -> String {
    format!(
        "[{}]",
        value
            .numbers()
            .into_iter()
            .map(number)
            .collect::<Vec<_>>()
            .join(",")
    )
}

fn lines(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(",\n")
}

fn xyz(v: DVec3) -> String {
    format!(
        "x=\"{}\" y=\"{}\" z=\"{}\"",
        number(v.x),
        number(v.y),
        number(v.z)
    )
}

fn parent(joint: &Joint) -> i64 {
    joint.parent.map_or(-1, |p| p as i64)
}

fn seconds(frame: usize) -> f64 {
    frame as f64 / FRAMES_PER_SECOND as f64
}

/// Into a left-handed space.
pub fn mirrored(v: DVec3) -> DVec3 {
    DVec3::new(v.x, v.y, -v.z)
}

fn mirrored_rotation(q: DQuat) -> DQuat {
    DQuat::from_xyzw(-q.x, -q.y, q.z, q.w)
}

/// A quarter turn that makes Y up Z up.
pub fn z_up() -> DQuat {
    DQuat::from_xyzw(
        std::f64::consts::FRAC_1_SQRT_2,
        0.0,
        0.0,
        std::f64::consts::FRAC_1_SQRT_2,
    )
}

/// The format stores the quaternion whose w is not positive.
fn without_w(q: DQuat) -> String {
    numbers(if q.w > 0.0 { -q.xyz() } else { q.xyz() })
}
