//! Importer of `.md5anim`: a base pose per joint, and per frame its components that move.

use super::grammar::{ListedJoint, SYNTAX, preamble, tuple, unit_quaternion};
use crate::ImportError;
use crate::fault::{Fault, ensure};
use crate::tokenizer::Scanner;
use crate::tracks::Tracks;
use skinbench_kernels::model::{Clip, RotationBlend};
use std::path::Path;

/// Copies of a key from reading to the store, with room to grow.
const COPIES: u64 = 5;

/// Components of a joint that each frame holds, and their offset.
struct Moving {
    flags: u8,
    first: usize,
}

impl Moving {
    const TRANSLATION: u8 = 0b000_111;
    const ROTATION: u8 = 0b111_000;

    /// Three components, flagged by the bits from `shift` on: from the frame if flagged, otherwise from the base pose.
    fn components(&self, shift: u8, base: [f32; 3], frame: &[f32]) -> [f32; 3] {
        std::array::from_fn(|c| {
            let bit = 1 << (shift + c as u8);
            let before = (self.flags & (bit - 1)).count_ones() as usize;
            match frame.get(self.first + before) {
                Some(&value) if self.flags & bit != 0 => value,
                _ => base[c],
            }
        })
    }
}

/// Reads a clip for these joints; `joint_of` maps their order to the skeleton's.
pub(super) fn import(
    path: &Path,
    joints: &[ListedJoint],
    joint_of: &[u16],
) -> Result<Clip, ImportError> {
    Scanner::read(path, SYNTAX, |file, name| {
        read(file, name, joints, joint_of)
    })
}

fn read(
    file: &mut Scanner,
    name: String,
    joints: &[ListedJoint],
    joint_of: &[u16],
) -> Result<Clip, Fault> {
    preamble(file)?;
    let frames: u32 = file.labelled("numFrames")?;
    let start = file.offset();
    let count: usize = file.labelled("numJoints")?;
    ensure(count == joints.len(), || {
        file.fault(
            start,
            format!("{count} joints; expected {}, as the mesh has", joints.len()),
        )
    })?;
    file.expect("frameRate")?;
    let rate: f64 = file
        .accepted("frames per second, more than 0", Scanner::number, |rate| {
            *rate > 0.0
        })?
        .into();
    let components = file.labelled::<u32>("numAnimatedComponents")? as usize;
    file.expect("hierarchy")?;
    let moving: Vec<Moving> = file.braced(|file| {
        joints
            .iter()
            .map(|joint| moving(file, joint, components))
            .collect()
    })?;
    file.expect("bounds")?;
    file.braced(|file| {
        (0..2 * u64::from(frames)).try_for_each(|_| tuple::<3>(file, "a corner of a box").map(drop))
    })?;
    file.expect("baseframe")?;
    // Each joint's translation, and its rotation's x y z.
    let base: Vec<([f32; 3], [f32; 3])> = file.braced(|file| {
        joints
            .iter()
            .map(|_| Ok((tuple(file, "a position")?, tuple(file, "an orientation")?)))
            .collect()
    })?;
    let values: Vec<Vec<f32>> = (0..frames)
        .map(|frame| {
            file.expect("frame")?;
            file.exactly(frame, "the frame")?;
            file.braced(|file| {
                (0..components)
                    .map(|_| file.number("a component"))
                    .collect()
            })
        })
        .collect::<Result<_, Fault>>()?;

    let time = |frame: u32| (f64::from(frame) / rate) as f32;
    let mut keys = Vec::new();
    for ((moving, base), &joint) in moving.iter().zip(&base).zip(joint_of) {
        let mut tracks = Tracks::new(joint);
        // Channels that no frame moves have the value of the base frame, not of the bind pose.
        let count = if moving.flags == 0 { 1 } else { values.len() };
        for (frame, values) in (0..).zip(&values).take(count) {
            let [moves, turns] = [Moving::TRANSLATION, Moving::ROTATION]
                .map(|mask| frame == 0 || moving.flags & mask != 0);
            let numbers = 4 * u64::from(moves) + 5 * u64::from(turns);
            file.budget
                .charge(4 * numbers * COPIES, || "frames".into())?;
            let translation = moves.then(|| moving.components(0, base.0, values));
            let rotation = turns.then(|| {
                unit_quaternion(moving.components(3, base.1, values))
                    .as_quat()
                    .to_array()
            });
            tracks.push(time(frame), translation, rotation, None);
        }
        keys.extend(tracks.into_keys());
    }
    Clip::new(
        name,
        Some(time(frames.saturating_sub(1))),
        RotationBlend::Slerp,
        keys,
    )
}

/// Reads which of a frame's `components` move a joint of the mesh.
fn moving(file: &mut Scanner, joint: &ListedJoint, components: usize) -> Result<Moving, Fault> {
    let start = file.offset();
    let listed = ListedJoint::read(file)?;
    ensure(listed == *joint, || {
        file.fault(
            start,
            format!("{listed}; expected {joint}, as the mesh has"),
        )
    })?;
    let flags: u8 = file.accepted("flags, 0 to 63", Scanner::integer, |flags| *flags < 64)?;
    let (first, count) = (
        file.integer::<u32>("the first component")? as usize,
        flags.count_ones() as usize,
    );
    ensure(
        count == 0 || first.saturating_add(count) <= components,
        || {
            let expected = format!("expected them among a frame's {components}");
            file.fault(
                start,
                format!("{count} components from {first}; {expected}"),
            )
        },
    )?;
    Ok(Moving { flags, first })
}
