//! Plain `cpu-simd` and `cpu-rayon`: the fastest of several kernels on this machine, for this crowd and with these
//! threads. A trial finds it: in the first frame the kernels write the same output by turns.

use super::super::cpu::Cpu;
use super::super::{Abilities, Backend, Context, Prepared, Skinned, Ticket};
use super::{ClusterSkinner, ColumnsSkinner, MixedSkinner};
use crate::crowd::Crowd;
use crate::frame::{Arena, Bytes, Footprint, FrameInput, Job, Purpose, Result, StageTimer, Traffic};
use crate::gameplay::GameplayData;
use crate::pose::PoseData;
use crate::reference::Blending;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Fewest and most measured rounds of a trial; the shortest frame of each kernel counts. Frames of one character differ by
/// chance more than kernels do, unless there are many.
const ROUNDS: [u32; 2] = [3, 64];
/// Time after which no further round begins.
const TRIAL: Duration = Duration::from_millis(150);

/// Creates the kernels on the calling thread alone.
pub fn one_thread(context: &Context) -> Box<dyn Backend> {
    Box::new(Choosing([
        ("lanes", Cpu::<MixedSkinner>::one_thread(context)),
        ("cluster", Cpu::<ClusterSkinner>::one_thread(context)),
        ("columns", Cpu::<ColumnsSkinner>::one_thread(context)),
    ]))
}

/// Creates the kernels on all threads of the context.
pub fn all_threads(context: &Context) -> Box<dyn Backend> {
    Box::new(Choosing([
        ("lanes", Cpu::<MixedSkinner>::all_threads(context)),
        ("cluster", Cpu::<ClusterSkinner>::all_threads(context)),
        ("columns", Cpu::<ColumnsSkinner>::all_threads(context)),
    ]))
}

/// Number of kernels to choose from.
const KERNELS: usize = 3;

