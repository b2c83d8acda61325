//! Poses on the CPU, as in `cpu-rayon`, and uploads palettes every frame in the form that a shader reads. The threads that
//! pose write them to staging memory, block by block.

use crate::Gpu;
use crate::crowd::table::CrowdTable;
use crate::device::{Command, Staging};
use crate::forms::half_palette;
use crate::forms::palettes::{PaletteForm, Palettes};
use crate::passes::{Frame, Pass};
use skinbench_frame::{Bytes, HostPoser, Job, PaletteLayout, Purpose, Result, Stage};
use skinbench_kernels::blocks::Block;
use skinbench_kernels::crowd::{BLOCK, Crowd};
use skinbench_kernels::device_palette::{self, DeviceForm};
use skinbench_kernels::pose::{BlockPalettes, BlockPoses, CrowdPose, PoseOut, Width};
use skinbench_kernels::simd::{Aligned, Isa};
use skinbench_kernels::threads::{Threads, of_thread};
use std::ops::Range;
use std::sync::Mutex;

/// The pass.
pub struct Upload {
    /// The poses on the host; `None` where buffers are only counted.
    pub host: Option<HostPoser>,
    threads: Threads,
    destination: Destination,
    batches: Vec<UploadedBatch>,
    /// Ranges of the bytes of all palettes that the device keeps from the frame before.
    kept: Vec<Range<usize>>,
    host_memory: Bytes,
}

/// Where palettes go, and in which form.
struct Destination {
    isa: Isa,
    /// The form that the shader reads; `None` if it reads rows, which are uploaded as they are.
    form: Option<DeviceForm>,
    /// One item per group.
    groups: Vec<UploadedGroup>,
    /// A block's converted palettes for each thread; empty if nothing is converted.
    converted: Vec<Mutex<Aligned<f32>>>,
    staging: Staging,
}

/// The palettes of a group in staging memory.
struct UploadedGroup {
    /// Offset of the first palette.
    first: usize,
    /// Bytes of an instance's palette.
    instance_bytes: usize,
    /// For each entry the point that half precision maps exactly; nothing for other forms.
    centres: Vec<[f32; 3]>,
}

/// The palettes of a batch.
struct UploadedBatch {
    palettes: Palettes,
    /// Range of the bytes of all palettes.
    staged: Range<usize>,
}

/// Bytes of palettes that a frame uploads.
pub fn uploaded_bytes(crowd: &Crowd, form: PaletteForm) -> u64 {
    if let PaletteForm::Baked(_) = form {
        return 0;
    }
    let mut bytes = 0;
    for group in crowd.groups() {
        bytes += (group.len() * form.instance_bytes(group)) as u64;
    }
    bytes
}

impl Destination {
    /// The range of a block's palettes.
    fn range(&self, crowd: &Crowd, block: &Block) -> Range<usize> {
        let group = &self.groups[block.group];
        let before = block.instances.start - crowd.groups()[block.group].instances.start;
        let first = group.first + before as usize * group.instance_bytes;
        first..first + block.instances.len() * group.instance_bytes
    }

    /// Lists the ranges of blocks that keep their palettes, neighbouring ones as one.
    fn list_kept(&self, crowd: &Crowd, pose: &CrowdPose, kept: &mut Vec<Range<usize>>) {
        kept.clear();
        if !crowd.has_frozen() {
            return;
        }
        for block in pose.blocks().all() {
            if pose.is_idle(block) {
                let range = self.range(crowd, block);
                match kept.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => kept.push(range),
                }
            }
        }
    }

    /// Computes the palettes of a block and writes them to open staging memory.
    fn take_poses(&self, crowd: &Crowd, poses: &BlockPoses) {
        if self.form.is_some() && poses.are_lanes() {
            poses.in_lanes(|lanes| self.take(crowd, poses.block, BlockPalettes::Lanes(lanes)));
        } else {
            poses.in_rows(|rows| self.take(crowd, poses.block, BlockPalettes::Rows(rows)));
        }
    }

    /// Writes the palettes of a block to open staging memory.
    fn take(&self, crowd: &Crowd, block: &Block, palettes: BlockPalettes) {
        let group = &self.groups[block.group];
        let Range { start: first, .. } = self.range(crowd, block);
        match (self.form, palettes) {
            (None, BlockPalettes::Rows(rows)) => {
                self.staging.write(first, bytemuck::cast_slice(rows));
            }
            (None, BlockPalettes::Lanes(_)) => unreachable!("rows are asked for"),
            (Some(form), palettes) => {
                let instances = block.instances.len();
                let floats = instances * group.instance_bytes / size_of::<f32>();
                let mut converted = of_thread(&self.converted);
                let out = &mut converted[..floats];
                let centres = &group.centres;
                device_palette::convert(self.isa, form, palettes, centres, instances, out);
                self.staging.write(first, bytemuck::cast_slice(out));
            }
        }
    }
}

