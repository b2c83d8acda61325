//! Poses on the CPU, as in `cpu-rayon`, and uploads palettes every frame in the form that a shader reads.

use crate::Gpu;
use crate::crowd::table::CrowdTable;
use crate::device::Command;
use crate::forms::half_palette;
use crate::forms::palettes::{PaletteForm, Palettes};
use crate::passes::{Frame, Interface, Pass};
use skinbench_frame::{Bytes, HostPoser, Job, PaletteLayout, Purpose, Result, Stage};
use skinbench_kernels::blocks::Block;
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::device_palette::{self, DeviceForm};
use skinbench_kernels::pose::{BlockPalettes, CrowdPose, PaletteOut, Width};
use skinbench_kernels::simd::{Aligned, Isa};
use skinbench_kernels::threads::Threads;
use std::ops::Range;

/// The pass.
pub struct Upload {
    /// The poses on the host; `None` where buffers are only counted.
    pub host: Option<HostPoser>,
    threads: Threads,
    /// What palettes are converted to.
    form: Option<DeviceForm>,
    /// One item per group.
    conversions: Vec<Conversion>,
    /// The numbers that rows are converted to; empty if they are uploaded as they are.
    converted: Aligned<f32>,
    spans: Vec<UploadedSpan>,
    host_memory: Bytes,
}

/// How a group's palettes are converted.
struct Conversion {
    /// Index of the group's first number.
    first: usize,
    /// Numbers of an instance.
    floats: usize,
    /// For each entry the point that half precision maps exactly; nothing for other forms.
    centres: Vec<[f32; 3]>,
}

/// The palettes of a span.
struct UploadedSpan {
    palettes: Palettes,
    /// Range of the bytes of all palettes.
    held: Range<usize>,
}

/// Bytes of palettes that a frame uploads.
pub fn uploaded_bytes(crowd: &Crowd, form: PaletteForm) -> u64 {
    if let PaletteForm::Baked(_) = form {
        return 0;
    }
    let groups = crowd.groups().iter();
    groups
        .map(|group| group.len() as u64 * form.instance_bytes(group))
        .sum()
}

impl Upload {
    /// Creates a buffer for each span of a crowd, and adds it to the table.
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
        let mut spans = Vec::with_capacity(table.spans.len());
        let mut end = 0;
        for index in 0..table.spans.len() {
            let begin = end;
            for chunk in table.span(index) {
                let group = &crowd.groups()[chunk.group];
                form.check(gpu, group, chunk.instances.len())?;
                end += chunk.instances.len() * form.instance_bytes(group) as usize;
            }
            let palettes = Palettes::uploaded(gpu, form, (end - begin) as u64);
            table.bindings[index].extend(palettes.inputs());
            spans.push(UploadedSpan {
                palettes,
                held: begin..end,
            });
        }
        let mut conversions = Vec::with_capacity(crowd.groups().len());
        let mut numbers = 0;
        for group in crowd.groups() {
            let floats = form.converted(group);
            conversions.push(Conversion {
                first: numbers,
                floats,
                centres: if form == PaletteForm::Half {
                    half_palette::centres(crowd, group)
                } else {
                    Vec::new()
                },
            });
            numbers += group.len() * floats;
        }
        let threads = Threads::All.worth_waking(CrowdPose::estimate(crowd));
        // Gameplay reads rows after they were converted.
        let layout = if numbers > 0 && job.gameplay.is_none() {
            PaletteLayout::Fused
        } else {
            PaletteLayout::Rows
        };
        let width = Width::Block;
        let host_memory = HostPoser::bytes(crowd, job, layout, width, threads.count())
            + Bytes::of(Purpose::Palettes, Aligned::<f32>::bytes(numbers));
        let mut pass = Self {
            host: None,
            threads,
            form: form.device_form(),
            conversions,
            converted: Aligned::zeroed(0),
            spans,
            host_memory,
        };
        if !gpu.only_counts() {
            let isa = Isa::strongest();
            pass.host = Some(HostPoser::new(
                crowd,
                job,
                layout,
                width,
                isa,
                &pass.threads,
            ));
            pass.converted = Aligned::zeroed(numbers);
        }
        Ok(pass)
    }
}

impl Pass for Upload {
    fn interface(&self) -> Interface {
        Interface {
            stages: &[Stage::Upload],
            inputs: &[],
            outputs: &["palettes", "shown"],
        }
    }

    fn record(&mut self, frame: &mut Frame) {
        let Some(host) = &mut self.host else {
            return;
        };
        let Frame { crowd, tick, .. } = *frame;
        let isa = host.isa;
        let first = |block: &Block| {
            let group = &crowd.groups()[block.group];
            let before = (block.instances.start - group.instances.start) as usize;
            let conversion = &self.conversions[block.group];
            conversion.first + before * conversion.floats
        };
        let convert =
            |form: DeviceForm, block: &Block, palettes: BlockPalettes, out: &mut [f32]| {
                let centres = &self.conversions[block.group].centres;
                device_palette::convert(isa, form, palettes, centres, block.instances.len(), out);
            };
        match self.form {
            None => host.pose(crowd, tick, &self.threads, frame.timer),
            Some(form) if host.rows.is_empty() => {
                let out = PaletteOut::Converted {
                    out: &mut self.converted,
                    first: &first,
                    convert: &|block, palettes, out| convert(form, block, palettes, out),
                };
                let pose = &mut host.crowd_pose;
                frame.timer.pose(pose, crowd, tick, &self.threads, out);
            }
            Some(form) => {
                host.pose(crowd, tick, &self.threads, frame.timer);
                let blocks = host.crowd_pose.blocks();
                let palettes = host.palettes();
                let out = &mut self.converted[..];
                frame.timer.wall(Stage::Palette, || {
                    blocks.each(crowd, out, first, |block, _, out| {
                        convert(form, block, palettes.of(crowd, block), out);
                    });
                });
            }
        }
        let bytes: &[u8] = if self.converted.is_empty() {
            bytemuck::cast_slice(&host.rows)
        } else {
            bytemuck::cast_slice(&self.converted)
        };
        frame.timer.wall(Stage::Upload, || {
            frame.commands.run(Command::Stage(Stage::Upload.name()));
            for span in &self.spans {
                let palettes = &bytes[span.held.clone()];
                span.palettes.upload(frame.commands, palettes);
            }
            frame.commands.run(Command::EndStage);
        });
    }

    fn host_memory(&self) -> Bytes {
        self.host_memory
    }
}
