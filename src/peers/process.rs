//! A running peer: one line to it, one line from it, within limits of time and size.

use super::protocol::Request;
use crate::frame::{BackendError, Result};
use crate::threads::lock;
use crate::wording::one_line;
#[cfg(unix)]
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use wait_timeout::ChildExt;

/// Longest line of an answer.
const LONGEST_LINE: u64 = 1 << 20;
/// Last bytes of standard error that are kept for messages, and characters of an answer that are repeated there.
const KEPT: usize = 200;
/// Time in which a peer must end after its output has ended.
const ENDING: Duration = Duration::from_secs(2);

/// A started peer; dropping it ends its processes.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Lines of its standard output, of which only the first bytes may be there if they are longer than
    /// [`LONGEST_LINE`].
    lines: Receiver<Vec<u8>>,
    /// The end of what it wrote to standard error.
    last_words: Arc<Mutex<Vec<u8>>>,
    timeout: Duration,
}

impl Process {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// [`BackendError::Failed`] if it does not start.
    pub fn start(mut command: Command, timeout: Duration) -> Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            let program = command.get_program().display();
            BackendError::Failed(format!("cannot start {program}: {error}"))
        })?;
        let stdin = child.stdin.take();
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(BackendError::Failed("has no pipes".into()));
        };
        // Room for one line: a peer that floods its output waits.
        let (sender, lines) = sync_channel(1);
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            // An error of the pipe ends it.
            while let Ok(1..) = stdout
                .by_ref()
                .take(LONGEST_LINE + 1)
                .read_until(b'\n', &mut line)
            {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&last_words);
        thread::spawn(move || keep_tail(stderr, &kept));
        Ok(Self {
            child,
            stdin,
            lines,
            last_words,
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
        if let Ok(line) = self.lines.try_recv() {
            return Err(BackendError::Failed(format!(
                "wrote a line before it was asked to {name}: {}",
                one_line(String::from_utf8_lossy(&line).trim(), KEPT)
            )));
        }
        // A peer that has ended is noticed when its answer is read.
        let _ = self.send(request);
        let line = self.answer(name).map_err(BackendError::Failed)?;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        let value: Value =
            serde_json::from_str(line).map_err(|error| unreadable(name, line, &error))?;
        if let Value::String(why) = &value["refused"] {
            return Err(BackendError::Unavailable(one_line(why, KEPT)));
        }
        if let Value::String(why) = &value["failed"] {
            let why = one_line(why, KEPT);
            return Err(BackendError::Failed(format!("failed at {name}: {why}")));
        }
        serde_json::from_value(value).map_err(|error| unreadable(name, line, &error))
    }

    /// Waits for the line that answers a request; fails with the reason why there is none.
    fn answer(&mut self, name: &str) -> Result<Vec<u8>, String> {
        match self.lines.recv_timeout(self.timeout) {
            Ok(line) if line.len() as u64 > LONGEST_LINE => Err(format!(
                "answered {name} with a line of more than {LONGEST_LINE} bytes"
            )),
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Disconnected) => {
                Err(format!("ended before it answered {name}{}", self.ending()))
            }
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "took more than {} s to answer {name}",
                self.timeout.as_secs()
            )),
        }
    }

    fn send(&mut self, request: &Request) -> std::io::Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        stdin.write_all(&line)?;
        stdin.flush()
    }

    /// How the program ended, and what it wrote last, as the end of a message.
    fn ending(&mut self) -> String {
        let mut ending = match self.child.wait_timeout(ENDING) {
            Ok(Some(status)) => format!(" ({status})"),
            _ => " (closed its output)".into(),
        };
        let last_words = lock(&self.last_words);
        let text = String::from_utf8_lossy(&last_words);
        if let Some(line) = text.lines().rfind(|line| !line.trim().is_empty()) {
            ending += ": ";
            ending += &one_line(line, KEPT);
        }
        ending
    }
}

fn unreadable(name: &str, line: &str, error: &serde_json::Error) -> BackendError {
    let [line, error] = [line, &error.to_string()].map(|text| one_line(text, KEPT));
    BackendError::Failed(format!("answered {name} with {line}: {error}"))
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.send(&Request::Quit);
        self.stdin = None;
        if let Err(RecvTimeoutError::Disconnected) = self.lines.recv_timeout(ENDING) {
            let _ = self.child.wait_timeout(ENDING);
        }
        // Also what it started and left.
        #[cfg(unix)]
        if let Ok(group) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads all of a stream and keeps its last bytes.
fn keep_tail(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        let mut kept = lock(kept);
        kept.extend_from_slice(&chunk[..length]);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}
