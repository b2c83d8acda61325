//! Start and end times of layers in whole ticks, so that every processor computes the same position in a fade.

use bytemuck::NoUninit;

/// Ticks of the simulation per second.
pub const TICKS_PER_SECOND: f64 = 60.0;
/// Longest presence of a layer, and the length of one without an end: a year at 60 ticks a second.
pub const LONGEST: u32 = 1 << 31;

/// Start, length and fades of a layer, all in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, NoUninit)]
#[repr(C)]
pub struct Schedule {
    /// From one start to the next; 0 starts once.
    pub period: u32,
    /// Position in the schedule at tick 0, wrapping: for a start at tick `s`, the offset is `-s`.
    pub offset: u32,
    /// From a start to the end of the fade-out, at most the period; 0 means always present.
    pub length: u32,
    /// The fade at the start.
    pub fade_in: u32,
    /// The fade at the end; both fades fit into the length.
    pub fade_out: u32,
}

/// Position of a tick in a layer's schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The layer has no effect.
    Absent,
    /// This many ticks into the fade-in.
    In(u32),
    /// At full weight.
    Full,
    /// This many ticks into the fade-out.
    Out(u32),
}

impl Schedule {
    /// A layer that is always present.
    pub const ALWAYS: Self = Self {
        period: 0,
        offset: 0,
        length: 0,
        fade_in: 0,
        fade_out: 0,
    };

    /// Ticks since the last start; since tick 0 for a layer that is always present.
    pub fn clock(&self, tick: u32) -> u32 {
        let clock = tick.wrapping_add(self.offset);
        if self.period == 0 {
            clock
        } else {
            clock % self.period
        }
    }

    /// The position of a tick in the schedule.
    pub fn at(&self, tick: u32) -> Presence {
        if self.length == 0 {
            return Presence::Full;
        }
        let clock = self.clock(tick);
        let going = self.length - self.fade_out;
        match clock {
            _ if clock >= self.length => Presence::Absent,
            _ if clock < self.fade_in => Presence::In(clock),
            _ if clock >= going => Presence::Out(clock - going),
            _ => Presence::Full,
        }
    }

    /// The sum of `pace` over all ticks so far, weighted by the schedule: rising linearly in the fade-in, constant at
    /// full weight, falling in the fade-out. Exact in wrapping arithmetic for a pace of [`Schedule::divisible`].
    pub fn gained(&self, pace: u32, tick: u32) -> u32 {
        let clock = tick.wrapping_add(self.offset);
        if self.length == 0 || (self.period == 0 && clock >= LONGEST) {
            return 0;
        }
        if self.period == 0 {
            return self.gained_since_start(pace, clock);
        }
        (clock / self.period)
            .wrapping_mul(self.gained_since_start(pace, self.length))
            .wrapping_add(self.gained_since_start(pace, clock % self.period))
    }

    fn gained_since_start(&self, pace: u32, clock: u32) -> u32 {
        let clock = clock.min(self.length);
        if clock < self.fade_in {
            return gained_in_rise(pace, clock, self.fade_in);
        }
        let whole = pace.wrapping_mul(clock - self.fade_in);
        let fading = clock.saturating_sub(self.length - self.fade_out);
        gained_in_rise(pace, self.fade_in, self.fade_in)
            .wrapping_add(whole)
            .wrapping_sub(gained_in_rise(pace, fading, self.fade_out))
    }

    /// The pace closest to `pace` whose sums over both fades are whole numbers.
    pub fn divisible(&self, pace: i32) -> u32 {
        let [a, b] = [self.fade_in, self.fade_out].map(|fade| u64::from(fade.max(1)));
        let unit = (2 * a / greatest_common_divisor(a, b) * b) as f64;
        ((f64::from(pace) / unit).round() * unit) as i64 as u32
    }
}

/// The sum of a pace that has risen from 0 for some of the ticks of a fade: `pace * ticks² / (2 * fade)`.
fn gained_in_rise(pace: u32, ticks: u32, fade: u32) -> u32 {
    if fade == 0 {
        return 0;
    }
    ((pace as i32 / (2 * fade) as i32) as u32)
        .wrapping_mul(ticks)
        .wrapping_mul(ticks)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAVE: Schedule = Schedule {
        period: 100,
        offset: 10,
        length: 50,
        fade_in: 12,
        fade_out: 18,
    };

    #[test]
    fn layers_come_and_go() {
        for hour in [0, 2_160, 2_160_000] {
            let at = |clock: u32| WAVE.at(100 * hour + 90 + clock);
            assert_eq!(
                [at(0), at(11), at(12), at(31)],
                [
                    Presence::In(0),
                    Presence::In(11),
                    Presence::Full,
                    Presence::Full
                ]
            );
            assert_eq!(
                [at(32), at(49), at(50), at(99)],
                [
                    Presence::Out(0),
                    Presence::Out(17),
                    Presence::Absent,
                    Presence::Absent
                ]
            );
        }
        assert_eq!(Schedule::ALWAYS.at(u32::MAX), Presence::Full);
        let once = Schedule {
            period: 0,
            offset: 0u32.wrapping_sub(30),
            length: LONGEST,
            fade_in: 5,
            fade_out: 0,
        };
        assert_eq!(
            [
                once.at(0),
                once.at(29),
                once.at(30),
                once.at(35),
                once.at(1 << 31)
            ],
            [
                Presence::Absent,
                Presence::Absent,
                Presence::In(0),
                Presence::Full,
                Presence::Full
            ]
        );
    }

    /// Compares it with the sum that it stands for, in f64.
    #[test]
    fn what_is_gained_is_the_sum_along_the_ramps() {
        let pace = WAVE.divisible(-1_234_567);
        assert!((pace as i32 + 1_234_567).abs() <= 36);
        let weight = |clock: f64| (clock / 12.0).min((50.0 - clock) / 18.0).clamp(0.0, 1.0);
        let mut sum = 0.0;
        let start = WAVE.gained(pace, 90);
        for tick in 90..1_000u32 {
            let gained = WAVE.gained(pace, tick).wrapping_sub(start) as i32;
            assert!(
                (f64::from(gained) - sum).abs() < 1.0,
                "tick {tick}: {gained} instead of {sum}"
            );
            // The trapezoid over a tick is exact: the ramps bend at whole ticks.
            let clock = f64::from((tick + 10) % 100);
            sum += f64::from(pace as i32) * 0.5 * (weight(clock) + weight(clock + 1.0));
        }
    }
}
