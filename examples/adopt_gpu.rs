//! Skins on the device of a plain wgpu program, which draws the vertices with a pipeline of its own: one walker from a
//! buffer of matrices that the program fills, and a crowd that the device poses. Writes a picture to the file named by its
//! argument, if there is one. `cargo run --release --no-default-features --features gpu --example adopt_gpu -- PICTURE.png`

use skinbench::characters::walker;
use skinbench::crowd::{Crowd, Layer};
use skinbench::gpu::{
    AdoptedCrowd, AdoptedMesh, CANDIDATES, Gpu, Matrices, MeshBuffers, ShaderChecks, wgpu,
};
use skinbench::model::{IDENTITY_ROWS, Model};
use skinbench::pose;
use skinbench::reference::reference_vertices;
use skinbench::vertex::VertexFormat;
use std::error::Error;
use std::sync::Arc;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 256;
/// Walkers of the crowd, in a row behind the one that the program poses.
const WALKERS: u32 = 7;
/// The tick that is drawn.
const TICK: u32 = 20;
/// Floats of a vertex: position and normal.
const FLOATS: usize = 6;

/// Shaders of the program: the walker with the number of the instance, lit from above.
const WGSL: &str = "
struct Corner { @builtin(position) place: vec4f, @location(0) normal: vec3f }

@vertex fn vertex(@location(0) position: vec3f, @location(1) normal: vec3f, @builtin(instance_index) number: u32) -> Corner {
    let at = position + vec3f(f32(number) - 3.5, -0.9, 0.0);
    // x to the right, y up, z towards the eye.
    return Corner(vec4f(at.x * 0.25, at.y * 0.9, 0.5 - 0.1 * at.z, 1.0), normal);
}

@fragment fn fragment(corner: Corner) -> @location(0) vec4f {
    let light = 0.5 + 0.5 * dot(normalize(corner.normal), normalize(vec3f(0.3, 0.8, 0.6)));
    return vec4f(vec3f(0.9, 0.7, 0.5) * light, 1.0);
}";

fn main() -> Result<(), Box<dyn Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let options = wgpu::RequestAdapterOptions::default();
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&options)) else {
        println!("no adapter: nothing was measured");
        return Ok(());
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    let checks = ShaderChecks::Unchecked;
    let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone(), checks);
    let model = Arc::new(walker(1_000)?);
    let vertex_count = model.mesh().vertex_count();
    let usage = wgpu::BufferUsages::STORAGE
        | wgpu::BufferUsages::VERTEX
        | wgpu::BufferUsages::COPY_SRC
        | wgpu::BufferUsages::COPY_DST;
    let buffer = |size| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };

    // One walker: the program computes its matrices.
    let palette = posed(&model, TICK as f32 / 60.0);
    let matrices = buffer(size_of_val(&palette[..]) as u64);
    queue.write_buffer(&matrices, 0, bytemuck::cast_slice(&palette));
    let format = VertexFormat::default();
    let mesh = AdoptedMesh::new(&gpu, Arc::clone(&model), format)?;
    let one = buffer(mesh.instance_bytes());
    let bound = mesh.bind(&MeshBuffers {
        instances: 1,
        matrices: Matrices::Rows(matrices.slice(..)),
        weights: None,
        list: None,
        vertices: one.slice(..),
    })?;

    // A crowd: the device poses it. Each walker is an eighth of the clip ahead of the one before.
    let mut crowd = Crowd::with_format(format);
    let walkers = (0..WALKERS).map(|number| {
        let layer = Layer::looping(&model, 0, number << 29, 1.0);
        (IDENTITY_ROWS, layer)
    });
    crowd.push_group(Arc::clone(&model), walkers)?;
    let mut walking = AdoptedCrowd::new(&gpu, &crowd, CANDIDATES)?;
    let sizes = walking.output_bytes().iter();
    let chunks: Vec<wgpu::Buffer> = sizes.map(|&bytes| buffer(bytes)).collect();
    let slices: Vec<_> = chunks.iter().map(|chunk| chunk.slice(..)).collect();
    let outputs = walking.bind(&slices)?;
    let all = &chunks[0];

    // A frame of the program.
    let mut encoder = device.create_command_encoder(&Default::default());
    bound.record(&mut encoder);
    walking.record(&crowd, TICK, &outputs, &mut encoder);
    let drawn = Picture::new(&device, &model);
    drawn.draw(&mut encoder, &one, all, vertex_count);
    queue.submit([encoder.finish()]);

    let mut farthest = 0.0f64;
    let skinned = read(&device, &queue, all)?;
    for (number, words) in (0..).zip(skinned.chunks_exact(vertex_count * FLOATS)) {
        let exact = reference_vertices(&crowd, number, TICK);
        farthest = farthest.max(distance(words, &exact));
    }
    println!("{WALKERS} walkers: off the reference in f64 by at most {farthest:.1e} m");
    let mut alone = Crowd::with_format(format);
    alone.push_group(
        Arc::clone(&model),
        [(IDENTITY_ROWS, Layer::held(0, TICK as f32 / 60.0))],
    )?;
    let off = distance(
        &read(&device, &queue, &one)?,
        &reference_vertices(&alone, 0, 0),
    );
    println!("one mesh: off the reference in f64 by at most {off:.1e} m");
    if let Some(path) = std::env::args().nth(1) {
        let pixels = read(&device, &queue, &drawn.pixels)?;
        let mut picture = png::Encoder::new(std::fs::File::create(path)?, WIDTH, HEIGHT);
        picture.set_color(png::ColorType::Rgba);
        picture
            .write_header()?
            .write_image_data(bytemuck::cast_slice(&pixels))?;
    }
    Ok(())
}

