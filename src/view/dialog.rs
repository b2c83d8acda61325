//! The file dialog of the system.

use crate::threads::lock;
use std::path::PathBuf;
use std::sync::Mutex;

/// Chooses a file to open; none if the dialog was cancelled.
///
/// # Errors
/// One line: the system has no dialog.
pub fn open() -> Result<Option<PathBuf>, String> {
    told(|| {
        rfd::FileDialog::new()
            .set_title("Open a scene or a model")
            .pick_file()
    })
}

/// The crate answers a dialog that cannot be shown as one that was cancelled. It logs the difference.
fn told(choose: impl FnOnce() -> Option<PathBuf>) -> Result<Option<PathBuf>, String> {
    // Another logger of the process hears the reason instead; the dialog counts as cancelled then.
    if log::set_logger(&LISTENER).is_ok() {
        log::set_max_level(log::LevelFilter::Error);
    }
    lock(&LISTENER.0).take();
    let chosen = choose();
    match lock(&LISTENER.0).take().filter(|_| chosen.is_none()) {
        None => Ok(chosen),
        Some(reason) => Err(format!(
            "the system has no file dialog ({reason}); the packages xdg-desktop-portal and zenity have one, and files \
             can be dropped on the window"
        )),
    }
}

static LISTENER: Listener = Listener(Mutex::new(None));

/// Keeps the last error that a dialog logged.
struct Listener(Mutex<Option<String>>);

impl log::Log for Listener {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.level() == log::Level::Error && metadata.target().starts_with("rfd")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            *lock(&self.0) = Some(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_that_fails_is_told_from_one_that_is_cancelled() {
        assert_eq!(told(|| None), Ok(None));
        assert_eq!(told(|| Some("a.glb".into())), Ok(Some("a.glb".into())));
        let failed = told(|| {
            log::error!(target: "rfd::backend", "Failed to pick file with zenity: not found");
            log::error!(target: "another", "something else");
            None
        });
        let problem = failed.unwrap_err();
        assert!(
            problem.contains("(Failed to pick file with zenity: not found)"),
            "{problem}"
        );
        assert_eq!(told(|| None), Ok(None), "an old reason is forgotten");
    }
}
