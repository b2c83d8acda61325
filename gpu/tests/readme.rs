//! The examples of README.md, on a device with the limits that every WebGPU has and no features.

use skinbench_gpu::wgpu;
use std::error::Error;

/// A device of the program's.
#[derive(Clone)]
struct Program {
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Program {
    fn new() -> Result<Self, Box<dyn Error>> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
        Ok(Self {
            adapter,
            device,
            queue,
        })
    }

    fn storage(&self, size: u64) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::VERTEX
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }
}

#[rustfmt::skip] // as in README.md
#[test]
fn one_mesh_from_matrices() -> Result<(), Box<dyn Error>> {
    let program = Program::new()?;
    let Program { adapter, device, queue } = program.clone();
    let storage = |bytes| program.storage(bytes);

    // A triangle, whose last vertex follows the second matrix.
    let positions = &[[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 2.0, 0.0]];
    let normals = &[[0.0, 0.0, 1.0]; 3];
    let joints = &[[0; 4], [0; 4], [1, 0, 0, 0]];
    let weights = &[[1.0, 0.0, 0.0, 0.0]; 3];

    // README
    use skinbench_gpu::{AdoptedMesh, Gpu, Matrices, MeshBuffers, MeshSlices, ShaderChecks};
    use skinbench_kernels::vertex::VertexFormat;

    // Once. Vertices follow up to four matrices.
    let slices = MeshSlices { positions, normals, joints, weights, matrices: 2, ..MeshSlices::default() };
    let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone(), ShaderChecks::Unchecked);
    let format = VertexFormat::default(); // positions and unit normals as floats
    let mesh = AdoptedMesh::from_slices(&gpu, &slices, format)?;
    let (matrices, vertices) = (storage(2 * 64), storage(mesh.instance_bytes()));
    let skinning = mesh.bind(&MeshBuffers {
        instances: 1,
        matrices: Matrices::Columns(matrices.slice(..)), // 4x4, filled by your program
        weights: None, // no morph targets
        list: None, // all instances
        vertices: vertices.slice(..),
    })?;

    // Every frame, in any compute pass.
    let mut encoder = device.create_command_encoder(&Default::default());
    skinning.record_in(&mut encoder.begin_compute_pass(&Default::default()));
    queue.submit([encoder.finish()]);
    // end

    let raised = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0];
    queue.write_buffer(&matrices, 0, bytemuck::cast_slice(&[raised(0.0), raised(4.0)]));
    let mut encoder = device.create_command_encoder(&Default::default());
    skinning.record(&mut encoder);
    queue.submit([encoder.finish()]);
    let mut read = Vec::new();
    gpu.read_back(&vertices.into(), 0, 18, &mut read)?;
    let positions = [&read[..3], &read[6..9], &read[12..15]];
    assert_eq!(positions, [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 6.0, 0.0]]);
    Ok(())
}

/// Also: matrices have the order of the file's joints, so that its vertices may name them.
#[rustfmt::skip] // as in README.md
#[test]
fn the_matrices_of_a_file() -> Result<(), Box<dyn Error>> {
    use skinbench_gpu::{AdoptedMesh, Gpu, Matrices, MeshBuffers, ShaderChecks};
    use skinbench_kernels::vertex::VertexFormat;

    let program = Program::new()?;
    let Program { adapter, device, queue } = program.clone();
    let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone(), ShaderChecks::Unchecked);
    let format = VertexFormat::default();
    let matrices = program.storage(1 << 16);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/models/sprout.glb");

    // README
    use skinbench_kernels::pose::one;

    let model = std::sync::Arc::new(skinbench_formats::load(path)?);
    let mut local_pose = vec![[[0.0]; 10]; model.skeleton().len()];
    let mut model_pose = vec![[[0.0]; 12]; model.skeleton().len()];
    let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
    one::sample(model.skeleton(), model.clips().first(), 0.25, &mut local_pose); // seconds
    one::local_to_model(model.skeleton(), &local_pose, &mut model_pose);
    one::palette(model.palette_joints(), model.inverse_binds(), &model_pose, &mut palette);
    queue.write_buffer(&matrices, 0, bytemuck::cast_slice(&palette)); // Matrices::Rows
    let mesh = AdoptedMesh::new(&gpu, model.clone(), format)?; // draw by model.mesh().indices()
    // end

    let vertices = program.storage(mesh.instance_bytes());
    let bound = mesh.bind(&MeshBuffers {
        instances: 1,
        matrices: Matrices::Rows(matrices.slice(..)),
        weights: None,
        list: None,
        vertices: vertices.slice(..),
    })?;
    let mut encoder = device.create_command_encoder(&Default::default());
    bound.record(&mut encoder);
    queue.submit([encoder.finish()]);
    let mut read = Vec::new();
    gpu.read_back(&vertices.into(), 0, 6 * model.mesh().vertex_count(), &mut read)?;
    let mut crowd = skinbench_kernels::crowd::Crowd::with_format(format);
    let held = skinbench_kernels::crowd::Layer::held(0, 0.25);
    crowd.push_group(model.clone(), [(skinbench_kernels::model::IDENTITY_ROWS, held)])?;
    let exact = skinbench_kernels::reference::reference_vertices(&crowd, 0, 0);
    for (read, exact) in read.iter().zip(&exact) {
        assert!((f64::from(*read) - exact).abs() < 5e-6, "{read}, {exact}");
    }

    // The same joints in another order.
    let mut file = std::fs::read(path)?;
    let joints = br#""joints":[0,1,2,3]"#;
    let at = file.windows(joints.len()).position(|bytes| bytes == joints).ok_or("no joints")?;
    file[at..at + joints.len()].copy_from_slice(br#""joints":[3,1,0,2]"#);
    let other = std::env::temp_dir().join(format!("skinbench-{}.glb", std::process::id()));
    std::fs::write(&other, file)?;
    let model = skinbench_formats::load(&other)?;
    std::fs::remove_file(other)?;
    let names = model.palette_joints().iter().map(|&joint| &*model.skeleton().names()[usize::from(joint)]);
    assert_eq!(names.collect::<Vec<_>>(), ["leaf", "stalk", "root", "tip"]);
    Ok(())
}

