//! Sizes and places of what the instances of a group show.

use crate::error::LARGEST;
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
    /// Bound of the error of a sampled rotation where a cubic curve of a clip comes near to zero; 0 where none does.
    pub sampling: f64,
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
    /// The largest distance and length of an axis that any joint or vertex shows, if it is beyond [`LARGEST`].
    pub fn too_large(&self) -> Option<f64> {
        let mut largest = self.farthest;
        for joint in &self.joints {
            largest = largest.max(joint.distance).max(joint.axis);
        }
        (largest > f64::from(LARGEST)).then_some(largest)
    }
    /// The bound of f32 rounding over the diagonal.
    pub fn relative_rounding(&self) -> f64 {
        self.rounding / self.diagonal
    }
}
