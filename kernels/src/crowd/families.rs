//! Families: instances at several levels of detail, of which a frame shows one at a time.

use super::{Crowd, CrowdError, Group};
use crate::error::ensure;

/// Most levels of a family.
pub const MOST_LEVELS: usize = 4;

impl Crowd {
    /// The crowd as families. Neighbouring groups, one more than there are sizes, hold the same instances at different
    /// levels of detail, the finest first. A frame shows an instance at the first level whose size it has on the screen;
    /// `sizes` are the least pixels of every level but the last. Only backends that choose levels run such a crowd.
    ///
    /// # Errors
    /// No size or more than three; sizes that do not fall; a number of groups that is no multiple of the levels; groups
    /// of a family whose instances differ in number, place, layers or format; or a crowd that
    /// [is reduced](Crowd::is_reduced).
    pub fn with_families(mut self, sizes: &[f32]) -> Result<Self, CrowdError> {
        self.require_full_posing()?;
        let levels = sizes.len() + 1;
        ensure!(
            (2..=MOST_LEVELS).contains(&levels) && sizes.is_sorted_by(|a, b| a > b),
            "the sizes {sizes:?} of levels; expected 1 to 3 that fall"
        );
        let groups = self.groups.len();
        ensure!(
            groups.is_multiple_of(levels),
            "{groups} groups at {levels} levels; expected a multiple"
        );
        for family in self.groups.chunks(levels) {
            let alike = family
                .iter()
                .all(|group| self.same_instances(group, &family[0]));
            ensure!(
                alike,
                "levels of {:?} with different instances; expected the same",
                family[0].model.name()
            );
        }
        self.level_sizes = sizes.to_vec();
        Ok(self)
    }

    /// Returns whether two groups have equal formats, placements and layers.
    fn same_instances(&self, a: &Group, b: &Group) -> bool {
        a.format == b.format
            && self.placements[a.indices()] == self.placements[b.indices()]
            && self
                .layers
                .range(a.instances.clone())
                .eq(self.layers.range(b.instances.clone()))
    }

    /// Number of neighbouring groups that show the same instances: 1 if the crowd has no families.
    pub fn levels(&self) -> usize {
        self.level_sizes.len() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Layer;
    use crate::fixture_tests;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    fn groups(counts: &[usize]) -> Crowd {
        let model = Arc::new(fixture_tests::chain());
        let mut crowd = Crowd::new();
        for &count in counts {
            let instances = (0..count).map(|_| (IDENTITY_ROWS, [Layer::held(0, 0.0)]));
            crowd.push_group(Arc::clone(&model), instances).unwrap();
        }
        crowd
    }

    #[test]
    fn families_are_neighbouring_groups_of_the_same_instances() {
        let crowd = groups(&[2, 2, 3, 3]).with_families(&[100.0]).unwrap();
        assert_eq!((crowd.levels(), crowd.level_sizes()), (2, &[100.0][..]));
        assert_eq!(
            (groups(&[2]).levels(), groups(&[2]).level_sizes()),
            (1, &[][..])
        );
    }

    #[test]
    fn families_that_cannot_be_are_refused_with_what_could() {
        let refused = |counts: &[usize], sizes: &[f32]| {
            groups(counts).with_families(sizes).unwrap_err().to_string()
        };
        assert_eq!(
            refused(&[2, 2], &[]),
            "the sizes [] of levels; expected 1 to 3 that fall"
        );
        assert_eq!(
            refused(&[2, 2, 2], &[9.0, 9.0]),
            "the sizes [9.0, 9.0] of levels; expected 1 to 3 that fall"
        );
        assert_eq!(
            refused(&[2, 2, 2], &[9.0]),
            "3 groups at 2 levels; expected a multiple"
        );
        let error = refused(&[2, 3], &[9.0]);
        assert!(
            error.ends_with("with different instances; expected the same"),
            "{error}"
        );
        let model = Arc::new(fixture_tests::chain());
        let mut crowd = groups(&[1]);
        crowd
            .push_group(model, [(IDENTITY_ROWS, [Layer::held(0, 0.5)])])
            .unwrap();
        assert!(crowd.with_families(&[9.0]).is_err(), "other layers");
    }
}
