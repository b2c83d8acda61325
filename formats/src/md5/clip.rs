//! Importer of `.md5anim`: a base pose per joint, and per frame its components that move.

use super::grammar::{ListedJoint, SYNTAX, preamble, tuple, unit_quaternion};
use crate::tokenizer::Scanner;
use crate::tracks::Tracks;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Clip, Notes, RotationBlend};
use std::path::Path;

/// Copies of a key from reading to the store, with room to grow.
const COPIES: u64 = 5;

/// The motion of a joint.
struct Moving {
    /// The components that each frame holds: x y z of the translation, then of the rotation.
    flags: u8,
    /// Offset of the first of these in a frame.
    first: usize,
    base_translation: [f32; 3],
    /// x y z of a unit quaternion.
    base_rotation: [f32; 3],
}

impl Moving {
    const TRANSLATION: u8 = 0b000_111;
    const ROTATION: u8 = 0b111_000;

    /// Reads which of a frame's `components` move a joint of the mesh.
    fn read(file: &mut Scanner, joint: &ListedJoint, components: usize) -> Result<Self> {
        let start = file.offset();
        let listed = ListedJoint::read(file)?;
        ensure!(
            listed == *joint,
            file.place(start),
            "{listed}; expected {joint}, as the mesh has"
        );
        let flags: u8 = file.accepted("flags, 0 to 63", Scanner::integer, |flags| *flags < 64)?;
        let first = file.integer::<u32>("the first component")? as usize;
        let count = flags.count_ones() as usize;
        ensure!(
            count == 0 || first.saturating_add(count) <= components,
            file.place(start),
            "{count} components from {first}; expected them among a frame's {components}"
        );
        Ok(Self {
            flags,
            first,
            base_translation: [0.0; 3],
            base_rotation: [0.0; 3],
        })
    }

    fn translation(&self, frame: &[f32]) -> [f32; 3] {
        self.components(0, self.base_translation, frame)
    }

    fn rotation(&self, frame: &[f32]) -> [f32; 4] {
        let rotation = self.components(3, self.base_rotation, frame);
        unit_quaternion(rotation).as_quat().to_array()
    }

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
pub fn import(
    path: &Path,
    joints: &[ListedJoint],
    joint_of: &[u16],
    notes: &mut Notes,
) -> Result<Clip> {
    Scanner::read(path, SYNTAX, notes, |file, name| {
        read(file, name, joints, joint_of)
    })
}

fn read(
    file: &mut Scanner,
    name: String,
    joints: &[ListedJoint],
    joint_of: &[u16],
) -> Result<Clip> {
    preamble(file)?;
    let frames: u32 = file.labelled("numFrames")?;
    let start = file.offset();
    let count: usize = file.labelled("numJoints")?;
    ensure!(
        count == joints.len(),
        file.place(start),
        "{count} joints; expected {}, as the mesh has",
        joints.len()
    );
    file.expect("frameRate")?;
    let expected = "frames per second, more than 0";
    let rate = file.accepted(expected, Scanner::number, |rate| *rate > 0.0)?;
    let components = file.labelled::<u32>("numAnimatedComponents")? as usize;
    file.expect("hierarchy")?;
    let mut moving = Vec::new();
    file.braced(|file| {
        for joint in joints {
            moving.push(Moving::read(file, joint, components)?);
        }
        Ok(())
    })?;
    file.expect("bounds")?;
    file.braced(|file| {
        for _ in 0..2 * u64::from(frames) {
            tuple::<3>(file, "a corner of a box")?;
        }
        Ok(())
    })?;
    file.expect("baseframe")?;
    file.braced(|file| {
        for moving in &mut moving {
            moving.base_translation = tuple(file, "a position")?;
            moving.base_rotation = tuple(file, "an orientation")?;
        }
        Ok(())
    })?;
    let mut values: Vec<Vec<f32>> = Vec::new();
    for frame in 0..frames {
        file.expect("frame")?;
        file.exactly(frame, "the frame")?;
        values.push(file.braced(|file| {
            let components = 0..components;
            components.map(|_| file.number("a component")).collect()
        })?);
    }

    let time = |frame: u32| (f64::from(frame) / f64::from(rate)) as f32;
    let mut keys = Vec::new();
    for (moving, &joint) in moving.iter().zip(joint_of) {
        let mut tracks = Tracks::new(joint);
        // Channels that no frame moves have the value of the base frame, not of the bind pose.
        let count = if moving.flags == 0 { 1 } else { values.len() };
        for (frame, values) in (0..).zip(&values).take(count) {
            let moves = frame == 0 || moving.flags & Moving::TRANSLATION != 0;
            let turns = frame == 0 || moving.flags & Moving::ROTATION != 0;
            let floats = 4 * u64::from(moves) + 5 * u64::from(turns);
            file.budget
                .charge(4 * floats * COPIES, || "frames".into())?;
            let translation = moves.then(|| moving.translation(values));
            let rotation = turns.then(|| moving.rotation(values));
            tracks.push(time(frame), translation, rotation, None);
        }
        keys.extend(tracks.into_keys());
    }
    let duration = time(frames.saturating_sub(1));
    Clip::new(name, Some(duration), RotationBlend::Slerp, keys)
}
