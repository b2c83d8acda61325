//! The crowd's file, and the time of an instance in its clip.

use bevy::ecs::component::Component;
use std::path::Path;

/// The clip of an instance, and its position in it.
#[derive(Component, Clone, Copy)]
pub struct Instance {
    /// Index of its clip.
    pub clip: u32,
    phase: u32,
    step: u32,
    base: f32,
    scale: f32,
}

impl Instance {
    /// Seconds in its clip at a tick.
    pub fn time(&self, tick: u32) -> f32 {
        let cycle = self.phase.wrapping_add(self.step.wrapping_mul(tick));
        (cycle >> 8) as f32 * self.scale + self.base
    }
}

/// Reads 20 bytes per instance.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path) -> Result<Vec<Instance>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let instance = |&[clip, phase, step, base, scale]: &[u32; 5]| Instance {
        clip,
        phase,
        step,
        base: f32::from_bits(base),
        scale: f32::from_bits(scale),
    };
    Ok(words.as_chunks::<5>().0.iter().map(instance).collect())
}
