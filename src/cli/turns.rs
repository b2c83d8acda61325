//! Alternate runs of two programs, for `skinbench compare --run`.

use super::common;
use anyhow::{Context as _, bail};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use skinbench::results::Recorded;
use skinbench::wording::one_line;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders of the two programs' results. Their names are equally long, so that both programs start with equally many
/// bytes of arguments: these shift what lies behind them in memory.
const SIDES: [&str; 2] = ["old", "new"];
/// Frames of each backend, unless the arguments say: a process counts once, however long it is.
const FRAMES: &str = "--frames=60";
/// Variable of the environment whose length is drawn anew for each process, and its most bytes: where the stack begins
/// follows from the size of the environment, and can make a kernel faster or slower.
const PADDING: &str = "SKINBENCH_PADDING";
const MOST_PADDING: u32 = 4096;
/// Most characters of a program's last message.
const MESSAGE: usize = 300;

/// Two programs that take turns.
pub struct Turns<'a> {
    programs: [&'a Path; 2],
    /// Arguments of `skinbench run`.
    arguments: Vec<OsString>,
    folder: &'a Path,
    random: Pcg32,
    rounds: usize,
}

impl<'a> Turns<'a> {
    /// Programs with the arguments of `run`. Their results go to `folder`, which must have none.
    ///
    /// # Errors
    /// A program does not start, or the folder has results of turns already.
    pub fn new(
        programs: [&'a Path; 2],
        arguments: &[OsString],
        folder: &'a Path,
    ) -> anyhow::Result<Self> {
        for side in SIDES {
            let known = folder.join(side);
            if known.symlink_metadata().is_ok() {
                bail!("{} exists already; name another folder", known.display());
            }
        }
        for program in programs {
            // Both are tried before the first of them runs for long.
            let tried = Command::new(program).arg("--version").output();
            tried.with_context(|| format!("cannot start {}", program.display()))?;
        }
        let mut arguments = arguments.to_vec();
        let has_length = arguments
            .iter()
            .any(|argument| argument.to_string_lossy().starts_with("--frames"));
        if !has_length {
            arguments.push(FRAMES.into());
        }
        Ok(Self {
            programs,
            arguments,
            folder,
            random: Pcg32::seed_from_u64(RandomState::new().hash_one(0)),
            rounds: 0,
        })
    }

    /// Number of complete rounds.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Runs each program once, unless interrupted, in an order that is drawn for each round: so rounds of equal programs are as often above
    /// 1 as below, whatever the machine does meanwhile. (If every second round repeated the opposite of the last order,
    /// neighbouring rounds would depend on each other.)
    ///
    /// # Errors
    /// A program does not start, or writes no results.
    pub fn round(&mut self) -> anyhow::Result<()> {
        let new_is_first = self.random.next_u32() & 1 == 1;
        let order = if new_is_first { [1, 0] } else { [0, 1] };
        for side in order {
            self.run(side)?;
            if common::is_interrupted() {
                return Ok(());
            }
        }
        self.rounds += 1;
        Ok(())
    }

    fn run(&mut self, side: usize) -> anyhow::Result<()> {
        let padding = self.random.next_u32() % MOST_PADDING;
        let program = self.programs[side];
        let folder = self.of_round(side, self.rounds);
        let output = Command::new(program)
            .arg("run")
            .args(&self.arguments)
            .arg("-o")
            .arg(&folder)
            .env(PADDING, "x".repeat(padding as usize))
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", program.display()))?;
        if common::is_interrupted() {
            return Ok(());
        }
        // A backend that fails is a result, too.
        if output.status.code() == Some(2) || !folder.join("summary.csv").exists() {
            let messages = String::from_utf8_lossy(&output.stderr);
            let last = messages.lines().rfind(|line| !line.trim().is_empty());
            let last = last.unwrap_or("no results");
            bail!(
                "{} run: {} ({})",
                program.display(),
                one_line(last.trim_start_matches("error: "), MESSAGE),
                output.status
            );
        }
        Ok(())
    }

    fn of_round(&self, side: usize, round: usize) -> PathBuf {
        self.folder
            .join(SIDES[side])
            .join(format!("{:02}", round + 1))
    }

    /// The results of a side, 0 or 1, of the complete rounds.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn results(&self, side: usize) -> anyhow::Result<Recorded> {
        let folders: Vec<PathBuf> = (0..self.rounds)
            .map(|round| self.of_round(side, round))
            .collect();
        Ok(Recorded::read(&folders)?)
    }
}
