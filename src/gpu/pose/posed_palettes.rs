//! Palettes posed on the CPU, as in `cpu-rayon`, and uploaded every frame in the form that a shader reads.

use crate::crowd::Crowd;
use crate::frame::{
    Approximation, Bytes, FrameInput, HostPoser, Job, PaletteLayout, Purpose, Result, Stage,
    StageTimer,
};
use crate::gameplay::GameplayData;
use crate::gpu::device::{Command, Recorder};
use crate::gpu::pose::{PaletteSource, Poser, half_palette};
use crate::gpu::{Chunk, Commands, Gpu, PaletteForm, Palettes};
use crate::pose::{CrowdPose, PoseData, Width};
use crate::simd::Isa;
use crate::threads::Threads;
use rayon::prelude::*;
use std::ops::Range;

/// A crowd's poses on the host and its palettes on the device.
pub struct PosedPalettes {
    /// The poses on the host, and the numbers that rows are converted to; `None` where buffers are only counted.
    host: Option<(HostPoser, Vec<f32>)>,
    threads: Threads,
    form: PaletteForm,
    /// For each group and entry the point that half precision maps exactly; nothing for other forms.
    centres: Vec<Vec<[f32; 3]>>,
    /// Each buffer, and the range of bytes that it holds of the rows, or of the converted numbers if rows are
    /// converted.
    buffers: Vec<(Palettes, Range<usize>)>,
}

impl PosedPalettes {
    /// Bytes of palettes that a frame uploads.
    pub fn uploaded(crowd: &Crowd, form: PaletteForm) -> u64 {
        match form {
            PaletteForm::Baked(_) => 0,
            _ => crowd
                .groups()
                .iter()
                .map(|g| g.len() as u64 * form.instance_bytes(g))
                .sum(),
        }
    }

    /// Creates a buffer for each part of a crowd: the neighbouring chunks that share it.
    pub fn source(
        gpu: &Gpu,
        crowd: &Crowd,
        parts: &[Vec<Chunk>],
        form: PaletteForm,
        job: &Job,
    ) -> PaletteSource {
        let half = form == PaletteForm::Half;
        let centres = |group| {
            if half {
                half_palette::centres(crowd, group)
            } else {
                Vec::new()
            }
        };
        let centres = crowd.groups().iter().map(centres).collect();
        let mut end = 0;
        let buffers = parts.iter().map(|chunks| {
            let of_chunk = |chunk: &Chunk| {
                form.instance_bytes(&crowd.groups()[chunk.group]) * chunk.instances.len() as u64
            };
            let (begin, bytes) = (end, chunks.iter().map(of_chunk).sum::<u64>());
            end += bytes as usize;
            (Palettes::uploaded(gpu, form, bytes), begin..end)
        });
        let buffers: Vec<_> = buffers.collect();
        let floats = crowd
            .groups()
            .iter()
            .map(|group| group.len() * form.converted(group))
            .sum::<usize>();
        let threads = Threads::All.worth_waking(CrowdPose::estimate(crowd));
        let (layout, width) = (PaletteLayout::Rows, Width::for_rows(crowd));
        let host = (!gpu.only_counts()).then(|| {
            let poser = HostPoser::new(crowd, job, layout, width, Isa::strongest(), &threads);
            (poser, vec![0.0; floats])
        });
        let host_memory = HostPoser::bytes(crowd, job, layout, width, threads.count())
            + Bytes::of(Purpose::Palettes, (floats * size_of::<f32>()) as u64);
        let approximation = half.then(|| half_palette::approximation(crowd));
        let stated =
            |a: &Approximation| format!("vertices off by at most {:.1e} of the size", a.position);
        PaletteSource {
            chunks: buffers
                .iter()
                .map(|(palettes, _)| palettes.clone())
                .collect(),
            label: approximation.as_ref().map(stated),
            host_memory,
            poses: None,
            approximation,
            exact_unless_baked: false,
            in_view: None,
            poser: Box::new(Self {
                host,
                threads,
                form,
                centres,
                buffers,
            }),
        }
    }
}

impl Poser for PosedPalettes {
    fn submit(
        &mut self,
        _: &Gpu,
        frame: &FrameInput,
        timer: &mut StageTimer,
        commands: &mut Commands,
    ) {
        let Self {
            host,
            threads,
            form,
            centres,
            buffers,
        } = self;
        let Some((poser, converted)) = host else {
            return;
        };
        poser.pose(frame.crowd, frame.tick, threads, timer);
        let rows = &poser.rows[..];
        if !converted.is_empty() {
            timer.wall(Stage::Palette, || {
                let (mut row, mut float) = (0, 0);
                for (group, centres) in frame.crowd.groups().iter().zip(&*centres) {
                    let (entries, floats) =
                        (group.model.palette_joints().len(), form.converted(group));
                    let rows = &rows[row..][..group.len() * entries];
                    let out = &mut converted[float..][..group.len() * floats];
                    (row, float) = (row + rows.len(), float + out.len());
                    rows.par_chunks(entries)
                        .zip(out.par_chunks_mut(floats))
                        .for_each(|(rows, out)| form.convert(rows, centres, out));
                }
            });
        }
        timer.wall(Stage::Upload, || {
            commands.run(Command::Stage(Stage::Upload.name()));
            let all: &[u8] = if converted.is_empty() {
                bytemuck::cast_slice(rows)
            } else {
                bytemuck::cast_slice(converted)
            };
            for (palettes, held) in &*buffers {
                palettes.upload(commands, &all[held.clone()]);
            }
            commands.run(Command::EndStage);
        });
    }

    fn gameplay(&self) -> Option<&GameplayData> {
        self.host.as_ref()?.0.gameplay()
    }

    fn read_poses(
        &self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        if let Some((poser, _)) = &self.host {
            poser.read(crowd, what, instances, out);
        }
        Ok(())
    }
}
