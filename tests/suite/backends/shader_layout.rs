//! Structs that Rust and WGSL share have the same fields at the same places.

use crate::backends::shaders;
use skinbench::gpu::forms::kind::ShaderVariant;
use skinbench::gpu::passes::bake;
use skinbench::gpu::passes::cull;
use skinbench::gpu::passes::pose_kernels::{BATCH_OF_ONE, BATCH_OF_SEVERAL, KERNELS, PoseKernel};
use skinbench::gpu::passes::skin::{STAGED_WORKGROUP, ThreadLayout};
use skinbench::gpu::shader::layout;
use skinbench::gpu::shader::layout::{Form, WORKGROUP};
use skinbench::gpu::shader::wgsl::shader;
use skinbench::gpu::wgpu::naga;
use skinbench::gpu::{MeshForm, TEXTURE_WIDTH, UNIFORM_ENTRIES};
use skinbench::registry::skin_kernels;
use skinbench::vertex::VertexFormat;
use std::mem::offset_of;

/// Name, bytes, and (field, offset) of a Rust struct.
type Layout = (&'static str, usize, Vec<(&'static str, usize)>);

macro_rules! layout_of {
    ($name:ident: $($field:ident),*) => {
        (stringify!($name), size_of::<layout::$name>(), vec![$((stringify!($field), offset_of!(layout::$name, $field))),*])
    };
}

fn shared() -> Vec<Layout> {
    vec![
        layout_of!(Vertex: position, padding, normal, more_padding, entries, weights),
        layout_of!(PackedVertex: entries, weights, weight_x, yz, rest),
        layout_of!(Influence: entry, weight),
        layout_of!(
            Chunk: first_instance, instances, vertices, entries, origin, eights, step, sixteens, centre, half,
            first_vertex, first_entry, mesh_vertex, mesh_influence
        ),
        layout_of!(Workgroup: chunk, vertex, instance),
        layout_of!(DrawnInstance: place, model),
        layout_of!(View: view_projection, light, padding),
        layout_of!(Surface: color, layer, uv),
        layout_of!(Capture: first, width, height, padding),
        layout_of!(
            PosedChunk: instances, joints, entries, slots, levels, clips, first_instance, first_joint, first_entry,
            padding_a, padding_b, padding_c
        ),
        layout_of!(
            Places: first_slot, first_local, first_clip, first_rest, first_mask, first_level, first_bind,
            padding
        ),
        layout_of!(PlacedChunk: posed, places),
        layout_of!(ChunkPart: chunk, workgroup),
        layout_of!(Player: first_layer, layers, first_slot, inertial, every, offset),
        layout_of!(Joint: rotation, translation, parent, scale, matrix),
        layout_of!(
            Layer: clip, phase, step, time_base, time_scale, frame_rate, modes, weight, mask, period, offset, length,
            fade_in, fade_out, pace, frame_time
        ),
        layout_of!(Now: tick, padding_a, padding_b, padding_c),
        layout_of!(Clip: tracks, timeline, frames, row, numbers, start, interval),
        layout_of!(Track: place, angle, timeline),
        layout_of!(Camera: planes),
        layout_of!(
            Cull: first_instance, instances, groups, dispatches, most, padding_a, padding_b, padding_c
        ),
        layout_of!(Numbers: posed, padding_a, chunk, padding_b),
        layout_of!(Dispatch: slots, at_once, threads, workgroup, x, z),
        layout_of!(EntryBox: centre, entry, half, margin),
        layout_of!(Socket: bind, entry, padding),
        layout_of!(BakedClip: first, frames, interval, padding),
        layout_of!(VertexCube: centre, half, longest, padding),
    ]
}

/// Structs that only the device reads and writes, with the bytes that Rust allocates for each.
const OF_DEVICE: [(&str, u64); 4] = [
    ("Cursor", layout::CURSOR_BYTES),
    ("Momentum", layout::MOMENTUM_BYTES),
    ("PosePair", layout::POSE_PAIR_BYTES),
    ("FramePair", layout::FRAME_PAIR_BYTES),
];

/// Structs that stay inside a shader.
const LOCAL: [&str; 9] = [
    "Skinned",
    "LoadedVertex",
    "Rows",
    "DualQuaternion",
    "Local",
    "Presence",
    "Sought",
    "Coding",
    "Key",
];
/// A struct of one that Rust shares and of words behind it.
const OPEN: &str = "VertexFrames";

/// Lists the differences between the structs of a parsed shader and Rust's.
fn differences(wgsl: &str) -> Vec<String> {
    let module =
        naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|e| panic!("{}", e.emit_to_string(wgsl)));
    let mut differences = Vec::new();
    for (_, ty) in module.types.iter() {
        let (Some(name), naga::TypeInner::Struct { members, span }) = (&ty.name, &ty.inner) else {
            continue;
        };
        // Interface structs between shader stages have bindings and no layout in memory.
        if members.iter().any(|m| m.binding.is_some()) || LOCAL.contains(&&**name) || name == OPEN {
            continue;
        }
        if let Some((_, bytes)) = OF_DEVICE.iter().find(|(rust, _)| rust == name) {
            let differs = *bytes != u64::from(*span);
            differences.extend(
                differs.then(|| format!("{name}: {bytes} bytes in Rust, {span} bytes in WGSL")),
            );
            continue;
        }
        let wgsl: Vec<_> = members
            .iter()
            .map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize))
            .collect();
        match shared().into_iter().find(|(rust, ..)| rust == name) {
            None => differences.push(format!("{name} is not in shaders/src/layout.rs")),
            Some((_, size, fields)) if size != *span as usize || fields != wgsl => {
                differences.push(format!(
                    "{name}: {size} bytes {fields:?} in Rust, {span} bytes {wgsl:?} in WGSL"
                ));
            }
            Some(_) => {}
        }
    }
    differences
}

