//! Meshes and crowds on a device of the caller's, against the reference.

use crate::Gpu;
use crate::adopt::{AdoptedCrowd, AdoptedMesh, MeshSlices, Vertices};
use crate::device::gpu::ShaderChecks;
use crate::passes::pose::Pose;
use crate::passes::pose_kernels::PoseKernel;
use crate::passes::skin::SkinKernel;
use crate::passes::skin_kernels::{COLUMNS, INSTANCES, MERGED, NAIVE, POSITIONS, SHARED};
use skinbench_characters::{chain_64, face, star_64, walker};
use skinbench_kernels::crowd::{Crowd, Fade, Layer, LiveCrowd, LiveGroup, Play, REST};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, Rows, Transform};
use skinbench_kernels::pose;
use skinbench_kernels::reference::reference_vertices;
use skinbench_kernels::threads::lock;
use skinbench_kernels::vertex::{Attributes, Encoding, VertexFormat};
use std::sync::Arc;

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE;

/// A device with limits of the caller's; `None` on a machine without adapters.
fn adopted(limit: impl FnOnce(&mut wgpu::Limits)) -> Option<(Arc<Gpu>, wgpu::Device)> {
    adopted_with(ShaderChecks::Unchecked, limit)
}

/// As [`adopted`], with or without checks of shaders.
fn adopted_with(
    checks: ShaderChecks,
    limit: impl FnOnce(&mut wgpu::Limits),
) -> Option<(Arc<Gpu>, wgpu::Device)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let options = wgpu::RequestAdapterOptions::default();
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&options)) else {
        let required = std::env::var_os("SKINBENCH_REQUIRE_GPU");
        assert!(required.is_none(), "there is no adapter");
        return None;
    };
    let mut required_limits = adapter.limits();
    limit(&mut required_limits);
    let descriptor = wgpu::DeviceDescriptor {
        required_limits,
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    let gpu = Gpu::adopt(&adapter, device.clone(), queue, checks);
    Some((gpu, device))
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}

/// A crowd of two models, one instance each.
fn two_walkers() -> Crowd {
    let mut crowd = Crowd::with_format(VertexFormat::default());
    for vertices in [500, 600] {
        let model = Arc::new(walker(vertices).unwrap());
        let at_rest = [(IDENTITY_ROWS, Layer::held(REST, 0.0))];
        crowd.push_group(model, at_rest).unwrap();
    }
    crowd
}

/// Why a mesh of the walker is refused.
fn refusal(
    (gpu, device): &(Arc<Gpu>, wgpu::Device),
    format: VertexFormat,
    kernel: &'static SkinKernel,
) -> Option<String> {
    let model = Arc::new(walker(500).unwrap());
    let bytes = 2 * (model.palette_joints().len() * size_of::<Rows>()) as u64;
    let palettes = buffer(device, bytes, wgpu::BufferUsages::STORAGE);
    let mesh = AdoptedMesh::new(gpu, model, format, 2, palettes.slice(..), kernel);
    mesh.err().map(|error| error.to_string())
}

#[test]
fn errors_name_what_the_device_or_a_kernel_lacks() {
    let floats = VertexFormat::default();
    let packed = VertexFormat {
        encoding: Encoding::Packed,
        ..floats
    };
    let Some(few_buffers) = adopted(|limits| limits.max_storage_buffers_per_shader_stage = 3)
    else {
        return;
    };
    let error = refusal(&few_buffers, floats, &INSTANCES).unwrap();
    assert!(
        error.starts_with("the device binds 3 storage buffers to a shader; needs "),
        "{error}"
    );
    let few_threads = adopted(|limits| limits.max_compute_invocations_per_workgroup = 128);
    let few_threads = few_threads.unwrap();
    assert_eq!(refusal(&few_threads, floats, &INSTANCES), None);
    let error = refusal(&few_threads, floats, &SHARED).unwrap();
    assert_eq!(
        error,
        "the device runs 128 threads in a workgroup; needs 256"
    );
    let small = adopted(|limits| limits.max_compute_workgroup_storage_size = 8_192).unwrap();
    let error = refusal(&small, floats, &SHARED).unwrap();
    assert_eq!(
        error,
        "a workgroup shares 12288 bytes at once; the device allows 8192"
    );
    assert_eq!(refusal(&small, packed, &INSTANCES), None);
    let error = refusal(&small, packed, &POSITIONS).unwrap();
    assert_eq!(
        error,
        "the kernel positions stores floats of one frame apart; needs --output f32"
    );
    let error = refusal(&small, floats, &MERGED).unwrap();
    assert!(
        error.starts_with("the kernel merged skins chunks of several models"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_skinned_is_refused_and_forgotten() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    let format = VertexFormat::default();
    let palettes = buffer(&device, 1 << 20, wgpu::BufferUsages::STORAGE);
    let mesh = |model| {
        let model = Arc::new(model);
        AdoptedMesh::new(&gpu, model, format, 1, palettes.slice(..), &INSTANCES)
    };
    let error = mesh(face(1_000, 1).unwrap()).err().unwrap().to_string();
    assert!(error.contains("morph targets"), "{error}");
    assert!(mesh(walker(500).unwrap()).is_ok(), "nothing is left of it");
    let crowd = Crowd::with_format(format);
    let error = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES])
        .err()
        .unwrap();
    assert!(error.to_string().contains("no instance"), "{error}");
    let error = AdoptedCrowd::new(&gpu, &crowd, &[]).err().unwrap();
    assert!(error.to_string().contains("no kernel"), "{error}");
}