#[rustfmt::skip] // as in README.md
#[test]
fn a_crowd_that_plays() -> Result<(), Box<dyn Error>> {
    let program = Program::new()?;
    let Program { adapter, device, queue } = program.clone();
    let checks = skinbench_gpu::ShaderChecks::Unchecked;
    let gpu = skinbench_gpu::Gpu::adopt(&adapter, device.clone(), queue.clone(), checks);
    let storage = |bytes| program.storage(bytes);

    // README
    use skinbench_gpu::{AdoptedCrowd, CANDIDATES};
    use skinbench_kernels::crowd::{Fade, LiveCrowd, LiveGroup, Play};
    use skinbench_kernels::model::{IDENTITY_ROWS, Transform};
    use skinbench_kernels::vertex::{Attributes, Encoding, VertexFormat};

    let model = std::sync::Arc::new(skinbench_characters::walker(1_000)?); // or a file, by skinbench-formats
    let format = VertexFormat { attributes: Attributes::Pnt, encoding: Encoding::Packed, ..VertexFormat::default() };
    let walkers = LiveGroup { inertial: true, ..LiveGroup::new(model.clone(), 100) };
    let mut crowd = LiveCrowd::new(format, vec![walkers], 8)?; // 8 joints may have given poses

    // Once. A large crowd is divided into chunks, as many instances as one binding holds; each has a slice.
    let mut adopted = AdoptedCrowd::new(&gpu, crowd.crowd(), CANDIDATES)?;
    let buffers: Vec<_> = adopted.output_bytes().iter().map(|&bytes| storage(bytes)).collect();
    let slices: Vec<_> = buffers.iter().map(|buffer| buffer.slice(..)).collect();
    let vertices = adopted.bind(&slices)?;

    let hero = crowd.spawn(0, IDENTITY_ROWS, Play::looping(0))?;
    for frame in 0..3 {
        crowd.set_time(f64::from(frame) / 144.0)?; // seconds
        if frame == 1 {
            crowd.play(hero, 0, Play::looping(1).with_fade(Fade::Inertial, 0.3))?;
            crowd.set_joint(hero, 7, Some(Transform::IDENTITY))?; // over the clips: look-at, IK, ragdoll
        }
        let mut encoder = device.create_command_encoder(&Default::default());
        adopted.record(crowd.crowd(), 0, &vertices, &mut encoder); // once per submission; then your draws
        queue.submit([encoder.finish()]);
    }
    // end

    let count = model.mesh().vertex_count();
    assert_eq!(adopted.output_bytes(), [100 * 16 * count as u64]);
    let mut words = Vec::new();
    gpu.read_back(&buffers[0].clone().into(), 0, 4 * count, &mut words)?;
    let exact = skinbench_kernels::reference::reference_vertices(crowd.crowd(), hero.instance, 0);
    for (packed, exact) in words.chunks(4).zip(exact.chunks(10)) {
        let decoded = format.decode(model.mesh().cube(), packed);
        assert!((f64::from(decoded[0]) - exact[0]).abs() < 1e-3, "{decoded:?}, {exact:?}");
    }
    Ok(())
}

#[test]
fn the_readme_shows_these_examples() {
    let readme = include_str!("../README.md");
    let mut examples = 0;
    for part in include_str!("readme.rs").split("    // README\n").skip(1) {
        let (code, _) = part.split_once("    // end\n").expect("an end");
        let lines = code
            .lines()
            .map(|line| line.strip_prefix("    ").unwrap_or(line));
        let block = format!(
            "```rust,ignore\n{}\n```\n",
            lines.collect::<Vec<_>>().join("\n")
        );
        assert!(readme.contains(&block), "README.md lacks:\n{block}");
        examples += 1;
    }
    assert_eq!(examples, 3);
}
