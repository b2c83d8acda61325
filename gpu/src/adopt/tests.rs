//! Meshes and crowds on a device of the caller's, against the reference.

use crate::Gpu;
use crate::adopt::{
    AdoptedCrowd, AdoptedMesh, BoundMesh, Matrices, MeshBuffers, MeshSlices, TargetSlices, Vertices,
};
use crate::device::gpu::ShaderChecks;
use crate::passes::pose::Pose;
use crate::passes::pose_kernels::PoseKernel;
use crate::passes::skin::SkinKernel;
use crate::passes::skin_kernels::{INSTANCES, MERGED, POSITIONS, SHARED};
use skinbench_characters::{chain_64, face, star_64, walker};
use skinbench_kernels::crowd::{Crowd, Fade, Layer, LiveCrowd, LiveGroup, Play, REST};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, Rows, Transform};
use skinbench_kernels::morph::weights_of;
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

/// Why a crowd of two walkers is refused.
fn refusal(
    gpu: &Arc<Gpu>,
    encoding: Encoding,
    kernels: &'static [&'static SkinKernel],
) -> Option<String> {
    let mut crowd = Crowd::with_format(VertexFormat {
        encoding,
        ..VertexFormat::default()
    });
    let model = Arc::new(walker(500).unwrap());
    let at_rest = [(IDENTITY_ROWS, Layer::held(REST, 0.0)); 2];
    crowd.push_group(model, at_rest).unwrap();
    let adopted = AdoptedCrowd::new(gpu, &crowd, kernels);
    adopted.err().map(|error| error.to_string())
}

#[test]
fn errors_name_what_the_device_or_a_kernel_lacks() {
    let Some((few_buffers, device)) =
        adopted(|limits| limits.max_storage_buffers_per_shader_stage = 3)
    else {
        return;
    };
    let model = Arc::new(walker(500).unwrap());
    let mesh = AdoptedMesh::new(&few_buffers, model, VertexFormat::default()).unwrap();
    let [matrices, vertices] = [0, 1].map(|_| buffer(&device, 1 << 20, STORAGE));
    let error = mesh.bind(&plain(&matrices, &vertices)).err().unwrap();
    assert!(
        error
            .to_string()
            .starts_with("the device binds 3 storage buffers to a shader; needs "),
        "{error}"
    );
    let few_threads = adopted(|limits| limits.max_compute_invocations_per_workgroup = 128);
    let (few_threads, _) = few_threads.unwrap();
    assert_eq!(refusal(&few_threads, Encoding::F32, &[&INSTANCES]), None);
    assert_eq!(
        refusal(&few_threads, Encoding::F32, &[&SHARED]).unwrap(),
        "the device runs 128 threads in a workgroup; needs 256"
    );
    let small = adopted(|limits| limits.max_compute_workgroup_storage_size = 8_192);
    let (small, _) = small.unwrap();
    assert_eq!(
        refusal(&small, Encoding::F32, &[&SHARED]).unwrap(),
        "a workgroup shares 12288 bytes at once; the device allows 8192"
    );
    assert_eq!(refusal(&small, Encoding::Packed, &[&INSTANCES]), None);
    for encoding in [Encoding::F32, Encoding::Packed] {
        assert_eq!(
            refusal(&small, encoding, &[&POSITIONS]).unwrap(),
            "the kernel positions writes positions apart from normals; expected one that writes whole vertices"
        );
    }
    assert_eq!(
        refusal(&small, Encoding::F32, &[&MERGED]).unwrap(),
        "the kernel merged skins chunks of several models; expected one that skins models one by one"
    );
}

#[test]
fn crowds_that_cannot_be_skinned_are_refused() {
    let Some((gpu, _)) = adopted(|_| {}) else {
        return;
    };
    let crowd = Crowd::with_format(VertexFormat::default());
    let error = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES])
        .err()
        .unwrap();
    assert!(error.to_string().contains("no instance"), "{error}");
    let error = AdoptedCrowd::new(&gpu, &crowd, &[]).err().unwrap();
    assert!(error.to_string().contains("no kernel"), "{error}");
}