/// The palette of a model's first clip at a time in seconds.
fn posed(model: &Model, time: f32) -> Vec<[f32; 12]> {
    let joints = model.skeleton().len();
    let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; joints];
    let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; joints];
    let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
    let clip = model.clips().first();
    pose::one::sample(model.skeleton(), clip, time, &mut local_pose);
    pose::one::local_to_model(model.skeleton(), &local_pose, &mut model_pose);
    let entries = model.palette_joints();
    pose::one::palette(entries, model.inverse_binds(), &model_pose, &mut palette);
    palette
}

/// Largest distance of positions, in metres.
fn distance(words: &[f32], exact: &[f64]) -> f64 {
    let mut farthest = 0.0f64;
    for (vertex, exact) in words.chunks(FLOATS).zip(exact.chunks(FLOATS)) {
        let mut square = 0.0;
        for axis in 0..3 {
            square += (f64::from(vertex[axis]) - exact[axis]).powi(2);
        }
        farthest = farthest.max(square.sqrt());
    }
    farthest
}

/// The pipeline of this program, and the resources that it binds.
struct Picture {
    pipeline: wgpu::RenderPipeline,
    indices: wgpu::Buffer,
    color: wgpu::Texture,
    depth: wgpu::Texture,
    /// The picture after the frame.
    pixels: wgpu::Buffer,
}

impl Picture {
    fn new(device: &wgpu::Device, model: &Model) -> Self {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(WGSL.into()),
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: (FLOATS * size_of::<f32>()) as u64,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
                })],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(wgpu::TextureFormat::Rgba8UnormSrgb.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let texture = |format, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: SIZE,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let copied = wgpu::TextureUsages::COPY_SRC;
        Self {
            pipeline,
            indices: wgpu::util::DeviceExt::create_buffer_init(
                device,
                &wgpu::util::BufferInitDescriptor {
                    label: None,
                    contents: bytemuck::cast_slice(model.mesh().indices()),
                    usage: wgpu::BufferUsages::INDEX,
                },
            ),
            color: texture(wgpu::TextureFormat::Rgba8UnormSrgb, copied),
            depth: texture(
                wgpu::TextureFormat::Depth32Float,
                wgpu::TextureUsages::empty(),
            ),
            pixels: device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: u64::from(WIDTH * HEIGHT * 4),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
        }
    }

    /// Draws the single walker on the left and the crowd beside it.
    fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        one: &wgpu::Buffer,
        all: &wgpu::Buffer,
        vertex_count: usize,
    ) {
        let color = self.color.create_view(&Default::default());
        let depth = self.depth.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::WHITE),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        let indices = (self.indices.size() / 4) as u32;
        pass.set_pipeline(&self.pipeline);
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.set_vertex_buffer(0, one.slice(..));
        pass.draw_indexed(0..indices, 0, 0..1);
        let bytes = (vertex_count * FLOATS * size_of::<f32>()) as u64;
        for number in 0..WALKERS {
            pass.set_vertex_buffer(0, all.slice(u64::from(number) * bytes..));
            pass.draw_indexed(0..indices, 0, number + 1..number + 2);
        }
        drop(pass);
        encoder.copy_texture_to_buffer(
            self.color.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.pixels,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(WIDTH * 4),
                    rows_per_image: None,
                },
            },
            SIZE,
        );
    }
}

const SIZE: wgpu::Extent3d = wgpu::Extent3d {
    width: WIDTH,
    height: HEIGHT,
    depth_or_array_layers: 1,
};

/// The words of a buffer.
fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    buffer: &wgpu::Buffer,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let mapped = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: buffer.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &mapped, 0, buffer.size());
    queue.submit([encoder.finish()]);
    mapped.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = mapped.slice(..).get_mapped_range()?;
    Ok(bytemuck::pod_collect_to_vec(&bytes))
}