impl Upload {
    /// Creates a buffer for each batch of a crowd, and adds it to the table.
    ///
    /// # Errors
    /// As [`PaletteForm::check`].
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        form: PaletteForm,
        job: &Job,
    ) -> Result<Self> {
        let mut batches = Vec::with_capacity(table.batches.len());
        let mut end = 0;
        for chunks in &table.batches {
            let begin = end;
            for chunk in &table.chunks[chunks.clone()] {
                let group = &crowd.groups()[chunk.group];
                form.check(gpu, group, chunk.instances.len())?;
                end += chunk.instances.len() * form.instance_bytes(group);
            }
            let palettes = Palettes::new(gpu, form, (end - begin) as u64);
            for bindings in &mut table.bindings[chunks.clone()] {
                bindings.push(palettes.input());
            }
            batches.push(UploadedBatch {
                palettes,
                staged: begin..end,
            });
        }
        let mut groups = Vec::with_capacity(crowd.groups().len());
        let mut first = 0;
        let mut largest = 0;
        for group in crowd.groups() {
            let instance_bytes = form.instance_bytes(group);
            groups.push(UploadedGroup {
                first,
                instance_bytes,
                centres: if form == PaletteForm::Half {
                    half_palette::centres(crowd, group)
                } else {
                    Vec::new()
                },
            });
            first += group.len() * instance_bytes;
            largest = largest.max(instance_bytes);
        }
        let device_form = form.device_form();
        let threads = Threads::All.worth_waking(CrowdPose::estimate(crowd));
        // Gameplay reads all palettes.
        let layout = match (&job.gameplay, device_form) {
            (None, _) => PaletteLayout::Fused,
            (Some(_), None) => PaletteLayout::Rows,
            (Some(_), Some(_)) => PaletteLayout::Lanes,
        };
        let width = Width::Block;
        let block_floats = BLOCK * largest / size_of::<f32>();
        let converters = if device_form.is_some() {
            threads.count()
        } else {
            0
        };
        let host_memory = HostPoser::bytes(crowd, job, layout, width, threads.count())
            + Bytes::of(
                Purpose::Palettes,
                converters as u64 * Aligned::<f32>::bytes(block_floats),
            );
        let isa = Isa::strongest();
        let mut pass = Self {
            host: None,
            threads,
            destination: Destination {
                isa,
                form: device_form,
                groups,
                converted: Vec::new(),
                staging: Staging::default(),
            },
            batches,
            kept: Vec::new(),
            host_memory,
        };
        if !gpu.only_counts() {
            pass.host = Some(HostPoser::new(
                crowd,
                job,
                layout,
                width,
                isa,
                &pass.threads,
            ));
            let converted = &mut pass.destination.converted;
            converted.resize_with(converters, || Mutex::new(Aligned::zeroed(block_floats)));
        }
        Ok(pass)
    }
}

impl Pass for Upload {
    fn record(&mut self, frame: &mut Frame) {
        let Some(host) = &mut self.host else {
            return;
        };
        let Frame { crowd, tick, .. } = *frame;
        let bytes = self.batches.last().map_or(0, |batch| batch.staged.end);
        frame.timer.wall(Stage::Upload, || {
            frame.commands.open(&mut self.destination.staging, bytes);
        });
        let destination = &self.destination;
        if host.rows.is_empty() {
            // Staging memory has the place of a block, so blocks share nothing out.
            let out = PoseOut {
                out: &mut [],
                first: &|_| 0,
                take: &|poses, _| destination.take_poses(crowd, poses),
            };
            let pose = &mut host.crowd_pose;
            frame.timer.pose(pose, crowd, tick, &self.threads, out);
        } else {
            host.pose(crowd, tick, &self.threads, frame.timer);
            let blocks = host.crowd_pose.blocks();
            let palettes = host.palettes();
            // `take` knows the place of a block, so blocks share nothing out.
            let no_share: &mut [()] = &mut [];
            frame.timer.wall(Stage::Palette, || {
                blocks.each(
                    crowd,
                    no_share,
                    |_| 0,
                    |block, _, _| {
                        if !host.crowd_pose.is_idle(block) {
                            destination.take(crowd, block, palettes.of(block));
                        }
                    },
                );
            });
        }
        frame.timer.wall(Stage::Upload, || {
            destination.list_kept(crowd, &host.crowd_pose, &mut self.kept);
        });
        let staging = &mut self.destination.staging;
        frame.timer.wall(Stage::Upload, || {
            staging.close();
            frame.commands.run(Command::Stage(Stage::Upload));
            for UploadedBatch { palettes, staged } in &self.batches {
                let staged = staged.clone();
                palettes.upload(frame.commands, staging, staged, &self.kept);
            }
            frame.commands.run(Command::EndStage);
        });
    }

    fn host_memory(&self) -> Bytes {
        self.host_memory
    }
}