/// One instance, whose matrices are the rows at the beginning of a buffer.
fn plain<'a>(matrices: &'a wgpu::Buffer, vertices: &'a wgpu::Buffer) -> MeshBuffers<'a> {
    MeshBuffers {
        instances: 1,
        matrices: Matrices::Rows(matrices.slice(..)),
        weights: None,
        list: None,
        vertices: vertices.slice(..),
    }
}

#[test]
fn slices_are_checked_and_bound_once() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    let model = Arc::new(walker(500).unwrap());
    let bytes = (model.palette_joints().len() * size_of::<Rows>()) as u64;
    let alignment = u64::from(device.limits().min_storage_buffer_offset_alignment);
    let mesh = AdoptedMesh::new(&gpu, model, VertexFormat::default()).unwrap();
    let vertices = buffer(&device, mesh.instance_bytes(), STORAGE);
    let matrices = buffer(&device, bytes, STORAGE);
    let refused = |buffers: MeshBuffers| mesh.bind(&buffers).err().map(|e| e.to_string());
    let read_from = |offset, size, usage| {
        let matrices = buffer(&device, offset + size, usage);
        refused(MeshBuffers {
            matrices: Matrices::Rows(matrices.slice(offset..)),
            ..plain(&matrices, &vertices)
        })
    };
    let good = plain(&matrices, &vertices);
    assert_eq!(refused(good), None);
    assert_eq!(read_from(alignment, bytes, STORAGE), None);
    let less = bytes - 16;
    assert_eq!(
        read_from(alignment, less, STORAGE).unwrap(),
        format!("matrices take {bytes} bytes; their slice has only {less}")
    );
    assert_eq!(
        read_from(0, bytes, wgpu::BufferUsages::VERTEX).unwrap(),
        "the buffer of matrices lacks the usage STORAGE"
    );
    assert_eq!(
        read_from(4, bytes, STORAGE).unwrap(),
        format!("matrices begin at byte 4; the device binds multiples of {alignment}")
    );
    let columns = bytes / 3 * 4;
    assert_eq!(
        refused(MeshBuffers {
            matrices: Matrices::Columns(matrices.slice(..)),
            ..good
        })
        .unwrap(),
        format!("matrices take {columns} bytes; their slice has only {bytes}")
    );
    let small = buffer(&device, mesh.instance_bytes() - 4, STORAGE);
    assert!(refused(plain(&matrices, &small)).is_some());
    let refused_with = |instances| refused(MeshBuffers { instances, ..good }).unwrap();
    assert_eq!(refused_with(0), "no instance; expected at least one");
    let too_many = refused_with(u32::MAX);
    assert!(
        too_many.starts_with("4294967295 instances; the device skins at most "),
        "{too_many}"
    );
    let weights = Some(matrices.slice(..));
    assert_eq!(
        refused(MeshBuffers { weights, ..good }).unwrap(),
        "weights for a mesh without morph targets; expected none"
    );
    let both = buffer(&device, 1 << 20, STORAGE);
    let message = "are in one buffer; a dispatch of wgpu either reads a buffer or writes it";
    assert_eq!(
        refused(MeshBuffers {
            vertices: both.slice(1 << 19..),
            ..plain(&both, &both)
        })
        .unwrap(),
        format!("matrices and vertices {message}")
    );
    assert_eq!(
        refused(MeshBuffers {
            list: Some(both.slice(..)),
            vertices: both.slice(1 << 19..),
            ..good
        })
        .unwrap(),
        format!("indices of instances and vertices {message}")
    );

    let mut turns = Vec::new();
    for _ in 0..3 {
        let vertices = buffer(&device, mesh.instance_bytes(), STORAGE);
        turns.push(mesh.bind(&plain(&matrices, &vertices)).unwrap());
    }
    let created = *lock(&gpu.created);
    for turn in turns.iter().cycle().take(9) {
        let mut encoder = device.create_command_encoder(&Default::default());
        turn.record(&mut encoder);
    }
    assert_eq!(*lock(&gpu.created), created);
}

