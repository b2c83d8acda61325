//! Computes the weights of morph targets on the host, and uploads them.

use crate::crowd::table::CrowdTable;
use crate::device::{Buffer, fits, named};
use crate::forms::morph::{MorphForm, deltas};
use crate::passes::{Frame, Pass};
use crate::{Chunk, Gpu};
use skinbench_frame::{Bytes, Purpose, Result, Stage};
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::morph::weights_of;
use skinbench_kernels::threads::Threads;

/// The pass.
pub struct Morph {
    form: MorphForm,
    /// One item per chunk.
    weights: Vec<ChunkWeights>,
}

/// Weights of a chunk's instances.
struct ChunkWeights {
    chunk: Chunk,
    buffer: Buffer,
    staged: Vec<f32>,
}

impl Morph {
    /// Uploads the deltas of a crowd's models and makes room for weights.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the deltas of a model or the weights of a
    /// chunk exceed what the adapter binds.
    pub fn new(gpu: &Gpu, crowd: &Crowd, table: &mut CrowdTable, form: MorphForm) -> Result<Self> {
        form.check(gpu, crowd)?;
        let groups = crowd.groups().iter();
        let deltas: Vec<_> = groups.map(|group| deltas(gpu, group, form)).collect();
        let mut weights = Vec::with_capacity(table.chunks.len());
        for (chunk, bindings) in table.chunks.iter().zip(&mut table.bindings) {
            let group = &crowd.groups()[chunk.group];
            let words = form.instance_words(group);
            let mut staged = vec![0.0; form.head_words() + chunk.instances.len() * words];
            staged[0] = (if form.has_lists() { words / 2 } else { words }) as f32;
            let bytes = size_of_val(&staged[..]) as u64;
            let what = format_args!("weights of {:?} need", group.model.name());
            fits(what, bytes, "at once", gpu.binding_bytes())?;
            let buffer = gpu.scratch(Purpose::Scratch, "morph weights", bytes);
            bindings.push(deltas[chunk.group].clone());
            bindings.push(named("morph_weights", &buffer));
            weights.push(ChunkWeights {
                chunk: chunk.clone(),
                buffer,
                staged,
            });
        }
        Ok(Self { form, weights })
    }
}

impl Pass for Morph {
    fn record(&mut self, frame: &mut Frame) {
        let form = self.form;
        let crowd = frame.crowd;
        let tick = frame.tick;
        frame.timer.wall(Stage::Morph, || {
            for ChunkWeights { chunk, staged, .. } in &mut self.weights {
                let group = &crowd.groups()[chunk.group];
                if !group.has_targets() {
                    continue;
                }
                let all = &mut staged[form.head_words()..];
                Threads::All.each(all, form.instance_words(group), |number, words| {
                    let instance = chunk.instances.start + number as u32;
                    set_weights(form, crowd, group, instance, tick, words);
                });
            }
        });
        frame.timer.wall(Stage::Upload, || {
            for ChunkWeights { buffer, staged, .. } in &self.weights {
                frame.commands.upload(buffer, bytemuck::cast_slice(staged));
            }
        });
    }

    fn host_memory(&self) -> Bytes {
        let bytes = self
            .weights
            .iter()
            .map(|weights| size_of_val(&weights.staged[..]));
        Bytes::of(Purpose::Scratch, bytes.sum::<usize>() as u64)
    }
}

/// Writes an instance's weights: one per target, or the number of active ones and the list of them.
fn set_weights(
    form: MorphForm,
    crowd: &Crowd,
    group: &Group,
    instance: u32,
    tick: u32,
    words: &mut [f32],
) {
    let targets = group.model.mesh().targets().len();
    // The list grows from the front and never reaches a weight that is still to be read.
    let first = if form.has_lists() {
        words.len() - targets
    } else {
        0
    };
    weights_of(crowd, &group.model, instance, tick, &mut words[first..]);
    if form.has_lists() {
        let mut count = 0;
        for target in 0..targets {
            let weight = words[first + target];
            if weight != 0.0 {
                count += 1;
                words[2 * count..2 * count + 2].copy_from_slice(&[target as f32, weight]);
            }
        }
        words[..2].copy_from_slice(&[count as f32, 0.0]);
    }
}
