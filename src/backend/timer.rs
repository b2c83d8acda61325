//! What a frame's stages took.

use std::time::Instant;

/// A part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Who is in view.
    Cull,
    /// Clips to local poses.
    Sample,
    /// Layers to one local pose.
    Blend,
    /// Local poses to model poses.
    LocalToModel,
    /// Model poses to palettes.
    Palette,
    /// Host to device.
    Upload,
    /// Palettes to vertices.
    Skin,
    /// Clips to vertices at once, block by block, for backends that fuse them.
    PoseSkin,
    /// Vertices to pixels.
    Draw,
    /// Device to host.
    ReadBack,
    /// The whole, by wall clock, one frame in flight.
    Frame,
    /// From one frame's end to the next one's, two in flight.
    Throughput,
}

impl Stage {
    /// Name in tables and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cull => "cull",
            Self::Sample => "sample",
            Self::Blend => "blend",
            Self::LocalToModel => "local_to_model",
            Self::Palette => "palette",
            Self::Upload => "upload",
            Self::Skin => "skin",
            Self::PoseSkin => "pose_skin",
            Self::Draw => "draw",
            Self::ReadBack => "read_back",
            Self::Frame => "frame",
            Self::Throughput => "throughput",
        }
    }
}

/// What measured a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clock {
    /// The machine's monotonic clock.
    Wall,
    /// What our own threads computed, together: those of a driver are not among them.
    ThreadSum,
    /// Timestamp queries on the device.
    Gpu,
}

impl Clock {
    /// Name in tables and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::ThreadSum => "thread_sum",
            Self::Gpu => "gpu",
        }
    }
}

/// One stage of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Which part.
    pub stage: Stage,
    /// What measured it.
    pub clock: Clock,
    /// Nanoseconds; none if the clock gave a zero or negative difference.
    pub ns: Option<u64>,
}

/// Collects the spans of one frame.
#[derive(Debug, Default)]
pub struct StageTimer {
    spans: Vec<Span>,
}

impl StageTimer {
    /// Times `work` by wall clock.
    pub fn wall<R>(&mut self, stage: Stage, work: impl FnOnce() -> R) -> R {
        let (result, ns) = timed(work);
        self.push(Span { stage, clock: Clock::Wall, ns });
        result
    }

    /// As [`StageTimer::wall`], for a stage that runs part by part: all its parts of a frame are one span.
    pub fn wall_part<R>(&mut self, stage: Stage, work: impl FnOnce() -> R) -> R {
        let (result, ns) = timed(work);
        match self.spans.iter_mut().find(|s| (s.stage, s.clock) == (stage, Clock::Wall)) {
            Some(span) => span.ns = span.ns.into_iter().chain(ns).reduce(|sum, ns| sum + ns),
            None => self.push(Span { stage, clock: Clock::Wall, ns }),
        }
        result
    }

    /// Adds a span measured elsewhere.
    pub fn push(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// The spans since the last [`StageTimer::clear`].
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Starts the next frame; keeps the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
    }
}

/// What `work` gave and took; none if the clock saw nothing.
fn timed<R>(work: impl FnOnce() -> R) -> (R, Option<u64>) {
    let start = Instant::now();
    let result = work();
    let ns = start.elapsed().as_nanos() as u64;
    (result, (ns > 0).then_some(ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn parts_of_a_frame_add_up_in_one_span_a_stage() {
        let mut timer = StageTimer::default();
        timer.push(Span { stage: Stage::Sample, clock: Clock::Gpu, ns: Some(1) });
        for _ in 0..3 {
            timer.wall_part(Stage::Sample, || sleep(Duration::from_millis(2)));
            assert_eq!(timer.wall_part(Stage::Palette, || 7), 7);
        }
        let stages: Vec<_> = timer.spans().iter().map(|s| (s.stage, s.clock)).collect();
        let wall = Clock::Wall;
        assert_eq!(stages, [(Stage::Sample, Clock::Gpu), (Stage::Sample, wall), (Stage::Palette, wall)]);
        assert_eq!(timer.spans()[0].ns, Some(1));
        assert!(timer.spans()[1].ns.unwrap() >= 6_000_000, "{:?}", timer.spans());
        timer.clear();
        assert_eq!(timer.spans(), []);
    }
}
