//! Parts of the grammar that models and clips share.

use crate::tokenizer::{Scanner, Syntax};
use glam::DQuat;
use skinbench_kernels::error::Result;
use std::fmt;

pub const SYNTAX: Syntax = Syntax {
    marks: "(){}",
    comments: true,
};

const VERSION: u32 = 10;

/// A joint in the lists of both kinds of file.
#[derive(PartialEq)]
pub struct ListedJoint {
    pub name: String,
    pub parent: Option<usize>,
}

impl fmt::Display for ListedJoint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let parent = self.parent.map_or("-1".into(), |parent| parent.to_string());
        write!(f, "the joint {:?} with the parent {parent}", self.name)
    }
}

impl ListedJoint {
    pub fn read(scanner: &mut Scanner) -> Result<Self> {
        let name = scanner.string("a joint's name")?.to_owned();
        let parent: i32 = scanner.integer("a parent")?;
        Ok(Self {
            name,
            parent: usize::try_from(parent).ok(),
        })
    }
}

/// Reads the beginning of both kinds of file.
pub fn preamble(scanner: &mut Scanner) -> Result<()> {
    scanner.expect("MD5Version")?;
    scanner.exactly(VERSION, "the version")?;
    if scanner.accept("commandline") {
        scanner.string("a command line")?;
    }
    Ok(())
}

/// Numbers in parentheses.
pub fn tuple<const N: usize>(scanner: &mut Scanner, what: &str) -> Result<[f32; N]> {
    scanner.expect("(")?;
    let values = scanner.numbers(what)?;
    scanner.expect(")")?;
    Ok(values)
}

/// The unit quaternion whose w is not stored: w is zero or negative.
pub fn unit_quaternion([x, y, z]: [f32; 3]) -> DQuat {
    let [x, y, z] = [x, y, z].map(f64::from);
    let w = -(1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    DQuat::from_xyzw(x, y, z, w).normalize()
}
