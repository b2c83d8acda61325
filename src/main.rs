//! The command line: parse, dispatch, exit code.
//!
//! | module | holds |
//! | --- | --- |
//! | `cli` | one file for each verb |

// Both panic where nobody reads; `cli::output` has what does not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod cli;

#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};
use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Mesa asks Wayland for the desktop's choice of device, and complains on stderr where there is no desktop.
    if cfg!(target_os = "linux")
        && env::var_os("XDG_RUNTIME_DIR")
            .unwrap_or_default()
            .is_empty()
    {
        // SAFETY: no other thread has been started.
        unsafe { env::set_var("NODEVICE_SELECT", "1") };
    }
    // Without this, a limit of the size of files would end the process before it says so.
    #[cfg(unix)]
    // SAFETY: no handler is installed.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    match cli::Cli::parsed() {
        Ok(arguments) => cli::report(arguments.run()),
        Err(error) => cli::report_usage(&error),
    }
}
