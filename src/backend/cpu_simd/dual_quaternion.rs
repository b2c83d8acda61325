//! `cpu-simd:dual-quaternion`: 16 instances side by side, joints blended as dual quaternions.

use super::super::cpu::{BlockJob, Cpu, Layout, Skinner};
use super::super::{Backend, BackendError, Blending, Context, Result};
use crate::crowd::Crowd;
use crate::model::{Channel, Clip, Model, rows_to_affine};
use crate::simd::{Aligned, Isa};
use crate::skin::{DualQuaternion, dual_quaternions, skin_dual_quaternions};
use crate::threads::Threads;
use glam::DMat3;
use std::sync::{Mutex, PoisonError};

/// How far scales of one joint may differ, relative to the largest.
const EVEN: f64 = 1e-5;

/// A block's palette as dual quaternions.
struct DualQuaternions {
    palette: Mutex<Aligned<DualQuaternion>>,
}

pub fn create(context: &Context) -> Result<Box<dyn Backend>> {
    Ok(Cpu::<DualQuaternions>::create("cpu-simd:dual-quaternion", context, Threads::One))
}

impl DualQuaternions {
    fn entries(crowd: &Crowd) -> usize {
        crowd.groups().iter().map(|g| g.model.palette_joints().len()).max().unwrap_or(0)
    }
}

impl Skinner for DualQuaternions {
    const LAYOUT: Layout = Layout::Lanes;
    const BLENDING: Blending = Blending::DualQuaternion;

    fn new(crowd: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self { palette: Mutex::new(Aligned::zeroed(Self::entries(crowd))) })
    }

    fn bytes(crowd: &Crowd) -> u64 {
        Aligned::<DualQuaternion>::bytes(Self::entries(crowd))
    }

    fn check(crowd: &Crowd, _: Isa) -> Result<()> {
        scales_evenly(crowd)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        // One thread: nobody waits.
        let mut palette = self.palette.lock().unwrap_or_else(PoisonError::into_inner);
        let palette = &mut palette[..job.lanes.len()];
        dual_quaternions(job.lanes, palette);
        skin_dual_quaternions(job.isa, job.group.model.mesh(), palette, job.group.format, job.store, out);
    }
}

/// Refuses a crowd that dual quaternions cannot skin.
pub fn scales_evenly(crowd: &Crowd) -> Result<()> {
    match crowd.groups().iter().find_map(|g| uneven(&g.model)) {
        Some(problem) => Err(BackendError::Unavailable(format!("takes no uneven scale: {problem}"))),
        None => Ok(()),
    }
}

/// A clip's scales, and whose they are.
fn scales(clip: &Clip) -> impl Iterator<Item = (u16, [f32; 3])> {
    // A cubic key is in-tangent, value, out-tangent: even tangents keep even values even.
    let raw = clip.keys().raw().into_iter().flat_map(|raw| {
        let tracks = raw.tracks().iter().filter(|t| t.channel == Channel::Scale);
        tracks.flat_map(|track| raw.values_of(track).as_chunks::<3>().0.iter().map(|&scale| (track.joint, scale)))
    });
    let compact = clip.keys().compact().into_iter().flat_map(|compact| {
        let still = compact.still.iter().filter(|s| s.channel == Channel::Scale);
        let frame = |index| compact.tracks.iter().zip(compact.frame(index));
        let keys = (0..compact.frames as usize).flat_map(frame).filter(|(track, _)| track.channel == Channel::Scale);
        still
            .map(|s| (s.joint, [s.value[0], s.value[1], s.value[2]]))
            .chain(keys.map(|(track, key)| (track.joint, track.vector(*key))))
    });
    raw.chain(compact)
}

/// Where a model scales unevenly, or mirrors, if it does.
fn uneven(model: &Model) -> Option<String> {
    let differ = |s: [f64; 3]| {
        let largest = s.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        s.iter().any(|v| (v - s[0]).abs() > EVEN * largest)
    };
    let name = |joint: usize| &model.skeleton().names()[joint];
    let skeleton = model.skeleton();
    if let Some(joint) = skeleton.rest().iter().position(|r| differ(r.scale.to_array().map(f64::from))) {
        return Some(format!("joint {:?} of {:?} at rest", name(joint), model.name()));
    }
    for clip in model.clips() {
        if let Some((joint, _)) = scales(clip).find(|(_, scale)| differ(scale.map(f64::from))) {
            let joint = name(joint.into());
            return Some(format!("joint {joint:?} of {:?} in clip {:?}", model.name(), clip.name()));
        }
    }
    let sheared = |m: DMat3| {
        let product = m.transpose() * m;
        let size = product.x_axis.x;
        m.determinant() <= 0.0
            || (0..3).any(|c| (product.col(c) - DMat3::IDENTITY.col(c) * size).length() > 10.0 * EVEN * size)
    };
    let matrices = skeleton.matrices().iter().map(|(joint, rows)| (usize::from(*joint), rows));
    let binds = model.palette_joints().iter().map(|&j| usize::from(j)).zip(model.inverse_binds());
    let found = matrices.chain(binds).find(|(_, rows)| sheared(rows_to_affine(rows).matrix3));
    found.map(|(joint, _)| format!("the matrix of joint {:?} of {:?}", name(joint), model.name()))
}