#[test]
fn morph_targets_need_weights() {
    let Some((gpu, device)) = adopted(|_| {}) else {
        return;
    };
    let model = Arc::new(face(1_000, 1).unwrap());
    let targets = model.mesh().targets().len();
    let mesh = AdoptedMesh::new(&gpu, model, VertexFormat::default()).unwrap();
    let [matrices, vertices] = [0, 1].map(|_| buffer(&device, 1 << 20, STORAGE));
    let error = mesh.bind(&plain(&matrices, &vertices)).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("the mesh has {targets} morph targets; expected a buffer of their weights")
    );
    let few = buffer(&device, 4 * targets as u64, STORAGE);
    let weights = Some(few.slice(..));
    let buffers = plain(&matrices, &vertices);
    let error = mesh
        .bind(&MeshBuffers { weights, ..buffers })
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "weights take {} bytes; their slice has only {}",
            4 * (targets + 1),
            4 * targets
        )
    );
}

/// The palette of a model's clip at a tick.
fn palette(model: &Model, clip: usize, tick: u32) -> Vec<Rows> {
    let joints = model.skeleton().len();
    let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; joints];
    let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; joints];
    let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
    let time = tick as f32 / 60.0;
    let clip = model.clips().get(clip);
    pose::one::sample(model.skeleton(), clip, time, &mut local_pose);
    pose::one::local_to_model(model.skeleton(), &local_pose, &mut model_pose);
    let entries = model.palette_joints();
    pose::one::palette(entries, model.inverse_binds(), &model_pose, &mut palette);
    palette
}

/// Matrices of a palette by columns.
fn columns(palette: &[Rows]) -> Vec<f32> {
    let mut words = Vec::new();
    for rows in palette {
        for column in 0..4 {
            words.extend([rows[column], rows[4 + column], rows[8 + column]]);
            words.push(if column == 3 { 1.0 } else { 0.0 });
        }
    }
    words
}

/// A way to skin the instances of a mesh.
#[derive(Debug, Clone, Copy)]
struct Case {
    attributes: Attributes,
    /// The face, whose clip sets weights of morph targets, instead of the walker.
    morphs: bool,
    /// In an order of the caller's.
    from_slices: bool,
    columns: bool,
    list: Option<[u32; 4]>,
}

const TICKS: [u32; 3] = [7, 31, 50];
/// Lists of the last and the first instance; one is longer than it says, the other says more and names one that is not there.
const LISTS: [[u32; 4]; 2] = [[2, 2, 0, 1], [99, 2, u32::MAX, 0]];

/// A mesh from slices, with vertices of a model in an order, and influences that are not sorted.
fn from_slices(
    gpu: &Arc<Gpu>,
    model: &Model,
    order: &[usize],
    format: VertexFormat,
) -> AdoptedMesh {
    fn ordered<T: Copy>(order: &[usize], items: &[T]) -> Vec<T> {
        order.iter().map(|&vertex| items[vertex]).collect()
    }
    let mesh = model.mesh();
    let mut joints = Vec::new();
    let mut weights = Vec::new();
    for &vertex in order {
        let mut pairs: Vec<_> = mesh.influences_of(vertex).collect();
        assert!(pairs.len() <= 4);
        pairs.resize(4, (u16::MAX, 0.0));
        pairs.reverse();
        joints.push(std::array::from_fn(|k| pairs[k].0));
        weights.push(std::array::from_fn(|k| 3.0 * pairs[k].1));
    }
    let targets = mesh.targets();
    let mut deltas = vec![[(); 3].map(|()| vec![[0.0; 3]; order.len()]); targets.len()];
    for (target, vertex, delta) in targets.entries() {
        let place = order.iter().position(|&v| v == vertex).unwrap();
        for (stream, delta) in deltas[target].iter_mut().zip(targets.deltas(delta)) {
            stream[place] = delta;
        }
    }
    let target_slices = deltas
        .iter()
        .map(|[positions, normals, tangents]| TargetSlices {
            positions,
            normals,
            tangents,
        });
    let slices = MeshSlices {
        positions: &ordered(order, mesh.positions()),
        normals: &ordered(order, mesh.normals()),
        tangents: &mesh.tangents().map_or(Vec::new(), |t| ordered(order, t)),
        joints: &joints,
        weights: &weights,
        matrices: model.palette_joints().len(),
        targets: &target_slices.collect::<Vec<_>>(),
    };
    AdoptedMesh::from_slices(gpu, &slices, format).unwrap()
}

