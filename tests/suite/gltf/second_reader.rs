//! A second reader: the crate `gltf` reads the same accessors of real models, with code that this project shares nothing
//! of. Quantised numbers are scaled here, because the crate leaves that to its users.
use crate::support::golden::load_all;
use crate::support::shared::shared_folder;
use gltf::accessor::{DataType, Dimensions, Iter};
use gltf::animation::{Interpolation, Property};
use gltf::{Accessor, Buffer, Gltf, Node, Semantic};
use skinbench::model::{self, Channel, Model, ModelParts, PrimitiveData, RawKeys};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file as the crate reads it.
struct Second {
    gltf: Gltf,
    buffers: Vec<Vec<u8>>,
}

impl Second {
    fn open(file: &Path) -> Self {
        let mut gltf = Gltf::from_slice_without_validation(&fs::read(file).unwrap()).unwrap();
        let blob = gltf.blob.take();
        let buffers = gltf.buffers().map(|buffer| match buffer.source() {
            gltf::buffer::Source::Bin => blob.clone().unwrap(),
            gltf::buffer::Source::Uri(uri) => match uri.split_once(";base64,") {
                Some((_, text)) => base64(text),
                None => fs::read(file.with_file_name(uri)).unwrap(),
            },
        });
        let buffers = buffers.collect();
        Self { gltf, buffers }
    }

    /// All numbers of an accessor, one element after the other.
    fn numbers(&self, accessor: &Accessor) -> Vec<f32> {
        let bytes = |buffer: Buffer| self.buffers.get(buffer.index()).map(Vec::as_slice);
        macro_rules! elements {
            ($type:ty) => {
                Iter::<$type>::new(accessor.clone(), bytes)
                    .unwrap()
                    .collect::<Vec<_>>()
            };
        }
        macro_rules! numbers {
            ($type:ty) => {{
                let numbers = match accessor.dimensions() {
                    Dimensions::Scalar => elements!($type),
                    Dimensions::Vec2 => elements!([$type; 2]).into_flattened(),
                    Dimensions::Vec3 => elements!([$type; 3]).into_flattened(),
                    Dimensions::Vec4 => elements!([$type; 4]).into_flattened(),
                    Dimensions::Mat4 => {
                        let matrices = elements!([[$type; 4]; 4]);
                        matrices.into_flattened().into_flattened()
                    }
                    other => panic!("no {other:?} is read"),
                };
                numbers.into_iter().map(f64::from).collect::<Vec<_>>()
            }};
        }
        let (numbers, one) = match accessor.data_type() {
            DataType::I8 => (numbers!(i8), 127.0),
            DataType::U8 => (numbers!(u8), 255.0),
            DataType::I16 => (numbers!(i16), 32_767.0),
            DataType::U16 => (numbers!(u16), 65_535.0),
            DataType::U32 => (numbers!(u32), 4_294_967_295.0),
            DataType::F32 => (numbers!(f32), 1.0),
        };
        let scale = |number: f64| {
            if accessor.normalized() {
                (number / one).max(-1.0)
            } else {
                number
            }
        };
        numbers
            .into_iter()
            .map(|number| scale(number) as f32)
            .collect()
    }
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::prelude::BASE64_STANDARD.decode(text).unwrap()
}

