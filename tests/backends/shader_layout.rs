//! Structs that Rust and WGSL share have the same fields at the same places.

use skinbench::gpu::{INSTANCES_PER_THREAD, SKINNING_WGSL, WORKGROUP, layout};
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
        layout_of!(Vertex: position, influences, normal, padding),
        layout_of!(Influence: entry, weight),
        layout_of!(Chunk: first_instance, instances, vertices, entries),
        layout_of!(View: view_projection, light, padding),
        layout_of!(Capture: first, width, height, padding),
    ]
}

fn kernels() -> Vec<(&'static str, String)> {
    let vertex = format!("{SKINNING_WGSL}{}", include_str!("../../shaders/gpu_vertex.wgsl"));
    let preskinned =
        format!("{}{}", include_str!("../../shaders/chunk.wgsl"), include_str!("../../shaders/preskinned.wgsl"));
    vec![
        ("gpu_compute", format!("{SKINNING_WGSL}{}", include_str!("../../shaders/gpu_compute.wgsl"))),
        ("gpu_vertex + draw", format!("{vertex}{}", include_str!("../../shaders/draw.wgsl"))),
        ("gpu_vertex + capture", format!("{vertex}{}", include_str!("../../shaders/capture.wgsl"))),
        ("preskinned + draw", format!("{preskinned}{}", include_str!("../../shaders/draw.wgsl"))),
    ]
}

/// What differs between the structs of a parsed shader and Rust's.
fn differences(wgsl: &str) -> Vec<String> {
    let module = naga::front::wgsl::parse_str(wgsl).unwrap();
    let mut differences = Vec::new();
    for (_, ty) in module.types.iter() {
        let (Some(name), naga::TypeInner::Struct { members, span }) = (&ty.name, &ty.inner) else { continue };
        // Interface structs between shader stages have bindings and no layout in memory.
        if members.iter().any(|m| m.binding.is_some()) || name == "Skinned" {
            continue;
        }
        let wgsl: Vec<_> = members.iter().map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize)).collect();
        match shared().into_iter().find(|(rust, ..)| rust == name) {
            None => differences.push(format!("{name} is not in gpu/layout.rs")),
            Some((_, size, fields)) if size != *span as usize || fields != wgsl => {
                differences.push(format!("{name}: {size} bytes {fields:?} in Rust, {span} bytes {wgsl:?} in WGSL"));
            }
            Some(_) => {}
        }
    }
    differences
}

#[test]
fn shared_structs_agree() {
    for (name, wgsl) in kernels() {
        assert_eq!(differences(&wgsl), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_swapped_field_is_noticed() {
    let swapped = |wgsl: &str, a: &str, b: &str| {
        assert!(wgsl.contains(a) && wgsl.contains(b));
        differences(&wgsl.replacen(a, "\0", 1).replacen(b, a, 1).replacen('\0', b, 1))
    };
    let compute = &kernels()[0].1;
    assert_eq!(swapped(compute, "first_instance: u32", "entries: u32").len(), 1);
    assert_eq!(swapped(compute, "entry: u32", "weight: f32").len(), 1);
    assert!(differences("struct Vertex { position: vec3f, normal: vec3f }").len() == 1);
    assert!(differences("struct Unknown { a: u32 }").len() == 1);
}

#[test]
fn workgroups_and_loops_are_as_dispatched() {
    let module = naga::front::wgsl::parse_str(&kernels()[0].1).unwrap();
    assert_eq!(module.entry_points[0].workgroup_size, [WORKGROUP, 1, 1]);
    let (_, constant) =
        module.constants.iter().find(|(_, c)| c.name.as_deref() == Some("INSTANCES_PER_THREAD")).unwrap();
    let naga::Expression::Literal(naga::Literal::U32(value)) = module.global_expressions[constant.init] else {
        panic!("INSTANCES_PER_THREAD is no plain number");
    };
    assert_eq!(value, INSTANCES_PER_THREAD);
}