/// The largest errors of positions in metres and of directions. Vertices, matrices, weights and lists begin within larger
/// buffers, in which nothing else changes, nor the vertices of instances that a list lacks; else the errors are infinite.
fn errors((gpu, device): &(Arc<Gpu>, wgpu::Device), case: Case) -> [f64; 2] {
    const OFFSET: u64 = 512;
    let format = VertexFormat {
        attributes: case.attributes,
        ..VertexFormat::default()
    };
    let (model, clip) = if case.morphs {
        (face(1_000, 1).unwrap(), 1)
    } else {
        (walker(500).unwrap(), 0)
    };
    let model = Arc::new(model);
    let mut crowd = Crowd::with_format(format);
    let held = TICKS.map(|tick| {
        let layer = Layer::held(clip, tick as f32 / 60.0);
        (IDENTITY_ROWS, layer)
    });
    crowd.push_group(Arc::clone(&model), held).unwrap();
    let count = model.mesh().vertex_count();
    let order: Vec<usize> = (0..count)
        .map(|v| {
            if case.from_slices {
                (v * 7 + 3) % count
            } else {
                v
            }
        })
        .collect();
    assert_eq!(order.iter().sum::<usize>(), count * (count - 1) / 2);
    let mesh = if case.from_slices {
        from_slices(gpu, &model, &order, format)
    } else {
        AdoptedMesh::new(gpu, Arc::clone(&model), format).unwrap()
    };

    let targets = model.mesh().targets().len();
    let mut matrices = Vec::new();
    let mut weights = vec![targets as f32];
    for (instance, tick) in (0..).zip(TICKS) {
        let palette = palette(&model, clip as usize, tick);
        if case.columns {
            matrices.extend(columns(&palette));
        } else {
            matrices.extend(palette.concat());
        }
        let mut own = vec![0.0; targets];
        weights_of(&crowd, &model, instance, 0, &mut own);
        assert!(!case.morphs || own.iter().any(|weight| *weight != 0.0));
        weights.extend(own);
    }
    let queue = gpu.device().unwrap().1;
    let usage = STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let filled = |bytes: &[u8]| {
        let buffer = buffer(device, OFFSET + bytes.len() as u64, usage);
        queue.write_buffer(&buffer, OFFSET, bytes);
        buffer
    };
    let matrices = filled(bytemuck::cast_slice(&matrices));
    let weights = filled(bytemuck::cast_slice(&weights));
    let list = filled(bytemuck::bytes_of(&case.list.unwrap_or_default()));
    let words = TICKS.len() * count * format.floats();
    let output = buffer(device, OFFSET + 4 * words as u64 + 16, usage);
    let slice = matrices.slice(OFFSET..);
    let bound = mesh.bind(&MeshBuffers {
        instances: TICKS.len() as u32,
        matrices: if case.columns {
            Matrices::Columns(slice)
        } else {
            Matrices::Rows(slice)
        },
        weights: case.morphs.then_some(weights.slice(OFFSET..)),
        list: case.list.map(|_| list.slice(OFFSET..)),
        vertices: output.slice(OFFSET..),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    bound.unwrap().record_in(&mut pass);
    drop(pass);
    queue.submit([encoder.finish()]);
    let mut read = Vec::new();
    gpu.read_back(&output.into(), OFFSET / 4, words + 4, &mut read)
        .unwrap();

    if read[words..] != [0.0; 4] {
        return [f64::INFINITY; 2];
    }
    let mut farthest = [0.0f64; 2];
    let instances = read[..words].chunks(count * format.floats());
    for (instance, skinned) in (0..).zip(instances) {
        if instance == 1 && case.list.is_some() {
            if skinned.iter().any(|word| *word != 0.0) {
                return [f64::INFINITY; 2];
            }
            continue;
        }
        let exact = reference_vertices(&crowd, instance, 0);
        for (skinned, &vertex) in skinned.chunks(format.floats()).zip(&order) {
            let exact = &exact[vertex * format.floats()..];
            for (number, (read, exact)) in skinned.iter().zip(exact).enumerate() {
                let off = (f64::from(*read) - exact).abs();
                let farthest = &mut farthest[usize::from(number >= 3)];
                *farthest = farthest.max(off);
            }
        }
    }
    farthest
}

const PLAIN: Case = Case {
    attributes: Attributes::Pn,
    morphs: false,
    from_slices: false,
    columns: false,
    list: None,
};

fn is_exact([position, direction]: [f64; 2]) -> bool {
    position < 2e-6 && direction < 5e-6
}

#[test]
fn meshes_agree_with_the_reference() {
    for checks in [ShaderChecks::Unchecked, ShaderChecks::Checked] {
        let Some(device) = adopted_with(checks, |_| {}) else {
            return;
        };
        for attributes in Attributes::ALL {
            if checks == ShaderChecks::Checked && attributes != Attributes::Pn {
                continue;
            }
            for bits in 0..16 {
                let case = Case {
                    attributes,
                    morphs: bits & 1 == 1,
                    from_slices: bits & 2 == 2,
                    columns: bits & 4 == 4,
                    list: (bits & 8 == 8).then_some(LISTS[bits & 1]),
                };
                let errors = errors(&device, case);
                assert!(is_exact(errors), "{case:?}: {errors:?}");
            }
        }
    }
}

/// What the comparison with the reference must find.
#[test]
fn mutants_of_meshes_die() {
    let Some(device) = adopted(|_| {}) else {
        return;
    };
    let morphed = Case {
        morphs: true,
        from_slices: true,
        ..PLAIN
    };
    let listed = |list| Case {
        list: Some(list),
        ..PLAIN
    };
    for (case, from, to) in [
        (morphed, "instance * u32(morph_weights[0])", "0u"),
        (morphed, "morph_deltas[at + 1u]", "morph_deltas[at]"),
        (listed(LISTS[0]), "listed[1u + place]", "place"),
        (
            listed(LISTS[0]),
            "min(listed[0], chunk.instances)",
            "chunk.instances",
        ),
    ] {
        let edit = move |wgsl: String| {
            assert!(wgsl.contains(from), "{from}");
            wgsl.replace(from, to)
        };
        *lock(&device.0.edit) = Some(Arc::new(edit));
        let errors = errors(&device, case);
        assert!(!is_exact(errors), "{from}: {errors:?}");
    }
}

#[test]
fn slices_of_vertices_are_checked() {
    let Some((gpu, _)) = adopted(|_| {}) else {
        return;
    };
    let format = VertexFormat {
        attributes: Attributes::P,
        ..VertexFormat::default()
    };
    let triangle = MeshSlices {
        positions: &[[0.0; 3]; 3],
        joints: &[[0, 1, 9, 9]; 3],
        weights: &[[0.5, 0.5, 0.0, 0.0]; 3],
        matrices: 2,
        ..MeshSlices::default()
    };
    let refused = |mesh: MeshSlices, format| {
        let mesh = AdoptedMesh::from_slices(&gpu, &mesh, format);
        mesh.err().map(|error| error.to_string())
    };
    assert_eq!(refused(triangle, format), None);
    assert_eq!(
        refused(triangle, VertexFormat::default()).unwrap(),
        "0 normals for 3 positions; expected as many"
    );
    let joints = &[[0; 4], [0; 4], [2, 0, 0, 0]];
    assert_eq!(
        refused(MeshSlices { joints, ..triangle }, format).unwrap(),
        "vertex 2 follows matrix 2; an instance has 2, from 0 on"
    );
    let target = TargetSlices {
        positions: &[[1.0; 3]; 2],
        ..TargetSlices::default()
    };
    let targets = &[target];
    assert_eq!(
        refused(
            MeshSlices {
                targets,
                ..triangle
            },
            format
        )
        .unwrap(),
        "morph target 0 has 2 positions for 3 vertices; expected as many"
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
    sent::<BoundMesh>();
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
