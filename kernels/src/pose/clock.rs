//! Interface through which a caller measures the pose stages.

/// A stage of posing, in the order in which a crowd goes through them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PoseStage {
    /// Clips to local poses.
    Sample,
    /// The local poses of an instance's layers to one local pose.
    Blend,
    /// Local poses to model poses.
    LocalToModel,
    /// Model poses to palettes.
    Palette,
}

/// Runs pieces of stages, and may time them. Several threads call it concurrently.
pub trait PoseClock: Sync {
    /// Calls `work`, a piece of a stage, exactly once.
    fn run(&self, stage: PoseStage, work: &mut dyn FnMut());
}

/// A clock that measures nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoClock;

impl PoseClock for NoClock {
    fn run(&self, _: PoseStage, work: &mut dyn FnMut()) {
        work();
    }
}
