//! Comparison of backends' pictures by their depths.
//!
//! Backends whose vertices agree with the reference may still draw different pictures. Two of them put a vertex at most
//! twice the tolerance apart, and every point of a triangle moves no farther than its corners. Seen from a distance `z`,
//! a picture moves by up to `pixels * apart / z` pixels, where `pixels` is the size of a metre at a distance of one
//! metre. As long as that is a small part of a pixel, only edges differ, in few pixels. Where it is more, because the
//! camera is near and vertices are packed, or because they are far from their origin, the depth of a pixel must be among
//! those that the other picture has within that many pixels and one more, which covers slopes between pixels. What is so
//! close to the border that it may have moved out of the picture is not compared.

/// Difference of two depths, relative to the distance, from which a pixel counts as different.
const DEPTH_TOLERANCE: f32 = 1e-3;
/// Fraction of the covered pixels that may differ: rounding moves edges.
const DIFFERENT_PIXELS: f64 = 0.005;
/// Covered pixels from which on one may differ, though that is a larger fraction: a single edge that moves.
const ONE_MAY_DIFFER: u64 = 100;
/// Pixels by which a picture may move where pixels are compared one by one.
const STILL: f64 = 0.1;
/// Most pixels that are looked at in each direction.
const MOST_APART: f64 = 32.0;

/// What two backends' depth images of a scene may differ by.
pub(super) struct Sight {
    /// Pixels of a row.
    pub width: usize,
    /// Distances at which depths are 0 and 1, in metres.
    pub range: [f64; 2],
    /// Pixels of a metre at a distance of one metre.
    pub pixels: f64,
    /// Largest distance in metres between a vertex of one backend and of another: twice the tolerance.
    pub apart: f64,
}

impl Sight {
    /// The distance of a depth from the camera's plane, in metres.
    fn distance(&self, depth: f32) -> f64 {
        let [near, far] = self.range;
        near * far / (far - f64::from(depth) * (far - near))
    }

    /// Returns whether the pixels at a place show different things.
    fn differs(&self, first: &[f32], other: &[f32], place: usize) -> bool {
        let a = first[place];
        let b = other[place];
        // 1 - depth falls with the distance and is 0 where nothing is drawn, so an edge counts in either image.
        let tolerance = DEPTH_TOLERANCE * (1.0 - a).max(1.0 - b);
        if (a - b).abs() <= tolerance {
            return false;
        }
        let moved = self.pixels * self.apart / self.distance(a).min(self.distance(b));
        if moved.is_nan() || moved <= STILL {
            return true;
        }
        let moved = moved.min(MOST_APART).ceil() as usize;
        let column = place % self.width;
        let row = place / self.width;
        let rows = first.len() / self.width;
        let from_sides = column.min(self.width - 1 - column);
        if from_sides.min(row).min(rows - 1 - row) < moved {
            // What it shows may be outside the other picture.
            return false;
        }
        let around = 1 + moved;
        !(self.is_among(a, other, place, around) && self.is_among(b, first, place, around))
    }

