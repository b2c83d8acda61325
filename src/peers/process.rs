//! A running peer: one line to it, one line from it, within limits of time and size.

use super::protocol::Request;
use crate::asset::regular_file;
use crate::frame::{BackendError, Result};
use crate::wording::one_line;
#[cfg(unix)]
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use wait_timeout::ChildExt;

/// Longest line of an answer.
const LONGEST_LINE: usize = 1 << 20;
/// Most bytes of other output whose last line is repeated.
const MOST_MESSAGES: u64 = 64 << 20;
/// Characters of a line that are repeated in messages.
const KEPT: usize = 200;
/// Time in which a peer must end after its output or its input has ended.
const ENDING: Duration = Duration::from_secs(2);

/// An answer without what was asked for.
#[derive(Default, Deserialize)]
struct Refusal {
    refused: Option<String>,
    failed: Option<String>,
}

/// The error of a peer that cannot do what it is asked to.
pub fn refused(why: impl Display) -> BackendError {
    BackendError::Unavailable(why.to_string())
}

/// The error of a peer that did not do what it was asked to.
pub fn failed(problem: impl Display) -> BackendError {
    BackendError::Failed(problem.to_string())
}

/// A started peer; dropping it ends its processes.
pub struct Process {
    child: Child,
    /// Lines of its standard output, or the beginnings of those that are longer than [`LONGEST_LINE`].
    lines: Receiver<String>,
    /// The file of what it writes to standard error.
    messages: PathBuf,
    timeout: Duration,
}

impl Process {
    /// Starts a program in a process group of its own. What it writes to standard error goes to the file `messages`,
    /// and each of its answers may take `timeout`.
    ///
    /// # Errors
    /// The operating system refuses it.
    pub fn start(mut command: Command, messages: PathBuf, timeout: Duration) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&messages)?)
            .spawn()?;
        // Room for one line: a peer that floods its output waits.
        let (sender, lines) = sync_channel(1);
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || pass_lines(stdout, &sender));
        }
        Ok(Self {
            child,
            lines,
            messages,
            timeout,
        })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the peer refuses, and [`BackendError::Failed`] if it fails, ends, takes too
    /// long, or answers anything else than was asked. It must not be asked again after that.
    pub fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T> {
        let name: &str = request.into();
        let line = self.answer(name, request).map_err(failed)?;
        let refusal: Refusal = serde_json::from_str(&line).unwrap_or_default();
        if let Some(why) = refusal.refused {
            return Err(refused(one_line(&why, KEPT)));
        }
        if let Some(why) = refusal.failed {
            let why = one_line(&why, KEPT);
            return Err(failed(format_args!("failed at {name}: {why}")));
        }
        serde_json::from_str(&line).map_err(|error| {
            let [line, error] = [line, error.to_string()].map(|text| one_line(&text, KEPT));
            failed(format_args!("answered {name} with {line}: {error}"))
        })
    }

    /// Sends a request and waits for the line that answers it; fails with the reason why there is none.
    fn answer(&mut self, name: &str, request: &Request) -> Result<String, String> {
        if let Ok(line) = self.lines.try_recv() {
            let line = one_line(&line, KEPT);
            return Err(format!(
                "wrote a line before it was asked to {name}: {line}"
            ));
        }
        // A peer that has ended is noticed when its answer is read.
        let _ = self.send(request);
        match self.lines.recv_timeout(self.timeout) {
            Ok(line) if line.len() > LONGEST_LINE => Err(format!(
                "answered {name} with a line of more than {LONGEST_LINE} bytes"
            )),
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "took more than {} s to answer {name}",
                self.timeout.as_secs()
            )),
            Err(RecvTimeoutError::Disconnected) => {
                let end = match self.child.wait_timeout(ENDING) {
                    Ok(Some(status)) => status.to_string(),
                    _ => "closed its output".into(),
                };
                let said = last_line(&self.messages);
                Err(format!("ended before it answered {name} ({end}): {said}"))
            }
        }
    }

    fn send(&mut self, request: &Request) -> io::Result<()> {
        let Some(stdin) = &mut self.child.stdin else {
            return Ok(());
        };
        let line = serde_json::to_string(request)? + "\n";
        stdin.write_all(line.as_bytes())
    }
}

/// Passes lines on until the stream ends or nobody takes them. An error of the stream ends it.
fn pass_lines(stdout: ChildStdout, sender: &SyncSender<String>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    while let Ok(1..) = stdout
        .by_ref()
        .take(LONGEST_LINE as u64 + 1)
        .read_until(b'\n', &mut line)
    {
        let text = String::from_utf8_lossy(&line).into_owned();
        if sender.send(text).is_err() {
            return;
        }
        line.clear();
    }
}

/// The last line of a file that is not blank.
pub fn last_line(file: &Path) -> String {
    let text = regular_file::read(file, MOST_MESSAGES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    one_line(last.unwrap_or("it said nothing"), KEPT)
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.send(&Request::Quit);
        self.child.stdin = None;
        let _ = self.child.wait_timeout(ENDING);
        // Also what it started and left.
        #[cfg(unix)]
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
