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

    // README
    use skinbench_gpu::{AdoptedMesh, COLUMNS, Gpu, MeshSlices, ShaderChecks};
    use skinbench_kernels::vertex::VertexFormat;

    // A triangle, whose last vertex follows the second of two matrices.
    let triangle = MeshSlices {
        positions: &[[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 2.0, 0.0]],
        normals: &[[0.0, 0.0, 1.0]; 3],
        tangents: &[], // the format has none
        joints: &[[0; 4], [0; 4], [1, 0, 0, 0]],
        weights: &[[1.0, 0.0, 0.0, 0.0]; 3],
        matrices: 2, // for each instance, as u32
    };

    // Once. Frames write to two slices in turn, so that motion vectors find the last frame's vertices in the other one.
    let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone(), ShaderChecks::Unchecked);
    let matrices = storage(2 * 64); // 4x4, by columns; filled by your program
    let format = VertexFormat::default(); // positions and unit normals as floats
    let mesh = AdoptedMesh::from_slices(&gpu, &triangle, format, 1, matrices.slice(..), &COLUMNS)?;
    let vertices = storage(512);
    let turns = [mesh.bind(vertices.slice(..256))?, mesh.bind(vertices.slice(256..))?];

    for frame in 0..3 {
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default()); // your other dispatches may share it
        mesh.record_in(&turns[frame % 2], &mut pass);
        drop(pass);
        queue.submit([encoder.finish()]);
    }
    // end

    let raised = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0];
    queue.write_buffer(&matrices, 0, bytemuck::cast_slice(&[raised(0.0), raised(4.0)]));
    for (turn, bound) in turns.iter().enumerate() {
        let mut encoder = device.create_command_encoder(&Default::default());
        mesh.record(bound, &mut encoder);
        queue.submit([encoder.finish()]);
        let mut read = Vec::new();
        gpu.read_back(&vertices.clone().into(), 64 * turn as u64, 18, &mut read)?;
        let positions = [&read[..3], &read[6..9], &read[12..15]];
        assert_eq!(positions, [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 6.0, 0.0]]);
    }
    Ok(())
}

#[rustfmt::skip] // as in README.md
#[test]
fn a_crowd_that_plays() -> Result<(), Box<dyn Error>> {
    let program = Program::new()?;
    let Program { adapter, device, queue } = program.clone();
    let storage = |bytes| program.storage(bytes);

    // README
    use skinbench_gpu::{AdoptedCrowd, CANDIDATES, Gpu, ShaderChecks};
    use skinbench_kernels::crowd::{Fade, LiveCrowd, LiveGroup, Play};
    use skinbench_kernels::model::{IDENTITY_ROWS, Transform};
    use skinbench_kernels::vertex::{Attributes, Encoding, VertexFormat};

    let model = std::sync::Arc::new(skinbench_characters::walker(1_000)?); // or a file, by skinbench-formats
    let format = VertexFormat { attributes: Attributes::Pnt, encoding: Encoding::Packed, ..VertexFormat::default() };
    let walkers = LiveGroup { inertial: true, ..LiveGroup::new(model.clone(), 100) };
    let mut crowd = LiveCrowd::new(format, vec![walkers], 8)?; // 8 joints may have given poses

    // Once. A large crowd is divided into chunks, as many instances as one binding holds; each has a slice.
    let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone(), ShaderChecks::Unchecked);
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
    assert_eq!(examples, 2);
}
