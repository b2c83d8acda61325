//! The window: sends requests to the thread that draws, shows its answers, and performs what panels ask of the system.

use super::dialog;
use super::engine::{Engine, ShownFrame};
use super::panels::{self, Action, Live};
use super::state::State;
use super::worker::{Answer, Worker};
use eframe::egui;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// Longest time that the window waits for a frame. While it waits, it does not compete with the frame. During slower
/// frames it stays responsive.
const PATIENCE: Duration = Duration::from_millis(50);
/// Time between two polls of a measurement, which must not be disturbed.
const LOOK: Duration = Duration::from_millis(500);
/// Number of pictures before a screenshot, so that the figures show some history.
const BEFORE_SCREENSHOT: u32 = 40;

/// A way to write pixels of a width and height to a file.
pub type WritePicture = fn(&Path, [u32; 2], &[u8]) -> Result<(), String>;

/// Options of the window.
pub struct WindowOptions {
    /// File for a picture of the window, which closes after it is written.
    pub screenshot: Option<PathBuf>,
    /// Time after which the window closes.
    pub exit_after: Option<Duration>,
    /// Width and height in points.
    pub size: [f32; 2],
    /// Writes settings.
    pub remember: Box<dyn Fn(&super::state::Preferences)>,
    /// Writes RGBA 8 bit sRGB pixels of a width and height as PNG.
    pub write_picture: WritePicture,
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// One line: there is no display, or no adapter that can show a window, or a screenshot could not be taken.
pub fn open(
    state: State,
    options: WindowOptions,
    make: impl FnOnce() -> Engine + Send + 'static,
) -> Result<(), String> {
    let viewport = egui::ViewportBuilder::default()
        .with_title("skinbench")
        .with_app_id("skinbench")
        .with_inner_size(options.size)
        .with_min_inner_size([900.0, 560.0]);
    let native = eframe::NativeOptions {
        viewport,
        ..Default::default()
    };
    let (outcome, ended) = mpsc::channel();
    let created: eframe::AppCreator = Box::new(move |creation| {
        let ctx = creation.egui_ctx.clone();
        if let Some(dark) = state.preferences.dark {
            ctx.set_theme(if dark {
                egui::Theme::Dark
            } else {
                egui::Theme::Light
            });
        }
        let worker = Worker::start(make, move || ctx.request_repaint())?;
        Ok(Box::new(Window::new(state, options, worker, outcome)))
    });
    eframe::run_native("skinbench", native, created).map_err(|error| match error {
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => "no display to open a window on; start it in a \
            desktop session, set DISPLAY or WAYLAND_DISPLAY, or use `skinbench render` for a picture without a window"
            .to_owned(),
        error => format!("cannot open a window: {error}"),
    })?;
    ended.try_iter().find_map(Result::err).map_or(Ok(()), Err)
}

struct Window {
    state: State,
    options: WindowOptions,
    worker: Worker,
    live: Live,
    opened: Instant,
    last: Instant,
    pictures: u32,
    /// Channel by which dialogs and screenshots return their results.
    sender: Sender<Brought>,
    brought: Receiver<Brought>,
    asked: bool,
    outcome: Sender<Result<(), String>>,
}

enum Brought {
    Open(PathBuf),
    Failed(String),
    Screenshot(Arc<egui::ColorImage>),
}

impl Window {
    fn new(
        state: State,
        options: WindowOptions,
        worker: Worker,
        outcome: Sender<Result<(), String>>,
    ) -> Self {
        let now = Instant::now();
        let (sender, brought) = mpsc::channel();
        Self {
            state,
            options,
            worker,
            live: Live {
                size: [640, 480],
                ..Live::default()
            },
            opened: now,
            last: now,
            pictures: 0,
            sender,
            brought,
            asked: false,
            outcome,
        }
    }