#[test]
fn slices_are_checked_and_bound_once() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    let model = Arc::new(walker(500).unwrap());
    let bytes = (model.palette_joints().len() * size_of::<Rows>()) as u64;
    let alignment = u64::from(device.limits().min_storage_buffer_offset_alignment);
    let format = VertexFormat::default();
    let mesh = |offset, size, usage| {
        let palettes = buffer(&device, offset + size, usage);
        let model = Arc::clone(&model);
        AdoptedMesh::new(&gpu, model, format, 1, palettes.slice(offset..), &INSTANCES)
    };
    let error = |offset, size, usage| mesh(offset, size, usage).err().unwrap().to_string();
    let less = bytes - 16;
    assert_eq!(
        error(alignment, less, STORAGE),
        format!("palettes take {bytes} bytes; their slice has {less}")
    );
    assert_eq!(
        error(0, bytes, wgpu::BufferUsages::VERTEX),
        "the buffer of palettes lacks the usage STORAGE"
    );
    assert_eq!(
        error(4, bytes, STORAGE),
        format!("palettes begin at byte 4; the device binds multiples of {alignment}")
    );
    let mesh = mesh(alignment, bytes, STORAGE).unwrap();
    let small = buffer(&device, mesh.output_bytes() - 4, STORAGE);
    assert!(mesh.bind(small.slice(..)).is_err());
    let mut turns = Vec::new();
    for _ in 0..3 {
        let vertices = buffer(&device, mesh.output_bytes(), STORAGE);
        turns.push(mesh.bind(vertices.slice(..)).unwrap());
    }
    let created = *lock(&gpu.created);
    for vertices in turns.iter().cycle().take(9) {
        let mut encoder = device.create_command_encoder(&Default::default());
        mesh.record(vertices, &mut encoder);
    }
    assert_eq!(*lock(&gpu.created), created);
}

/// The palette of a model's first clip at a tick.
fn palette(model: &Model, tick: u32) -> Vec<Rows> {
    let joints = model.skeleton().len();
    let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; joints];
    let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; joints];
    let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
    let time = tick as f32 / 60.0;
    pose::one::sample(
        model.skeleton(),
        model.clips().first(),
        time,
        &mut local_pose,
    );
    pose::one::local_to_model(model.skeleton(), &local_pose, &mut model_pose);
    let entries = model.palette_joints();
    pose::one::palette(entries, model.inverse_binds(), &model_pose, &mut palette);
    palette
}

/// Words of palettes as a kernel reads them.
fn words(palette: &[Rows], kernel: &SkinKernel) -> Vec<f32> {
    if kernel.palette.is_rows() {
        return palette.concat();
    }
    let mut words = Vec::new();
    for rows in palette {
        for column in 0..4 {
            words.extend([rows[column], rows[4 + column], rows[8 + column]]);
            words.push(if column == 3 { 1.0 } else { 0.0 });
        }
    }
    words
}

