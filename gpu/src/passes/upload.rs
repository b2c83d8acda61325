//! Poses on the CPU, as in `cpu-rayon`, and uploads palettes every frame in the form that a shader reads.

use crate::Gpu;
use crate::crowd::table::CrowdTable;
use crate::device::Command;
use crate::forms::half_palette;
use crate::forms::palettes::{PaletteForm, Palettes};
use crate::passes::{Frame, Interface, Pass};
use rayon::prelude::*;
use skinbench_frame::{Bytes, HostPoser, Job, PaletteLayout, Purpose, Result, Stage};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::model::Rows;
use skinbench_kernels::pose::{CrowdPose, Width};
use skinbench_kernels::simd::Isa;
use skinbench_kernels::threads::Threads;
use std::ops::Range;

/// The pass.
pub struct Upload {
    /// The poses on the host; `None` where buffers are only counted.
    pub host: Option<HostPoser>,
    threads: Threads,
    form: PaletteForm,
    /// For each group and entry the point that half precision maps exactly; nothing for other forms.
    centres: Vec<Vec<[f32; 3]>>,
    /// The numbers that rows are converted to; empty if they are uploaded as they are.
    converted: Vec<f32>,
    spans: Vec<UploadedSpan>,
    host_memory: Bytes,
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
        let groups = crowd.groups().iter();
        let floats: usize = groups
            .map(|group| group.len() * form.converted(group))
            .sum();
        let mut centres = vec![Vec::new(); crowd.groups().len()];
        if form == PaletteForm::Half {
            for (centres, group) in centres.iter_mut().zip(crowd.groups()) {
                *centres = half_palette::centres(crowd, group);
            }
        }
        let threads = Threads::All.worth_waking(CrowdPose::estimate(crowd));
        let layout = PaletteLayout::Rows;
        let width = Width::Block;
        let host_memory = HostPoser::bytes(crowd, job, layout, width, threads.count())
            + Bytes::of(Purpose::Palettes, (floats * size_of::<f32>()) as u64);
        let mut pass = Self {
            host: None,
            threads,
            form,
            centres,
            converted: Vec::new(),
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
            pass.converted = vec![0.0; floats];
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
        host.pose(frame.crowd, frame.tick, &self.threads, frame.timer);
        let mut bytes: &[u8] = bytemuck::cast_slice(&host.rows);
        if !self.converted.is_empty() {
            frame.timer.wall(Stage::Palette, || {
                let rows = &host.rows;
                convert(
                    host.isa,
                    self.form,
                    frame.crowd,
                    &self.centres,
                    rows,
                    &mut self.converted,
                );
            });
            bytes = bytemuck::cast_slice(&self.converted);
        }
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

/// Converts the palettes of all instances.
fn convert(
    isa: Isa,
    form: PaletteForm,
    crowd: &Crowd,
    centres: &[Vec<[f32; 3]>],
    mut rows: &[Rows],
    mut out: &mut [f32],
) {
    for (group, centres) in crowd.groups().iter().zip(centres) {
        let entries = group.model.palette_joints().len();
        let floats = form.converted(group);
        let (palettes, other_rows) = rows.split_at(group.len() * entries);
        let (converted, other_floats) = out.split_at_mut(group.len() * floats);
        rows = other_rows;
        out = other_floats;
        palettes
            .par_chunks(entries)
            .zip(converted.par_chunks_mut(floats))
            .for_each(|(rows, out)| form.convert(isa, rows, centres, out));
    }
}
