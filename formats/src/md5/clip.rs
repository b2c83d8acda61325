//! Importer of `.md5anim`: a base pose per joint, and per frame its components that move.

use super::grammar::{ListedJoint, SYNTAX, preamble, tuple, unit_quaternion};
use crate::ImportError;
use crate::budget::Budget;
use crate::fault::Fault;
use crate::tokenizer::Scanner;
use skinbench_kernels::model::{Channel, Clip, Keys, RotationBlend};
use std::path::Path;

/// Copies of a key from reading to the store.
const COPIES: u64 = 4;

/// Reads a clip for these joints; `joint_of` maps their order to the skeleton's.
pub(super) fn import(file: &Path, joints: &[ListedJoint], joint_of: &[u16]) -> Result<Clip, ImportError> {
    let text = crate::read_file::read_text(file)?;
    let mut reader = Reader { scanner: Scanner::new(&text, SYNTAX), budget: Budget::new(text.len()) };
    reader.read(crate::read_file::stem(file), joints, joint_of).map_err(|fault| fault.in_file(file))
}

/// Components of a joint that each frame holds, and their offset.
struct Moving {
    flags: u8,
    first: usize,
}

impl Moving {
    const TRANSLATION: u8 = 0b000_111;
    const ROTATION: u8 = 0b111_000;

    fn count(&self) -> usize {
        self.flags.count_ones() as usize
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

/// A joint's translation, and its rotation's x y z.
type Base = ([f32; 3], [f32; 3]);

struct Reader<'a> {
    scanner: Scanner<'a>,
    budget: Budget,
}

impl Reader<'_> {
    fn read(&mut self, name: String, joints: &[ListedJoint], joint_of: &[u16]) -> Result<Clip, Fault> {
        preamble(&mut self.scanner)?;
        let frames: u32 = self.scanner.labelled("numFrames")?;
        self.joint_count(joints)?;
        self.scanner.expect("frameRate")?;
        let rate: f64 =
            self.scanner.accepted("frames per second, more than 0", Scanner::number, |rate| *rate > 0.0)?.into();
        let components = self.scanner.labelled::<u32>("numAnimatedComponents")? as usize;
        let moving = self.hierarchy(joints, components)?;
        self.bounds(frames)?;
        let base = self.base_frame(joints)?;
        let mut values = Vec::new();
        for frame in 0..frames {
            let token = self.scanner.expect("frame")?;
            let number: u32 = self.scanner.integer(&format!("the frame {frame}"))?;
            if number != frame {
                return Err(self.scanner.fault(token, format!("frame {number}; expected {frame}")));
            }
            self.scanner.expect("{")?;
            for _ in 0..components {
                values.push(self.scanner.number("a component")?);
            }
            self.scanner.expect("}")?;
        }
        self.scanner.end()?;

        let time = |frame: u32| (f64::from(frame) / rate) as f32;
        let frame = |index: u32| values.get(index as usize * components..).unwrap_or_default();
        let mut keys = Vec::new();
        for ((moving, base), &joint) in moving.iter().zip(&base).zip(joint_of) {
            for (channel, mask, shift, base) in [
                (Channel::Translation, Moving::TRANSLATION, 0, base.0),
                (Channel::Rotation, Moving::ROTATION, 3, base.1),
            ] {
                // Channels that no frame moves have the value of the base frame, not of the bind pose.
                let count = if moving.flags & mask == 0 { frames.min(1) } else { frames };
                self.budget.charge(u64::from(count) * (4 + 4 * channel.width() as u64) * COPIES, || "frames".into())?;
                let value = |index| {
                    let parts = moving.components(shift, base, frame(index));
                    let rotation = unit_quaternion(parts).as_quat().to_array();
                    let [x, y, z] = parts;
                    let wide = if channel == Channel::Rotation { rotation } else { [x, y, z, 0.0] };
                    wide.into_iter().take(channel.width())
                };
                if count > 0 {
                    let times = (0..count).map(time).collect();
                    keys.push(Keys::linear(joint, channel, times, (0..count).flat_map(value).collect()));
                }
            }
        }
        let duration = time(frames.saturating_sub(1));
        Ok(Clip::new(name, Some(duration), RotationBlend::Slerp, keys)?)
    }

    fn joint_count(&mut self, joints: &[ListedJoint]) -> Result<(), Fault> {
        let start = self.scanner.offset();
        let (count, expected): (usize, _) = (self.scanner.labelled("numJoints")?, joints.len());
        match count == expected {
            true => Ok(()),
            false => Err(self.scanner.fault_at(start, format!("{count} joints; expected {expected}, as the mesh has"))),
        }
    }

    fn hierarchy(&mut self, joints: &[ListedJoint], components: usize) -> Result<Vec<Moving>, Fault> {
        self.scanner.expect("hierarchy")?;
        self.scanner.expect("{")?;
        let mut moving = Vec::new();
        for joint in joints {
            let start = self.scanner.offset();
            let listed = ListedJoint::read(&mut self.scanner)?;
            if listed != *joint {
                let problem = format!("{listed:?}; expected {joint:?}, as the mesh has");
                return Err(self.scanner.fault_at(start, problem));
            }
            let flags: u8 = self.scanner.integer("flags, 0 to 63,")?;
            let first: u32 = self.scanner.integer("the first component")?;
            let this = Moving { flags, first: first as usize };
            if flags > 63 {
                return Err(self.scanner.fault_at(start, format!("flags {flags}; expected 0 to 63")));
            }
            let count = this.count();
            if this.first.saturating_add(count) > components && count > 0 {
                let problem = format!("{count} components from {first}; expected them among a frame's {components}");
                return Err(self.scanner.fault_at(start, problem));
            }
            moving.push(this);
        }
        self.scanner.expect("}")?;
        Ok(moving)
    }

    /// Skips the bounding boxes.
    fn bounds(&mut self, frames: u32) -> Result<(), Fault> {
        self.scanner.expect("bounds")?;
        self.scanner.expect("{")?;
        for _ in 0..frames {
            tuple::<3>(&mut self.scanner, "a box' smallest corner")?;
            tuple::<3>(&mut self.scanner, "a box' largest corner")?;
        }
        self.scanner.expect("}")?;
        Ok(())
    }

    fn base_frame(&mut self, joints: &[ListedJoint]) -> Result<Vec<Base>, Fault> {
        self.scanner.expect("baseframe")?;
        self.scanner.expect("{")?;
        let mut base = Vec::new();
        for _ in joints {
            let translation = tuple(&mut self.scanner, "a position")?;
            base.push((translation, tuple(&mut self.scanner, "an orientation")?));
        }
        self.scanner.expect("}")?;
        Ok(base)
    }
}