    /// Returns whether a depth lies between those of another image around a place.
    fn is_among(&self, depth: f32, image: &[f32], place: usize, around: usize) -> bool {
        let column = place % self.width;
        let row = place / self.width;
        let rows = image.len() / self.width;
        let columns = column.saturating_sub(around)..(column + around + 1).min(self.width);
        let distance = self.distance(depth);
        let slack = self.apart + f64::from(DEPTH_TOLERANCE) * distance;
        let mut one_is_nearer = false;
        let mut one_is_farther = false;
        for row in row.saturating_sub(around)..(row + around + 1).min(rows) {
            for &seen in &image[row * self.width..][columns.clone()] {
                let seen = self.distance(seen);
                one_is_nearer |= seen <= distance + slack;
                one_is_farther |= seen >= distance - slack;
                if one_is_nearer && one_is_farther {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns whether a depth image shows nothing.
pub(super) fn is_empty(depths: &[f32]) -> bool {
    depths.iter().all(|depth| *depth == 1.0)
}

/// Description of the difference between a depth image and the first backend's; `None` if they agree. Two empty images
/// agree.
pub(super) fn depth_difference(first: &[f32], depths: &[f32], sight: &Sight) -> Option<String> {
    if first.len() != depths.len() {
        return Some(format!(
            "the picture has {} pixels; expected {}",
            depths.len(),
            first.len()
        ));
    }
    let mut covered = 0;
    let mut different = 0;
    for place in 0..first.len() {
        covered += u64::from(first[place] != 1.0 || depths[place] != 1.0);
        different += u64::from(sight.differs(first, depths, place));
    }
    let least = f64::from(u8::from(covered >= ONE_MAY_DIFFER));
    let accepted = (DIFFERENT_PIXELS * covered as f64).max(least);
    (different as f64 > accepted)
        .then(|| format!("the picture differs from the first backend's in {different} of {covered} covered pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of 100 pixels a row, whose vertices hardly move.
    const STEADY: Sight = Sight {
        width: 100,
        range: [1.0, 100.0],
        pixels: 100.0,
        apart: 1e-5,
    };

    #[test]
    fn depth_images_must_agree() {
        let mut first = vec![1.0; 4_000];
        assert!(is_empty(&first));
        let differ = |a: &[f32], b: &[f32]| depth_difference(a, b, &STEADY);
        assert_eq!(differ(&first, &first), None, "both are empty");
        let empty = first.clone();
        first[..2_000].fill(0.9);
        assert!(!is_empty(&first));
        assert!(differ(&first, &empty).is_some(), "one is empty");
        assert!(differ(&empty, &first).is_some(), "one is empty");
        let with = |count: usize, depth: f32| {
            let mut other = first.clone();
            other[2_000 - count..2_000].fill(depth);
            other
        };
        assert_eq!(differ(&first, &with(10, 1.0)), None, "0.5 % may differ");
        for depth in [1.0, 0.9002, 0.8998, f32::NAN] {
            assert!(differ(&first, &with(11, depth)).is_some(), "{depth}");
            assert!(differ(&with(11, depth), &first).is_some(), "{depth}");
        }
        assert_eq!(
            differ(&first, &with(2_000, 0.90005)),
            None,
            "within 1e-3 of the distance"
        );
        assert!(differ(&first, &first[1..]).is_some(), "another size");

        let small = |covered: usize, different: usize| {
            let mut picture = vec![1.0; 4_000];
            picture[..covered].fill(0.9);
            let mut other = picture.clone();
            other[..different].fill(1.0);
            differ(&picture, &other)
        };
        assert_eq!(small(100, 1), None, "one of 100 may differ");
        assert!(small(100, 2).is_some() && small(99, 1).is_some());
    }

    /// A slope, seen so closely that its vertices may be apart by up to two pixels.
    #[test]
    fn near_pictures_may_move_as_far_as_their_vertices() {
        let near = Sight {
            apart: 0.04,
            ..STEADY
        };
        let distance = |column: usize| 2.0 + 0.05 * column as f64;
        let depth = |distance: f64| (100.0 / 99.0 * (1.0 - 1.0 / distance)) as f32;
        let slope = |moved: usize| -> Vec<f32> {
            (0..4_000)
                .map(|place| depth(distance(place % 100 + moved)))
                .collect()
        };
        assert!((near.distance(depth(7.0)) - 7.0).abs() < 1e-4);
        assert_eq!(depth_difference(&slope(0), &slope(1), &near), None);
        assert!(depth_difference(&slope(0), &slope(1), &STEADY).is_some());
        assert!(
            depth_difference(&slope(0), &slope(6), &near).is_some(),
            "farther"
        );
        let mut hole = slope(0);
        for row in 10..20 {
            hole[100 * row + 10..100 * row + 30].fill(1.0);
        }
        assert!(
            depth_difference(&slope(0), &hole, &near).is_some(),
            "a hole"
        );
    }
}