/// Compares two instances of a mesh with the reference at two ticks. Vertices and palettes begin within larger buffers.
fn compare(
    (gpu, device): &(Arc<Gpu>, wgpu::Device),
    kernel: &'static SkinKernel,
    format: VertexFormat,
    from_slices: bool,
) {
    const TICKS: [u32; 2] = [7, 31];
    const OFFSET: u64 = 512;
    let model = Arc::new(walker(500).unwrap());
    let mesh = model.mesh();
    let queue = gpu.device().unwrap().1;
    let palettes: Vec<f32> = TICKS
        .iter()
        .flat_map(|&tick| words(&palette(&model, tick), kernel))
        .collect();
    let usage = STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let ring = buffer(device, OFFSET + 4 * palettes.len() as u64, usage);
    queue.write_buffer(&ring, OFFSET, bytemuck::cast_slice(&palettes));
    let count = mesh.vertex_count();
    // An order of the caller's own, and influences that are not sorted.
    let order: Vec<usize> = (0..count)
        .map(|v| if from_slices { (v * 7 + 3) % count } else { v })
        .collect();
    assert_eq!(order.iter().sum::<usize>(), count * (count - 1) / 2);
    let slice = ring.slice(OFFSET..);
    let adopted = if from_slices {
        let mut joints = Vec::new();
        let mut weights = Vec::new();
        for &vertex in &order {
            let mut pairs: Vec<_> = mesh.influences_of(vertex).collect();
            assert!(pairs.len() <= 4);
            pairs.resize(4, (u16::MAX, 0.0));
            pairs.reverse();
            joints.push(std::array::from_fn(|k| pairs[k].0));
            weights.push(std::array::from_fn(|k| 3.0 * pairs[k].1));
        }
        fn ordered<T: Copy>(order: &[usize], items: &[T]) -> Vec<T> {
            order.iter().map(|&vertex| items[vertex]).collect()
        }
        let slices = MeshSlices {
            positions: &ordered(&order, mesh.positions()),
            normals: &ordered(&order, mesh.normals()),
            tangents: &mesh.tangents().map_or(Vec::new(), |t| ordered(&order, t)),
            joints: &joints,
            weights: &weights,
            matrices: model.palette_joints().len() as u32,
        };
        AdoptedMesh::from_slices(gpu, &slices, format, 2, slice, kernel)
    } else {
        AdoptedMesh::new(gpu, Arc::clone(&model), format, 2, slice, kernel)
    };
    let adopted = adopted.unwrap();
    let output = buffer(device, OFFSET + adopted.output_bytes() + 16, usage);
    let vertices = adopted.bind(output.slice(OFFSET..)).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    adopted.record_in(&vertices, &mut pass);
    drop(pass);
    queue.submit([encoder.finish()]);
    let mut read = Vec::new();
    let output_words = adopted.output_bytes() as usize / 4;
    gpu.read_back(&output.into(), OFFSET / 4, output_words + 4, &mut read)
        .unwrap();
    assert_eq!(read[output_words..], [0.0; 4], "written beyond the slice");
    let floats = format.floats();
    for (instance, &tick) in TICKS.iter().enumerate() {
        let mut crowd = Crowd::with_format(format);
        let held = [(IDENTITY_ROWS, Layer::held(0, tick as f32 / 60.0))];
        crowd.push_group(Arc::clone(&model), held).unwrap();
        let exact = reference_vertices(&crowd, 0, 0);
        for (place, &vertex) in order.iter().enumerate() {
            let skinned = &read[(instance * count + place) * floats..][..floats];
            let exact = &exact[vertex * floats..];
            for (number, (read, exact)) in skinned.iter().zip(exact).enumerate() {
                // Packed meshes have directions of 28 bits.
                let limit = if number < 3 { 2e-5 } else { 1e-3 };
                let off = (f64::from(*read) - exact).abs();
                assert!(off < limit, "vertex {vertex} at {tick}: {read} for {exact}");
            }
        }
    }
}

#[test]
fn meshes_agree_with_the_reference() {
    for checks in [ShaderChecks::Unchecked, ShaderChecks::Checked] {
        let Some(device) = adopted_with(checks, |_| {}) else {
            return;
        };
        for kernel in [&INSTANCES, &NAIVE, &SHARED, &COLUMNS] {
            for attributes in Attributes::ALL {
                let format = VertexFormat {
                    attributes,
                    ..VertexFormat::default()
                };
                for from_slices in [false, true] {
                    compare(&device, kernel, format, from_slices);
                }
            }
        }
    }
}

#[test]
fn slices_of_vertices_are_checked() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    let palettes = buffer(&device, 96, STORAGE);
    let format = VertexFormat {
        attributes: Attributes::P,
        ..VertexFormat::default()
    };
    let triangle = MeshSlices {
        positions: &[[0.0; 3]; 3],
        normals: &[],
        tangents: &[],
        joints: &[[0, 1, 9, 9]; 3],
        weights: &[[0.5, 0.5, 0.0, 0.0]; 3],
        matrices: 2,
    };
    let refused = |mesh: MeshSlices, format| {
        let slice = palettes.slice(..);
        let mesh = AdoptedMesh::from_slices(&gpu, &mesh, format, 1, slice, &INSTANCES);
        mesh.err().map(|error| error.to_string())
    };
    assert_eq!(refused(triangle, format), None);
    assert_eq!(
        refused(triangle, VertexFormat::default()).unwrap(),
        "0 normals for 3 positions"
    );
    let joints = &[[0; 4], [0; 4], [2, 0, 0, 0]];
    assert_eq!(
        refused(MeshSlices { joints, ..triangle }, format).unwrap(),
        "vertex 2 follows matrix 2; an instance has 2"
    );
    for wrong in [[0.0; 4], [-1.0, 2.0, 0.0, 0.0], [f32::NAN; 4]] {
        let weights = &[[1.0; 4], wrong, [1.0; 4]];
        let joints = &[[0; 4]; 3];
        let mesh = MeshSlices {
            joints,
            weights,
            ..triangle
        };
        let error = refused(mesh, format).unwrap();
        assert!(error.starts_with("vertex 1 has the weights"), "{error}");
    }
}