/// Kernels with the names of their variants. All can do the same.
struct Choosing([(&'static str, Box<dyn Backend>); KERNELS]);

impl Backend for Choosing {
    fn abilities(&self) -> Abilities {
        self.0[0].1.abilities()
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        let all = self.0.iter().map(|(_, backend)| backend.footprint(crowd, job)).collect::<Result<Vec<_>>>()?;
        let largest = (0..all.len()).max_by_key(|&kernel| all[kernel].host.total()).unwrap_or_default();
        Ok(beside_others(all[largest], all.iter().map(|footprint| footprint.host).sum()))
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        let prepared = |(name, backend): &(&'static str, Box<dyn Backend>)| Ok((*name, backend.prepare(crowd, job)?));
        let kernels = self.0.iter().map(prepared).collect::<Result<Vec<_>>>()?;
        let all = kernels.iter().map(|(_, kernel)| kernel.footprint(crowd).host).sum();
        Ok(Box::new(Chosen { kernels, all, trial: None }))
    }
}

/// Footprint of a kernel whose trial takes the memory of all.
fn beside_others(kernel: Footprint, all: Bytes) -> Footprint {
    Footprint { host: kernel.host + (all - kernel.host).all_for(Purpose::Staging), ..kernel }
}

/// Kernels with their buffers: all of them before the first frame, then the fastest alone.
struct Chosen {
    kernels: Vec<(&'static str, Box<dyn Prepared>)>,
    /// Bytes of all kernels.
    all: Bytes,
    /// The outcome of the trial.
    trial: Option<String>,
}

impl Chosen {
    fn kernel(&self) -> &dyn Prepared {
        &*self.kernels[0].1
    }

    fn kernel_mut(&mut self) -> &mut dyn Prepared {
        &mut *self.kernels[0].1
    }

    /// Finds the fastest kernel, and frees the memory of the others. Whole frames count: a kernel that skins faster may
    /// read palettes that take longer to make.
    fn choose(&mut self, frame: &mut FrameInput) -> Result<()> {
        let (start, [fewest, most]) = (Instant::now(), ROUNDS);
        let mut least = [Duration::MAX; KERNELS];
        for round in 0..most {
            if round >= fewest && start.elapsed() > TRIAL {
                break;
            }
            for ((_, kernel), least) in self.kernels.iter_mut().zip(&mut least) {
                let mut input = FrameInput { crowd: frame.crowd, tick: frame.tick, arena: frame.arena };
                // As in a run, a measured frame follows one of the same kernel, which leaves its data in the caches.
                kernel.submit(&mut input, &mut StageTimer::default())?.finish()?;
                let start = Instant::now();
                kernel.submit(&mut input, &mut StageTimer::default())?.finish()?;
                *least = start.elapsed().min(*least);
            }
        }
        // A kernel that fails to write a vertex must not pass with that of another.
        frame.arena.poison_host();
        let fastest = (0..KERNELS).min_by_key(|&kernel| least[kernel]).unwrap_or_default();
        let times = self
            .kernels
            .iter()
            .zip(least)
            .map(|((name, _), time)| format!("{name} {:.3} ms", 1e3 * time.as_secs_f64()));
        let times = times.collect::<Vec<_>>().join(", ");
        self.kernels.swap(0, fastest);
        self.kernels.truncate(1);
        self.trial = Some(format!("skins by {}, the fastest in a trial of {times}", self.kernels[0].0));
        Ok(())
    }
}

impl Prepared for Chosen {
    fn device(&self) -> String {
        let device = self.kernel().device();
        match &self.trial {
            Some(outcome) => format!("{device}, {outcome}"),
            None => device,
        }
    }

    fn footprint(&self, crowd: &Crowd) -> Footprint {
        beside_others(self.kernel().footprint(crowd), self.all)
    }

    fn blending(&self) -> Blending {
        self.kernel().blending()
    }

    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        self.kernel_mut().read_gameplay()
    }

    fn gameplay_delay(&self) -> Option<u32> {
        self.kernel().gameplay_delay()
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        self.kernel().traffic(crowd)
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        if self.trial.is_none() {
            self.choose(frame)?;
        }
        self.kernel_mut().submit(frame, timer)
    }

    fn skinned(&self) -> Skinned {
        self.kernel().skinned()
    }

    fn read_poses(&mut self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        self.kernel_mut().read_poses(crowd, what, instances, out)
    }

    fn read_vertices(&mut self, crowd: &Crowd, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        self.kernel_mut().read_vertices(crowd, arena, instances, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::walker::walker;
    use crate::crowd::Layer;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    /// Name and milliseconds of a kernel in the outcome of a trial.
    fn timed(kernel: &str) -> (&str, f64) {
        let (name, time) = kernel.split_once(' ').unwrap();
        (name, time.strip_suffix(" ms").unwrap().parse().unwrap())
    }

    #[test]
    fn the_kernel_with_the_shortest_frame_is_kept_alone() {
        let mut crowd = Crowd::new();
        let instances = (0..40).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
        crowd.push_group(Arc::new(walker(500).unwrap()), instances).unwrap();
        let mut arena = Arena::default();
        arena.allocate_host(&crowd);
        for backend in [one_thread(&Context::default()), all_threads(&Context::default())] {
            let mut prepared = backend.prepare(&crowd, &Job::default()).unwrap();
            assert!(!prepared.device().contains("skins by"), "{}", prepared.device());
            arena.poison_host();
            let mut frame = FrameInput { crowd: &crowd, tick: 7, arena: &mut arena };
            prepared.submit(&mut frame, &mut StageTimer::default()).unwrap().finish().unwrap();
            assert!(arena.host.iter().all(|number| number.is_finite()));

            let device = prepared.device();
            let (name, times) =
                device.split_once("skins by ").unwrap().1.split_once(", the fastest in a trial of ").unwrap();
            let times: Vec<_> = times.split(", ").map(timed).collect();
            assert_eq!(times.len(), KERNELS, "{device}");
            let least = times.iter().map(|(_, time)| *time).fold(f64::MAX, f64::min);
            assert!(times.contains(&(name, least)) && least > 0.0, "{device}");
            let host = prepared.footprint(&crowd).host;
            assert!(host.get(Purpose::Staging) > host.total() / 4, "{host:?}");
        }
    }
}
