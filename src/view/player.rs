//! Playback: the time of the scene that is shown, and its progress.

use crate::crowd::TICKS_PER_SECOND;

/// Length of a whole frame in seconds, at 25 frames per second.
pub const FRAME: f64 = 1.0 / 25.0;
/// Range of whole frames per second.
pub const FRAMES_PER_SECOND: std::ops::RangeInclusive<u32> = 1..=50;

/// The pace of playback.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// Whole frames of [`FRAME`] per second: 25 is the authored pace.
    Frames(u32),
    /// Continuous time, as a factor of the authored pace.
    Free(f64),
}

/// The behaviour at the ends of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looping {
    /// Time runs on, and the position on the timeline starts again.
    Loop,
    /// Time reverses at both ends.
    PingPong,
    /// Time stops at the end.
    Once,
}

/// A playhead on a timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Player {
    /// `true` while time passes.
    pub playing: bool,
    /// `true` to show the bind pose instead of the time.
    pub at_bind: bool,
    /// Pace.
    pub speed: Speed,
    /// `true` if time runs backwards.
    pub backwards: bool,
    /// Behaviour at the ends.
    pub looping: Looping,
    seconds: f64,
    /// Length of the timeline in seconds.
    length: f64,
    /// `true` while a ping-pong plays backwards.
    returning: bool,
    /// The part of a whole frame that has passed already.
    pending: f64,
}

impl Default for Player {
    fn default() -> Self {
        Self {
            playing: true,
            at_bind: false,
            speed: Speed::Free(1.0),
            backwards: false,
            looping: Looping::Loop,
            seconds: 0.0,
            length: 1.0,
            returning: false,
            pending: 0.0,
        }
    }
}

impl Player {
    /// A player with the same settings, at the start.
    pub fn anew(&self) -> Self {
        Self {
            speed: self.speed,
            looping: self.looping,
            ..Self::default()
        }
    }

    /// The tick that is shown. Ticks wrap, so times before the start are valid too.
    pub fn tick(&self) -> u32 {
        (self.seconds * TICKS_PER_SECOND).round() as i64 as u32
    }

    /// Length of the timeline in seconds.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Sets the length of the timeline in seconds. Lengths that are not positive are ignored.
    pub fn set_length(&mut self, seconds: f64) {
        if seconds > 0.0 && seconds.is_finite() {
            self.length = seconds;
        }
    }

    /// Position on the timeline in seconds, `0..=length`.
    pub fn position(&self) -> f64 {
        match self.looping {
            Looping::Loop => self.seconds.rem_euclid(self.length),
            Looping::PingPong | Looping::Once => self.seconds.clamp(0.0, self.length),
        }
    }

    /// Starts or resumes.
    pub fn play(&mut self) {
        if self.looping == Looping::Once && self.seconds == self.end() {
            self.seconds = self.length - self.end();
        }
        self.playing = true;
        self.at_bind = false;
    }

    /// Pauses at the current time.
    pub fn pause(&mut self) {
        self.playing = false;
    }

    /// Goes back to the first frame and shows the bind pose.
    pub fn stop(&mut self) {
        self.playing = false;
        self.at_bind = true;
        self.returning = false;
        self.seconds = 0.0;
        self.pending = 0.0;
    }

    /// Pauses and moves by this many whole frames.
    pub fn step(&mut self, frames: i32) {
        self.pause();
        self.at_bind = false;
        self.seconds = ((self.seconds / FRAME).round() + f64::from(frames)) * FRAME;
        self.keep_in_range();
    }

    /// Moves to a position on the timeline in seconds, within the cycle that is shown.
    pub fn scrub(&mut self, position: f64) {
        self.at_bind = false;
        let turn = match self.looping {
            Looping::Loop => (self.seconds / self.length).floor(),
            Looping::PingPong | Looping::Once => 0.0,
        };
        // The end of a cycle is the start of the next one.
        let within = position.clamp(0.0, self.length * (1.0 - 1e-9));
        self.seconds = turn * self.length + within;
    }

    /// Chooses the behaviour at the ends; the position on the timeline stays.
    pub fn set_looping(&mut self, looping: Looping) {
        self.seconds = self.position();
        (self.looping, self.returning) = (looping, false);
    }

    /// Advances by `elapsed` seconds of wall-clock time.
    pub fn advance(&mut self, elapsed: f64) {
        if !self.playing {
            return;
        }
        let passed = match self.speed {
            Speed::Free(factor) => elapsed * factor,
            Speed::Frames(per_second) => {
                self.pending += elapsed * f64::from(per_second);
                let whole = self.pending.floor();
                self.pending -= whole;
                if whole > 0.0 {
                    self.seconds = (self.seconds / FRAME).round() * FRAME;
                }
                whole * FRAME
            }
        };
        self.seconds += if self.backwards != self.returning {
            -passed
        } else {
            passed
        };
        self.keep_in_range();
    }

