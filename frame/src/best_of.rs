//! The best of several rounds: what disturbs a measurement only makes it longer.

use std::time::{Duration, Instant};

/// Number of rounds.
#[derive(Debug, Clone, Copy)]
pub struct Rounds {
    /// Fewest.
    pub fewest: u32,
    /// Most.
    pub most: u32,
    /// Time after which no round begins, once there were the fewest.
    pub within: Duration,
}

impl Rounds {
    /// Exactly this number.
    pub fn exactly(count: u32) -> Self {
        Self {
            fewest: count,
            most: count,
            within: Duration::MAX,
        }
    }
}

/// The least time of each of some candidates, by their numbers. In each round, every candidate has its turn; `time`
/// measures one.
///
/// # Errors
/// The first error of `time`.
pub fn least_times<E>(
    candidates: usize,
    rounds: Rounds,
    mut time: impl FnMut(usize) -> Result<Duration, E>,
) -> Result<Vec<Duration>, E> {
    let start = Instant::now();
    let mut least = vec![Duration::MAX; candidates];
    for round in 0..rounds.most {
        if round >= rounds.fewest && start.elapsed() > rounds.within {
            break;
        }
        for (candidate, least) in least.iter_mut().enumerate() {
            *least = time(candidate)?.min(*least);
        }
    }
    Ok(least)
}

/// The least time of one thing, as [`least_times`].
///
/// # Errors
/// The first error of `time`.
pub fn least_time<E>(
    rounds: Rounds,
    mut time: impl FnMut() -> Result<Duration, E>,
) -> Result<Duration, E> {
    let times = least_times(1, rounds, |_| time())?;
    Ok(times[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_candidate_keeps_the_shortest_of_its_turns() {
        let mut turns = Vec::new();
        let mut times = [5, 9, 3, 7, 4, 8].into_iter().map(Duration::from_secs);
        let least = least_times(2, Rounds::exactly(3), |candidate| {
            turns.push(candidate);
            times.next().ok_or("over")
        });
        assert_eq!(least, Ok([3, 7].map(Duration::from_secs).to_vec()));
        assert_eq!(turns, [0, 1, 0, 1, 0, 1]);
        let rounds = Rounds {
            fewest: 2,
            most: 9,
            within: Duration::ZERO,
        };
        let mut count = 0;
        let least = least_time(rounds, || {
            count += 1;
            Ok::<_, ()>(Duration::from_millis(10 - count))
        });
        assert_eq!((least, count), (Ok(Duration::from_millis(8)), 2));
        assert_eq!(least_time(rounds, || Err("lost")), Err("lost"));
    }
}