#[test]
fn shared_structs_agree() {
    for (name, wgsl) in shaders::all() {
        assert_eq!(differences(&wgsl), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_swapped_field_is_noticed() {
    let swapped = |wgsl: &str, a: &str, b: &str| {
        assert!(wgsl.contains(a) && wgsl.contains(b));
        differences(
            &wgsl
                .replacen(a, "\0", 1)
                .replacen(b, a, 1)
                .replacen('\0', b, 1),
        )
    };
    let plain = &shaders::all()[0].1;
    assert_eq!(
        swapped(plain, "first_instance: u32", "entries: u32").len(),
        1
    );
    assert_eq!(swapped(plain, " entry: u32", " weight: f32").len(), 1);
    assert!(differences("struct Vertex { position: vec3f, normal: vec3f }").len() == 1);
    assert!(differences("struct Unknown { a: u32 }").len() == 1);
    assert!(differences("struct Momentum { layer: u32 }").len() == 1);
}

/// A constant of a shader.
fn constant(module: &naga::Module, name: &str) -> u32 {
    let (_, constant) = module
        .constants
        .iter()
        .find(|(_, c)| c.name.as_deref() == Some(name))
        .unwrap();
    let naga::Expression::Literal(naga::Literal::U32(value)) =
        module.global_expressions[constant.init]
    else {
        panic!("{name} is no plain number");
    };
    value
}

#[test]
fn numbers_are_as_in_rust() {
    for strategy in skin_kernels() {
        let kind = ShaderVariant {
            format: VertexFormat::default(),
            mesh: MeshForm::Plain,
            influences: 4,
            layers: 1,
            morph: None,
        };
        let module = naga::front::wgsl::parse_str(&strategy.shader(kind)).unwrap();
        let workgroup = match strategy.threads {
            ThreadLayout::Instance(_) => constant(&module, "SHARING"),
            ThreadLayout::Staged(_) => STAGED_WORKGROUP,
            _ => WORKGROUP,
        };
        assert_eq!(
            module.entry_points[0].workgroup_size,
            [workgroup, 1, 1],
            "{}",
            strategy.name
        );
        let overrides: Vec<_> = module
            .overrides
            .iter()
            .filter_map(|(_, o)| o.name.as_deref())
            .collect();
        let asks = |name| overrides.contains(&name);
        let several = matches!(
            strategy.threads,
            ThreadLayout::Vertex(_) | ThreadLayout::Staged(_) | ThreadLayout::Merged(_)
        );
        assert_eq!(asks("INSTANCES"), several, "{}", strategy.name);
        assert_eq!(
            asks("VERTICES"),
            matches!(strategy.threads, ThreadLayout::Instance(_)),
            "{}",
            strategy.name
        );
    }
    let module = |file| naga::front::wgsl::parse_str(&shader(file, &[])).unwrap();
    assert_eq!(constant(&module("workgroup.wgsl"), "WORKGROUP"), WORKGROUP);
    assert_eq!(
        constant(&module("palette_uniform.wgsl"), "MOST_ENTRIES"),
        UNIFORM_ENTRIES as u32
    );
    assert_eq!(
        constant(&module("palette_texture.wgsl"), "WIDTH"),
        TEXTURE_WIDTH
    );
}

/// The kernels that pose bind what a device of the WebGPU defaults has, and name forms of tracks as Rust does.
#[test]
fn kernels_that_pose_are_as_in_rust() {
    let most = |shaders: Vec<(&str, String)>| {
        let buffers = shaders.into_iter().map(|(name, wgsl)| {
            let module = naga::front::wgsl::parse_str(&wgsl).unwrap();
            assert_eq!(
                module.entry_points[0].workgroup_size,
                [WORKGROUP, 1, 1],
                "{name}"
            );
            let storage =
                |v: &naga::GlobalVariable| matches!(v.space, naga::AddressSpace::Storage { .. });
            module
                .global_variables
                .iter()
                .filter(|(_, v)| storage(v))
                .count() as u32
        });
        buffers.max().unwrap()
    };
    for (batch, buffers) in [(BATCH_OF_ONE, 7), (BATCH_OF_SEVERAL, 8)] {
        let kernels = KERNELS.iter();
        let shaders = kernels.map(|kernel| (kernel.name(), kernel.shader(batch)));
        assert_eq!(most(shaders.collect()), buffers, "{batch:?}");
    }
    assert_eq!(most(cull::shaders().to_vec()), 7);
    assert_eq!(most(vec![("pose_baked", bake::shader())]), 4);
    let batch = naga::front::wgsl::parse_str(&shader("pose_chunk.wgsl", &[])).unwrap();
    assert_eq!(constant(&batch, "NONE"), layout::NONE);
    let table = naga::front::wgsl::parse_str(&shader("batch_table.wgsl", &[])).unwrap();
    assert_eq!(constant(&table, "MOST_CHUNKS"), layout::MOST_CHUNKS as u32);
    let module = naga::front::wgsl::parse_str(&PoseKernel::Sample.shader(BATCH_OF_ONE)).unwrap();
    for (name, form) in [
        ("STILL", Form::Still),
        ("CONSTANT", Form::Constant),
        ("STEP", Form::Step),
        ("LINE", Form::Line),
        ("SLERP", Form::Slerp),
        ("NLERP", Form::Nlerp),
        ("AUTHORED", Form::Authored),
        ("CUBIC", Form::Cubic),
        ("SQUAD", Form::Squad),
        ("PACKED", Form::Packed),
    ] {
        assert_eq!(constant(&module, name), form as u32, "{name}");
    }
}