    /// The position at which playback ends.
    fn end(&self) -> f64 {
        if self.backwards { 0.0 } else { self.length }
    }

    fn keep_in_range(&mut self) {
        let inside = (0.0..=self.length).contains(&self.seconds);
        match self.looping {
            Looping::Loop => {}
            Looping::Once => {
                self.playing &= inside && self.seconds != self.end();
                self.seconds = self.seconds.clamp(0.0, self.length);
            }
            Looping::PingPong if !inside => {
                // Counts whole cycles at once, however long the step was.
                let turns = (self.seconds / self.length).floor();
                let within = self.seconds - turns * self.length;
                let odd = turns.rem_euclid(2.0) == 1.0;
                self.seconds = if odd { self.length - within } else { within };
                self.returning ^= odd;
            }
            Looping::PingPong => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(looping: Looping, speed: Speed) -> Player {
        let mut player = Player {
            looping,
            speed,
            ..Player::default()
        };
        player.set_length(2.0);
        player
    }

    #[test]
    fn free_running_time_follows_the_wall_clock_either_way() {
        let mut player = player(Looping::Loop, Speed::Free(0.5));
        player.advance(3.0);
        assert_eq!((player.seconds, player.tick()), (1.5, 90));
        player.backwards = true;
        player.advance(5.0);
        assert_eq!(
            (player.seconds, player.tick()),
            (-1.0, 0u32.wrapping_sub(60))
        );
        assert_eq!(player.position(), 1.0, "the timeline starts again");
        player.pause();
        player.advance(1.0);
        assert_eq!(player.seconds, -1.0);
    }

    #[test]
    fn whole_frames_are_shown_at_the_chosen_rate() {
        for rate in [1, 10, 25, 50] {
            let mut player = player(Looping::Loop, Speed::Frames(rate));
            let mut shown = vec![player.tick()];
            // 64 redraws per second: binary fractions represent 1/64 exactly.
            for _ in 0..128 {
                player.advance(1.0 / 64.0);
                if shown.last() != Some(&player.tick()) {
                    shown.push(player.tick());
                }
            }
            assert_eq!(
                shown.len() as u32,
                2 * rate + 1,
                "{rate} new poses per second"
            );
            assert!((player.seconds - f64::from(2 * rate) * FRAME).abs() < 1e-9);
        }
        let mut off = player(Looping::Loop, Speed::Frames(25));
        off.scrub(0.05);
        off.advance(0.04 + 1e-9);
        assert!(
            (off.seconds - 0.08).abs() < 1e-9,
            "the first step goes to a whole frame"
        );
    }

    #[test]
    fn stop_shows_the_bind_pose_at_the_first_frame_and_play_resumes_from_there() {
        let mut player = player(Looping::Loop, Speed::Free(1.0));
        player.advance(1.25);
        player.stop();
        assert!(player.at_bind && !player.playing && player.tick() == 0);
        player.advance(1.0);
        assert_eq!(player.tick(), 0);
        player.play();
        player.advance(0.5);
        assert!(!player.at_bind && player.tick() == 30);
    }

    #[test]
    fn a_ping_pong_turns_round_at_both_ends() {
        let mut player = player(Looping::PingPong, Speed::Free(1.0));
        let mut at = |seconds: f64| {
            player.advance(seconds);
            player.seconds
        };
        assert_eq!([at(1.5), at(1.0), at(1.0), at(1.0)], [1.5, 1.5, 0.5, 0.5]);
        assert_eq!(at(9.0), 1.5, "more than two turns at once");
    }

    #[test]
    fn playing_once_ends_at_the_end_and_starts_over() {
        let mut player = player(Looping::Once, Speed::Free(1.0));
        player.advance(5.0);
        assert!(!player.playing && player.seconds == 2.0);
        player.play();
        assert!(player.playing && player.seconds == 0.0);
        player.backwards = true;
        player.advance(0.5);
        assert!(!player.playing && player.seconds == 0.0);
        player.play();
        assert_eq!(player.seconds, 2.0, "backwards it starts at the end");
    }

    #[test]
    fn steps_and_scrubbing_leave_the_bind_pose() {
        let mut player = player(Looping::Loop, Speed::Free(1.0));
        player.stop();
        player.step(1);
        assert!(!player.playing && !player.at_bind && (player.seconds - FRAME).abs() < 1e-12);
        player.step(-2);
        assert!((player.seconds + FRAME).abs() < 1e-12);
        player.scrub(0.5);
        assert_eq!(player.seconds, -1.5, "within the turn that is shown");
        assert_eq!(player.position(), 0.5);
        player.scrub(9.0);
        assert!(player.position() > 1.99);
    }
}