    /// Receives answers and requests the next picture.
    fn exchange(&mut self, ctx: &egui::Context) {
        let elapsed = self.last.elapsed();
        self.last = Instant::now();
        // A pause between redraws, however long, advances the scene by a quarter of a second at most.
        self.state.player.advance(elapsed.as_secs_f64().min(0.25));
        let measuring = self.live.progress.is_some();
        if !self.worker.is_busy() {
            self.worker.show(self.state.clone(), self.live.size);
        }
        let patience = if measuring { Duration::ZERO } else { PATIENCE };
        while let Some(answer) = self.worker.answer(patience) {
            match answer {
                Answer::Shown(shown) => self.take(ctx, *shown),
                Answer::Progress(what, done) => self.live.progress = Some((what, done)),
                Answer::Measured(measured) => {
                    self.live.progress = None;
                    self.live.measured = Some(measured);
                }
            }
            if !self.worker.is_busy() {
                break;
            }
        }
        if self.worker.has_ended() {
            self.live.shown.problem =
                Some("the thread that draws has failed; open the window again".into());
        }
        if measuring {
            ctx.request_repaint_after(LOOK);
        } else if self.state.player.playing || self.worker.is_busy() {
            ctx.request_repaint();
        } else {
            // While the picture stands still, live figures are updated at a low rate that leaves the machine idle.
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    fn take(&mut self, ctx: &egui::Context, mut shown: ShownFrame) {
        for (index, texture) in self.live.textures.iter_mut().enumerate() {
            let Some(side) = shown
                .sides
                .get_mut(index)
                .filter(|side| !side.pixels.is_empty())
            else {
                continue;
            };
            let size = side.size.map(|pixels| pixels as usize);
            let pixels = std::mem::take(&mut side.pixels);
            let image = egui::ColorImage::from_rgba_unmultiplied(size, &pixels);
            let linear = egui::TextureOptions::LINEAR;
            match texture {
                Some(texture) => texture.set(image, linear),
                None => *texture = Some(ctx.load_texture(["A", "B"][index], image, linear)),
            }
            self.pictures += 1;
        }
        if let Some(facts) = &shown.facts {
            self.state.player.set_length(facts.duration);
        }
        self.live.take(shown);
    }

    fn act(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Interrupt => self.worker.interrupt(),
            Action::Measure => {
                self.state.player.pause();
                let backends = self.state.backends().to_vec();
                self.worker.measure(self.state.scene(), backends);
                self.live.progress = Some(("starting".into(), 0.0));
            }
            Action::Open => self.dialog(ctx),
        }
    }

    /// Opens a dialog on a separate thread, because some systems block for as long as it is open.
    fn dialog(&mut self, ctx: &egui::Context) {
        let sender = self.sender.clone();
        let ctx = ctx.clone();
        let spawned = std::thread::Builder::new()
            .name("dialog".into())
            .spawn(move || {
                let chosen = match dialog::open() {
                    Ok(file) => file.map(Brought::Open),
                    Err(problem) => Some(Brought::Failed(problem)),
                };
                // If the window was closed meanwhile, the choice is dropped.
                if chosen.is_some_and(|chosen| sender.send(chosen).is_ok()) {
                    ctx.request_repaint();
                }
            });
        if let Err(error) = spawned {
            self.state.problem = Some(format!("cannot open a dialog: {error}"));
        }
    }

    fn take_brought(&mut self, ctx: &egui::Context) {
        let dropped = ctx.input(|input| input.raw.dropped_files.first().cloned());
        if let Some(file) = dropped {
            self.state.switch_to(&file.path().display().to_string());
        }
        while let Ok(brought) = self.brought.try_recv() {
            match brought {
                Brought::Open(path) => self.state.switch_to(&path.display().to_string()),
                Brought::Failed(problem) => self.state.problem = Some(problem),
                Brought::Screenshot(image) => {
                    if let Some(path) = &self.options.screenshot {
                        let size = image.size.map(|pixels| pixels as u32);
                        let write = self.options.write_picture;
                        self.close(ctx, write(path, size, image.as_raw()));
                    }
                }
            }
        }
    }

    /// Asks for the screenshot, and closes the window when its time is over.
    fn finish(&mut self, ctx: &egui::Context) {
        let elapsed = self.opened.elapsed();
        let limit = self.options.exit_after;
        let over = limit.is_some_and(|limit| elapsed >= limit);
        let takes_picture = self.options.screenshot.is_some();
        let enough = self.pictures >= BEFORE_SCREENSHOT || (over && self.pictures > 0);
        if takes_picture && enough && !self.asked {
            self.asked = true;
            let sender = self.sender.clone();
            let again = ctx.clone();
            let callback = egui::ScreenshotCallback::new(move |image| {
                if sender.send(Brought::Screenshot(image)).is_ok() {
                    again.request_repaint();
                }
            });
            ctx.send_viewport_cmd(egui::ViewportCommand::Screenshot(callback));
        } else if over && !self.asked {
            let waited = limit.unwrap_or_default().as_secs();
            let result = if takes_picture {
                Err(format!(
                    "nothing was drawn within {waited} s; expected a picture for the screenshot"
                ))
            } else {
                Ok(())
            };
            self.close(ctx, result);
        }
        if let Some(limit) = limit {
            let left = limit.saturating_sub(elapsed);
            ctx.request_repaint_after(left.max(Duration::from_millis(20)));
        }
    }

    fn close(&self, ctx: &egui::Context, result: Result<(), String>) {
        // The receiver lives until the window is closed.
        drop(self.outcome.send(result));
        ctx.send_viewport_cmd(egui::ViewportCommand::Close);
    }
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        self.exchange(&ctx);
        self.take_brought(&ctx);
        for action in panels::show(ui, &mut self.state, &mut self.live) {
            self.act(&ctx, action);
        }
        self.finish(&ctx);
    }

    fn on_exit(&mut self) {
        self.worker.interrupt();
        (self.options.remember)(&self.state.preferences);
    }
}
