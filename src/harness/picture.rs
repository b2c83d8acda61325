//! Comparison of backends' pictures by their depths.

/// Difference of two depths, relative to the distance, from which a pixel counts as different.
const DEPTH_TOLERANCE: f32 = 1e-3;
/// Fraction of the covered pixels that may differ: rounding moves edges.
const DIFFERENT_PIXELS: f64 = 0.005;

/// Returns whether a depth image shows nothing.
pub(super) fn is_empty(depths: &[f32]) -> bool {
    depths.iter().all(|depth| *depth == 1.0)
}

/// Description of the difference between a depth image and the first backend's; `None` if they agree. Two empty images
/// agree.
pub(super) fn depth_difference(first: &[f32], depths: &[f32]) -> Option<String> {
    let nearness = |depth: f32| 1.0 - depth;
    // 1 - depth falls with the distance and is 0 where nothing is drawn, so an edge counts in either image.
    let differ = |a: f32, b: f32| {
        let tolerance = DEPTH_TOLERANCE * nearness(a).max(nearness(b));
        !matches!((a - b).abs().partial_cmp(&tolerance), Some(order) if order.is_le())
    };
    let covered = first
        .iter()
        .zip(depths)
        .filter(|(a, b)| **a != 1.0 || **b != 1.0)
        .count();
    let different = first
        .iter()
        .zip(depths)
        .filter(|(a, b)| differ(**a, **b))
        .count();
    (first.len() != depths.len() || different as f64 > DIFFERENT_PIXELS * covered as f64)
        .then(|| format!("the picture differs from the first backend's in {different} of {covered} covered pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_images_must_agree() {
        let mut first = vec![1.0; 4_000];
        assert!(is_empty(&first));
        assert_eq!(depth_difference(&first, &first), None, "both are empty");
        let empty = first.clone();
        first[..2_000].fill(0.9);
        assert!(!is_empty(&first));
        assert!(depth_difference(&first, &empty).is_some(), "one is empty");
        assert!(depth_difference(&empty, &first).is_some(), "one is empty");
        assert_eq!(depth_difference(&first, &first), None);
        let with = |count: usize, depth: f32| {
            let mut other = first.clone();
            other[2_000 - count..2_000].fill(depth);
            other
        };
        assert_eq!(
            depth_difference(&first, &with(10, 1.0)),
            None,
            "0.5 % may differ"
        );
        for depth in [1.0, 0.9002, 0.8998, f32::NAN] {
            assert!(
                depth_difference(&first, &with(11, depth)).is_some(),
                "{depth}"
            );
            assert!(
                depth_difference(&with(11, depth), &first).is_some(),
                "{depth}"
            );
        }
        assert_eq!(
            depth_difference(&first, &with(2_000, 0.90005)),
            None,
            "within 1e-3 of the distance"
        );
    }
}