/// Engines keep them in resources and use them on other threads.
#[test]
fn what_is_adopted_goes_to_other_threads() {
    fn sent<T: Send + Sync>() {}
    sent::<Gpu>();
    sent::<AdoptedMesh>();
    sent::<AdoptedCrowd>();
    sent::<Vertices>();
}

#[test]
fn frames_of_a_live_crowd_create_nothing() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    let model = Arc::new(walker(500).unwrap());
    let group = LiveGroup {
        inertial: true,
        ..LiveGroup::new(model, 5)
    };
    let mut live = LiveCrowd::new(VertexFormat::default(), vec![group], 5).unwrap();
    let mut adopted = AdoptedCrowd::new(&gpu, live.crowd(), &[&INSTANCES]).unwrap();
    let output = buffer(&device, adopted.output_bytes()[0], STORAGE);
    let vertices = adopted.bind(&[output.slice(..)]).unwrap();
    let before = *lock(&gpu.created);
    let mut ids = Vec::new();
    for frame in 0..20u32 {
        live.set_time(f64::from(frame) / 30.0).unwrap();
        if frame < 10 && frame % 2 == 0 {
            let id = live.spawn(0, IDENTITY_ROWS, Play::looping(0)).unwrap();
            live.set_joint(id, 1, Some(Transform::IDENTITY)).unwrap();
            ids.push(id);
        }
        let play = Play::looping(1).with_fade(Fade::Inertial, 0.1);
        live.play(ids[frame as usize % ids.len()], 0, play).unwrap();
        let mut encoder = device.create_command_encoder(&Default::default());
        adopted.record(live.crowd(), 0, &vertices, &mut encoder);
        gpu.device().unwrap().1.submit([encoder.finish()]);
    }
    assert_eq!(*lock(&gpu.created), before);
}

/// A trial chooses one of them, so that elsewhere most tests run the same one.
#[test]
fn every_way_from_local_to_model_poses_agrees() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    // Hierarchies of different depths.
    let all = [walker(500), chain_64(), star_64()].map(|model| Arc::new(model.unwrap()));
    for models in 1..=all.len() {
        let mut crowd = Crowd::with_format(VertexFormat::default());
        for model in &all[..models] {
            let walk = |number: u32| (IDENTITY_ROWS, Layer::looping(model, 0, number << 29, 1.0));
            crowd
                .push_group(Arc::clone(model), (0..5).map(walk))
                .unwrap();
        }
        let mut adopted = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES]).unwrap();
        // Slices of one buffer, each where the device can bind it.
        const APART: u64 = 256;
        let bytes = adopted.output_bytes().to_vec();
        let mut offsets = Vec::new();
        let mut end = APART;
        for bytes in &bytes {
            offsets.push(end);
            end = (end + bytes).next_multiple_of(APART);
        }
        let output = buffer(&device, end, STORAGE | wgpu::BufferUsages::COPY_SRC);
        let slices: Vec<_> = offsets.iter().map(|&at| output.slice(at..)).collect();
        let vertices = adopted.bind(&slices).unwrap();
        let mut exact = Vec::new();
        for instance in 0..5 * models as u32 {
            exact.extend(reference_vertices(&crowd, instance, 7));
        }
        for walk in PoseKernel::WALKS {
            adopted.plan.find_mut::<Pose>().unwrap().walk = walk;
            let mut encoder = device.create_command_encoder(&Default::default());
            adopted.record(&crowd, 7, &vertices, &mut encoder);
            gpu.device().unwrap().1.submit([encoder.finish()]);
            let mut read = Vec::new();
            for (at, bytes) in offsets.iter().zip(&bytes) {
                let floats = *bytes as usize / size_of::<f32>();
                gpu.read_back(&output.clone().into(), at / 4, floats, &mut read)
                    .unwrap();
            }
            assert_eq!(read.len(), exact.len());
            for (read, exact) in read.iter().zip(&exact) {
                let off = (f64::from(*read) - exact).abs();
                assert!(off < 1e-3, "{models} models, {walk:?}: {read} for {exact}");
            }
        }
    }
}

/// Its message is not that of a command which fails because of it.
#[test]
fn what_wgpu_refuses_is_named() {
    let small = |limits: &mut wgpu::Limits| limits.max_uniform_buffer_binding_size = 8_192;
    let Some((gpu, _)) = adopted(small) else {
        return;
    };
    let crowd = two_walkers();
    let error = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES])
        .err()
        .unwrap();
    assert!(error.to_string().contains("8192"), "{error}");
}
