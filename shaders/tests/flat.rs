//! The example of README.md: a kernel of flat/ on plain wgpu, with nothing else of this repository.

use std::error::Error;

#[rustfmt::skip] // as in README.md
#[test]
fn a_flat_kernel_runs_alone() -> Result<(), Box<dyn Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;

    // README
    use wgpu::{BufferUsages as Usage, util::{BufferInitDescriptor, DeviceExt}};
    let module = device.create_shader_module(wgpu::include_wgsl!("../flat/skin_mesh.wgsl"));
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None, layout: None, module: &module, entry_point: Some("main"),
        compilation_options: Default::default(), cache: None,
    });
    let buffer = |contents: &[f32], usage| device.create_buffer_init(&BufferInitDescriptor {
        label: None, contents: bytemuck::cast_slice(contents), usage,
    });
    let word = f32::from_bits;
    // `Chunk`: one instance, three vertices, two palette entries; no vertex has more than four influences.
    let chunk = [0, 1, 3, 2, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0].map(word);
    // `Vertex`: position, normal, four entries, their weights.
    let vertex = |x, y, entry| [x, y, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, word(entry), 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let raised = |y| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.0]; // three rows
    let output = buffer(&[0.0; 3 * 6], Usage::STORAGE | Usage::COPY_SRC);
    let bound = [
        buffer(&chunk, Usage::UNIFORM),
        buffer(&[vertex(0.0, 0.0, 0), vertex(0.5, 0.0, 0), vertex(0.0, 2.0, 1)].concat(), Usage::STORAGE),
        buffer(&[0.0; 2], Usage::STORAGE), // no influence after a fourth
        buffer(&[0.0; 4], Usage::STORAGE), // no tangent
        buffer(&[raised(0.0), raised(4.0)].concat(), Usage::STORAGE),
        output.clone(),
    ];
    let entries: Vec<_> = (0..).zip(&bound)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }).collect();
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None, layout: &pipeline.get_bind_group_layout(0), entries: &entries,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1); // see skin_mesh.json
    drop(pass);
    queue.submit([encoder.finish()]);
    // end

    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None, size: output.size(), usage: Usage::MAP_READ | Usage::COPY_DST, mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(&output, 0, &read, 0, output.size());
    queue.submit([encoder.finish()]);
    read.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let mapped = read.slice(..).get_mapped_range()?;
    let skinned: &[f32] = bytemuck::cast_slice(&mapped);
    let expected = [[0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 6.0, 0.0, 0.0, 0.0, 1.0]];
    assert_eq!(skinned, expected.concat());
    Ok(())
}

#[test]
fn the_readme_shows_this_example() {
    let source = include_str!("flat.rs");
    let (_, code) = source.split_once("    // README\n").unwrap();
    let (code, _) = code.split_once("    // end\n").unwrap();
    let lines = code
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line));
    let code = lines.collect::<Vec<_>>().join("\n");
    let block = format!(
        "```rust,ignore\n{}\n```\n",
        code.replace("../flat/", "flat/")
    );
    assert!(
        include_str!("../README.md").contains(&block),
        "README.md lacks:\n{block}"
    );
}
