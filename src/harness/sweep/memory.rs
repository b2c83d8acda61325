//! Search for the largest crowd whose memory fits a budget. Backends promise their memory, so no crowd is run.

/// Most crowds whose memory is asked for.
const TRIALS: u32 = 64;

/// Crowds around a memory budget, each with the bytes that it takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryBounds {
    /// The largest crowd that fits; `None` if not even one instance does.
    pub fits: Option<(u64, u64)>,
    /// The next larger crowd; `None` if it could not be asked for, because it does not fit in main memory. Its bytes are
    /// `None` if the backend refuses it.
    pub exceeds: Option<(u64, Option<u64>)>,
}

/// Finds the largest crowd whose bytes are at most `budget`, where larger crowds take more. `bytes` returns the bytes of
/// a crowd; `None` for one that is too large to ask for. `start` is the first crowd that is tried.
///
/// # Errors
/// Those of `bytes`.
pub fn largest<E>(
    budget: u64,
    start: u64,
    mut bytes: impl FnMut(u64) -> Result<Option<u64>, E>,
) -> Result<MemoryBounds, E> {
    let mut bounds = MemoryBounds::default();
    let mut next = start.max(1);
    for trial in 0..TRIALS {
        let taken = bytes(next)?;
        match taken {
            Some(taken) if taken <= budget => bounds.fits = Some((next, taken)),
            _ => bounds.exceeds = Some((next, taken)),
        }
        next = match (bounds.fits, bounds.exceeds) {
            (Some((low, _)), Some((high, _))) if high - low <= 1 => return Ok(bounds),
            (None, Some((1, _))) => return Ok(bounds),
            // Memory grows almost in proportion to the crowd: aim a little beyond the budget, so that both sides are
            // known soon.
            (Some((low, taken)), None) => {
                scaled(low, budget, taken).saturating_add(low / 64).clamp(low + 1, low.saturating_mul(64))
            }
            (None, Some((high, taken))) => {
                let aim = taken.map_or(high / 2, |taken| scaled(high, budget, taken));
                aim.clamp(1, high - 1)
            }
            (Some((low, below)), Some((high, above))) => {
                let middle = low + (high - low) / 2;
                // A straight line between both, every other time the middle: memory grows in steps of pages.
                let aim = match above {
                    Some(above) if trial % 2 == 0 && above > below => {
                        low + scaled(high - low, budget - below, above - below)
                    }
                    _ => middle,
                };
                aim.clamp(low + 1, high - 1)
            }
            (None, None) => return Ok(bounds),
        };
    }
    Ok(bounds)
}

/// `count * part / whole`, without overflow.
fn scaled(count: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(count) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed bytes, and bytes for each instance in whole pages.
    fn crowd(fixed: u64, each: u64, page: u64) -> impl Fn(u64) -> u64 {
        move |count| fixed + (count * each).next_multiple_of(page)
    }

    #[test]
    fn the_largest_crowd_is_found_exactly() {
        for (fixed, each, page) in [(0, 24_000, 1), (5_000_000, 100, 2 << 20), (100, 3, 64), (1, 1_000_000, 4_096)] {
            for start in [1, 100, 1_000_000_000] {
                let taken = crowd(fixed, each, page);
                let mut asked = 0;
                let found = largest::<()>(128_000_000, start, |count| {
                    asked += 1;
                    Ok(Some(taken(count)))
                });
                let MemoryBounds { fits: Some((fits, bytes)), exceeds: Some((exceeds, _)) } = found.unwrap() else {
                    panic!("{fixed} {each} {page}");
                };
                assert_eq!((exceeds, bytes), (fits + 1, taken(fits)), "{fixed} {each} {page} from {start}");
                assert!(bytes <= 128_000_000 && taken(exceeds) > 128_000_000, "{fits}");
                assert!(asked < TRIALS, "{asked} crowds asked for");
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_are_said() {
        let none = largest::<()>(1_000, 500, |count| Ok(Some(2_000 + count))).unwrap();
        assert_eq!(none, MemoryBounds { fits: None, exceeds: Some((1, Some(2_001))) });
        let refused = largest::<()>(1_000, 3, |count| Ok((count <= 40).then_some(count))).unwrap();
        assert_eq!(refused, MemoryBounds { fits: Some((40, 40)), exceeds: Some((41, None)) });
        assert_eq!(largest(1_000, 3, |_| Err("no adapter")), Err("no adapter"));
    }
}
