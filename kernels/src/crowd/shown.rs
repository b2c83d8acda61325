//! Sizes and places of what the instances of a group show.

use crate::error::{LARGEST, SMALLEST, ensure};
use crate::model::Bounds;

/// Sizes and places of what a group's instances show over their ticks: the units in which errors are stated.
///
/// [`crate::reference::shown`] finds them on a sample of instances and ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Box of a character: that of the rest pose, or that of the largest pose shown if the diagonals of the two differ
    /// by more than a factor of two.
    pub bounds: Bounds,
    /// Diagonal of that box, the unit of position errors. Of a character that is a single point, its largest
    /// coordinate; of one that stays at the origin, 1.
    pub diagonal: f64,
    /// Box around all vertices of all poses.
    pub all: Bounds,
    /// Largest coordinate among those vertices and the numbers that they are computed from.
    pub farthest: f64,
    /// Bound of the distance by which f32 numbers are off at that coordinate: half their spacing on each of three axes,
    /// for each joint of the longest chain, each influence of a vertex and a few more operations.
    pub rounding: f64,
    /// Bound of the error of a joint's rotation that is more than usual: where a cubic curve of a clip comes near to zero, or
    /// in inertial fades; 0 without either.
    pub sampling: f64,
    /// The part of it that inertial fades have: they add a change per tick, which is multiplied by the ticks of the fade.
    pub fading: f64,
    /// Bound of the error of rotations in model space, which grows with the longest chain of joints.
    pub turning: f64,
    /// One item per joint.
    pub joints: Vec<JointShown>,
}

/// Largest values of a joint over the poses of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JointShown {
    /// Length of the translation from its parent.
    pub translation: f64,
    /// Length of the scale, as a vector.
    pub scale: f64,
    /// Distance from the model's origin, of the joint or any joint above it.
    pub distance: f64,
    /// Length of an axis in model space.
    pub axis: f64,
}

impl Shown {
    /// Checks that f32 numbers can hold what is shown.
    ///
    /// # Errors
    /// A distance or the length of an axis beyond [`LARGEST`], or a diagonal below [`SMALLEST`]: what, and what would be
    /// accepted.
    pub fn check(&self) -> Result<(), String> {
        let mut largest = self.farthest;
        for joint in &self.joints {
            largest = largest.max(joint.distance).max(joint.axis);
        }
        ensure!(
            largest <= f64::from(LARGEST),
            "moves or scales joints by up to {largest:.1e} in its clips; expected at most {LARGEST:e}"
        );
        ensure!(
            self.diagonal >= f64::from(SMALLEST),
            "has a diagonal of {:.1e}; expected {SMALLEST:e} or more",
            self.diagonal
        );
        Ok(())
    }

    /// The bound of f32 rounding over the diagonal.
    pub fn relative_rounding(&self) -> f64 {
        self.rounding / self.diagonal
    }
}
