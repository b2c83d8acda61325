//! One side of the picture: a backend with a crowd, and the means to draw it.

use super::heat::{self, Heat, InstanceWords};
use crate::asset::decode;
use crate::backend::{Backend, Context, FrameData, Prepared, Skinned, Ticket};
use crate::crowd::Crowd;
use crate::frame::{BackendError, FrameInput, Job, Mode, OutputBuffers, Result, StageTimer, View};
use crate::frustum::Frustum;
use crate::gpu::draw::present::Presenter;
use crate::gpu::{Gpu, ImageReader, Overlay, Surfaces};
use crate::harness::single;
use crate::reference::{distances, position, vertex_errors};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A backend with its buffers, its vertices and its picture.
pub struct LiveSide {
    gpu: Arc<Gpu>,
    pub(super) prepared: Box<dyn Prepared>,
    output: OutputBuffers,
    pub(super) timer: StageTimer,
    pub(super) surfaces: Surfaces,
    /// Presenter that draws timed frames, as a run does.
    timed: Option<Presenter>,
    /// Presenter that draws the picture, which is not timed.
    picture: Option<Presenter>,
    /// What the presenters were made for.
    canvas: Option<Canvas>,
    tick: u32,
}

/// Size and style of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Canvas {
    /// Pixels across and down.
    pub size: [u32; 2],
    /// Mode in which meshes are drawn.
    pub mode: Mode,
    /// `true` to draw each instance in its own colour.
    pub tinted: bool,
    /// Number of times that a timed frame draws the crowd. The picture is drawn after the frame and not timed.
    pub passes: u32,
}

impl LiveSide {
    /// Prepares a backend for a crowd. `memory` is the number of bytes of main memory that may be used.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the machine lacks an adapter, [`BackendError::TooLarge`] if the crowd does not
    /// fit, or [`BackendError::Device`] if the device was lost or refused a command.
    pub fn new(
        backend: &dyn Backend,
        context: &Context,
        crowd: &Crowd,
        memory: u64,
    ) -> Result<Self> {
        let gpu = context
            .gpu
            .clone()
            .ok_or_else(|| BackendError::Unavailable("no adapter to draw with".into()))?;
        // Render targets are small compared with crowds, and their size is not known before the first picture.
        let job = Job::default();
        let (prepared, output) = single::prepare(backend, context, crowd, &job, Some(0), memory)?;
        let reader = ImageReader {
            size: decode::size,
            pixels: decode::decode,
        };
        let surfaces = Surfaces::new(&gpu, crowd, reader);
        Ok(Self {
            gpu,
            prepared,
            output,
            timer: StageTimer::default(),
            surfaces,
            timed: None,
            picture: None,
            canvas: None,
            tick: 0,
        })
    }

    /// Computes and draws a frame as a run does, then draws the picture. Returns the wall-clock time of the frame,
    /// which contains nothing else.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if it cannot draw what the backend leaves, or [`BackendError::Device`] if the
    /// device was lost or refused a command.
    pub fn frame(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        view: &View,
        canvas: Canvas,
    ) -> Result<Duration> {
        self.set_canvas(crowd, view, canvas)?;
        self.tick = tick;
        let Self {
            gpu,
            prepared,
            output,
            timer,
            timed,
            picture,
            ..
        } = self;
        prepared.move_camera(&Frustum::new(view.view_projection));
        let Some(picture) = picture else {
            return Ok(Duration::ZERO);
        };
        timer.clear();
        let start = Instant::now();
        let mut frame = FrameInput {
            crowd,
            tick,
            output,
        };
        let mut ticket = prepared.submit(&mut frame, timer)?;
        if let Some(presenter) = timed {
            ticket = ticket.draw(presenter, &prepared.skinned(), &frame, timer)?;
        }
        ticket.finish()?;
        let took = start.elapsed();
        gpu.collect(timer)?;
        gpu.set_timing(false);
        let drawn = Ticket::default().draw(
            picture,
            &prepared.skinned(),
            &frame,
            &mut StageTimer::default(),
        );
        let drawn = drawn.and_then(Ticket::finish);
        gpu.set_timing(true);
        drawn?;
        Ok(took)
    }