fn files() -> Vec<PathBuf> {
    let models = shared_folder().join("models");
    let mut files = Vec::new();
    for folder in ["gltf", "morph"] {
        for entry in fs::read_dir(models.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // Its joints are out of range, which is refused.
            let is_refused = path.ends_with("joints_weights_complex.gltf");
            let ending = path.extension().unwrap_or_default();
            if !is_refused && (ending == "gltf" || ending == "glb") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Numbers of accessors that were compared.
#[derive(Debug, Default)]
struct Compared {
    vertices: usize,
    influences: usize,
    indices: usize,
    matrices: usize,
    keys: usize,
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn the_crate_gltf_reads_the_same_numbers() {
    let mut compared = Compared::default();
    for file in files() {
        let name = file.file_name().unwrap().to_string_lossy();
        let second = Second::open(&file);
        let model = load_all(&file);
        let joint_of = skins(&second, &model, &name, &mut compared);
        clips(&second, &model, &joint_of, &name, &mut compared);
        let parts = model.into_parts();
        let mut dumped = parts.primitives.iter().filter(|p| p.dumped_vertices > 0);
        for node in second.gltf.nodes().filter(is_shown) {
            for primitive in node.mesh().unwrap().primitives() {
                let ours = dumped.next().unwrap();
                streams(&second, &primitive, ours, &name, &mut compared);
                if let Some(skin) = node.skin() {
                    let joints = skin.joints().count();
                    influences(&second, &primitive, ours, joints, &name, &mut compared);
                }
            }
        }
        assert!(dumped.next().is_none(), "{name}: more primitives");
    }
    // A comparison of nothing would pass.
    assert!(
        compared.vertices > 40_000
            && compared.influences > 60_000
            && compared.indices > 100_000
            && compared.matrices > 400
            && compared.keys > 100_000,
        "{compared:?}"
    );
}

/// Returns whether a node has a mesh that joints or morph targets move. None of the models has such a node in another
/// scene than the default one.
fn is_shown(node: &Node) -> bool {
    let targets = node.mesh().and_then(|mesh| mesh.primitives().next());
    let has_targets = targets.is_some_and(|primitive| primitive.morph_targets().len() > 0);
    node.mesh().is_some() && (node.skin().is_some() || has_targets)
}

/// Compares inverse binds; returns the joint of each node of a skin.
fn skins(
    second: &Second,
    model: &Model,
    name: &str,
    compared: &mut Compared,
) -> HashMap<usize, u16> {
    let ModelParts { skins, .. } = model.clone().into_parts();
    let mut used: Vec<_> = second.gltf.nodes().filter(is_shown).collect();
    used.retain(|node| node.skin().is_some());
    let mut indices: Vec<usize> = used
        .iter()
        .map(|node| node.skin().unwrap().index())
        .collect();
    indices.sort_unstable();
    indices.dedup();
    let mut joint_of = HashMap::new();
    for (index, ours) in indices.into_iter().zip(&skins) {
        let skin = second.gltf.skins().nth(index).unwrap();
        for (node, &joint) in skin.joints().zip(&ours.joints) {
            joint_of.insert(node.index(), joint);
        }
        if let Some(accessor) = skin.inverse_bind_matrices() {
            let matrices = second.numbers(&accessor);
            for (matrix, rows) in matrices.as_chunks::<16>().0.iter().zip(&ours.inverse_binds) {
                let transposed: Vec<f32> = (0..12).map(|i| matrix[i % 4 * 4 + i / 4]).collect();
                assert_eq!(transposed, rows, "{name}: an inverse bind of skin {index}");
                compared.matrices += 1;
            }
        }
    }
    joint_of
}

/// Compares positions, normals and indices.
fn streams(
    second: &Second,
    primitive: &gltf::Primitive,
    ours: &PrimitiveData,
    name: &str,
    compared: &mut Compared,
) {
    let positions = second.numbers(&primitive.get(&Semantic::Positions).unwrap());
    assert_eq!(
        positions,
        ours.positions.as_flattened(),
        "{name}: positions"
    );
    compared.vertices += ours.positions.len();
    if let Some(accessor) = primitive.get(&Semantic::Normals) {
        let normals = ours.normals.as_ref().unwrap();
        assert_eq!(
            second.numbers(&accessor),
            normals.as_flattened(),
            "{name}: normals"
        );
    }
    if let Some(accessor) = primitive.indices()
        && primitive.mode() == gltf::mesh::Mode::Triangles
    {
        let indices: Vec<u32> = second
            .numbers(&accessor)
            .iter()
            .map(|&i| i as u32)
            .collect();
        assert_eq!(indices, ours.indices, "{name}: indices");
        compared.indices += indices.len();
    }
}

/// Compares joints and weights, which the store sorts and scales to sum to 1.
fn influences(
    second: &Second,
    primitive: &gltf::Primitive,
    ours: &PrimitiveData,
    joints: usize,
    name: &str,
    compared: &mut Compared,
) {
    let count = ours.positions.len();
    let mut sums = vec![vec![0.0f64; joints]; count];
    for set in 0.. {
        let Some(accessor) = primitive.get(&Semantic::Joints(set)) else {
            break;
        };
        let joints = second.numbers(&accessor);
        let weights = second.numbers(&primitive.get(&Semantic::Weights(set)).unwrap());
        for (slot, (joint, weight)) in joints.iter().zip(weights).enumerate() {
            if weight > 0.0 {
                sums[slot / 4][*joint as usize] += f64::from(weight);
            }
        }
    }
    for (vertex, sums) in sums.iter().enumerate() {
        let all: f64 = sums.iter().sum();
        if all == 0.0 {
            continue;
        }
        let mut found = vec![0.0f64; joints];
        for (joint, weight) in ours.influences.of(vertex) {
            found[usize::from(joint)] += f64::from(weight);
        }
        for (joint, sum) in sums.iter().enumerate() {
            let off = (sum / all - found[joint]).abs();
            assert!(
                off < 1e-6,
                "{name}: vertex {vertex}, joint {joint}: off by {off}"
            );
            compared.influences += usize::from(*sum > 0.0);
        }
    }
}

/// Compares times and values of keys of the joints of skins. Rotations are normalised in the store, and may be negated.
fn clips(
    second: &Second,
    model: &Model,
    joint_of: &HashMap<usize, u16>,
    name: &str,
    compared: &mut Compared,
) {
    for (animation, clip) in second.gltf.animations().zip(model.clips()) {
        let raw = clip.keys().raw().unwrap();
        for channel in animation.channels() {
            let target = channel.target();
            let kind = match target.property() {
                Property::Translation => Channel::Translation,
                Property::Rotation => Channel::Rotation,
                Property::Scale => Channel::Scale,
                Property::MorphTargetWeights => continue,
            };
            let Some(&joint) = joint_of.get(&target.node().index()) else {
                continue;
            };
            let sampler = channel.sampler();
            let times = second.numbers(&sampler.input());
            let values = second.numbers(&sampler.output());
            let track = track(raw, joint, kind);
            let place = format!("{name}: {kind:?} of joint {joint} in {:?}", clip.name());
            assert_eq!(raw.times_of(track), times, "{place}");
            let ours = raw.values_of(track);
            assert_eq!(ours.len(), values.len(), "{place}");
            let is_rotation = kind == Channel::Rotation;
            if !is_rotation || sampler.interpolation() == Interpolation::CubicSpline {
                assert_eq!(ours, values, "{place}");
            } else {
                for (ours, value) in ours
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .zip(values.as_chunks::<4>().0)
                {
                    let length = value.iter().map(|v| v * v).sum::<f32>().sqrt();
                    let dot: f32 = ours.iter().zip(value).map(|(a, b)| a * b / length).sum();
                    assert!(
                        (dot.abs() - 1.0).abs() < 1e-6,
                        "{place}: {ours:?}, {value:?}"
                    );
                }
            }
            compared.keys += times.len();
        }
    }
}

fn track(raw: &RawKeys, joint: u16, channel: Channel) -> &model::Track {
    let mut tracks = raw.tracks().iter();
    tracks
        .find(|track| (track.joint, track.channel) == (joint, channel))
        .unwrap()
}