    /// The presenter of the picture.
    pub fn presenter(&self) -> Option<&Presenter> {
        self.picture.as_ref()
    }

    /// The skeletons of all instances in the last frame, from the poses that the backend computed.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the backend has no poses, or [`BackendError::Device`] if the device was lost or
    /// refused a command.
    pub fn skeletons(&mut self, crowd: &Crowd) -> Result<Overlay> {
        single::skeletons(&mut *self.prepared, &self.output, crowd, self.tick)
    }

    /// Skinned words of the last frame for as many instances as [`heat::MOST_VERTICES`] allows, by rising index.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn words(&mut self, crowd: &Crowd) -> Result<Vec<InstanceWords>> {
        let visible = self.prepared.visible()?;
        let mut read = Vec::new();
        let mut left = heat::MOST_VERTICES;
        for group in crowd.groups() {
            let vertices = group.model.mesh().vertex_count().max(1);
            let count = group.len().min(left / vertices) as u32;
            left -= count as usize * vertices;
            let instances = group.instances.start..group.instances.start + count;
            let mut words = Vec::new();
            let what = FrameData::Vertices;
            self.prepared
                .read(crowd, &self.output, what, instances.clone(), &mut words)?;
            let shown = instances.filter(|instance| single::shows(visible.as_deref(), *instance));
            for (instance, words) in shown.zip(words.chunks(group.instance_words())) {
                let words = words.to_vec();
                read.push(InstanceWords { instance, words });
            }
        }
        Ok(read)
    }

    /// Colours the last frame by its distance from the reference.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn errors(&mut self, crowd: &Crowd, light: glam::Vec3) -> Result<Heat> {
        let words = self.words(crowd)?;
        let tick = self.tick;
        let blending = self.prepared.blending();
        Ok(heat::paint(crowd, tick, light, words, |shown| {
            let errors = vertex_errors(crowd, shown.instance, tick, blending, &shown.words);
            Some(errors)
        }))
    }

    /// Colours the last frame by its distance from that of another side.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn differences(
        &mut self,
        other: &mut Self,
        crowd: &Crowd,
        light: glam::Vec3,
    ) -> Result<Heat> {
        let theirs = other.words(crowd)?;
        let words = self.words(crowd)?;
        Ok(heat::paint(crowd, self.tick, light, words, |shown| {
            let index = theirs
                .binary_search_by_key(&shown.instance, |other| other.instance)
                .ok()?;
            let group = &crowd.groups()[crowd.group_of(shown.instance)];
            let other: Vec<&[f32]> = theirs[index].words.chunks(group.format.words()).collect();
            Some(distances(crowd, group, &shown.words, |vertex| {
                position(group, other[vertex])
            }))
        }))
    }

    /// Returns whether the vertices have a layout that nothing draws.
    pub fn cannot_be_drawn(&self) -> bool {
        matches!(self.prepared.skinned(), Skinned::HostInBlocks)
    }

    fn set_canvas(&mut self, crowd: &Crowd, view: &View, canvas: Canvas) -> Result<()> {
        if self.canvas != Some(canvas) {
            // Frees the old targets first: memory may not suffice for both.
            self.canvas = None;
            self.timed = None;
            self.picture = None;
            let [width, height] = canvas.size;
            let view = View {
                width,
                height,
                mode: canvas.mode,
                ..*view
            };
            let gpu = Arc::clone(&self.gpu);
            let tinted = canvas.tinted;
            let picture = Presenter::for_pictures(gpu, crowd, view, &self.surfaces, tinted)?;
            self.picture = Some(picture);
            if canvas.passes > 0 {
                let view = View {
                    mode: Mode::Skin,
                    ..view
                };
                let gpu = Arc::clone(&self.gpu);
                self.timed = Some(Presenter::new(gpu, crowd, view, canvas.passes)?);
            }
            self.canvas = Some(canvas);
        }
        for presenter in self.timed.iter_mut().chain(&mut self.picture) {
            presenter.set_view_projection(view.view_projection);
        }
        Ok(())
    }
}
