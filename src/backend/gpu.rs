//! All GPU backends: a [`Strategy`] becomes a list of passes, which a frame records one after the other.

pub use super::gpu_abilities::abilities;
use super::stage_bytes::{posed, skinned};
use super::{Abilities, Backend, Context, FrameData, Prepared, Skinned, Ticket};
use crate::crowd::Crowd;
use crate::frame::{
    Approximation, BackendError, Bytes, Footprint, FrameInput, HostPoser, Job, OutputBuffers,
    OutputUser, Result, StageTimer, Traffic, clips_in_place,
};
use crate::frustum::Frustum;
use crate::gameplay::GameplayData;
use crate::gpu::passes::cull::Cull;
use crate::gpu::passes::gameplay::Gameplay;
use crate::gpu::passes::pose::PoseBytes;
use crate::gpu::passes::skin::Skin;
use crate::gpu::passes::upload::Upload;
use crate::gpu::passes::{Frame, Outputs, Plan, plan};
use crate::gpu::{Capture, Drawable, Gpu, PaletteForm, Posing};
pub use crate::gpu::{Skinning, Strategy};
use crate::reference::Blending;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A GPU backend.
struct GpuBackend {
    gpu: Arc<Gpu>,
    strategy: Strategy,
}

/// Creates the backend of a strategy.
///
/// # Errors
/// [`BackendError::Unavailable`] if there is no adapter.
pub fn create(context: &Context, strategy: Strategy) -> Result<Box<dyn Backend>> {
    let gpu = context
        .gpu
        .clone()
        .ok_or_else(|| BackendError::Unavailable("no adapter".into()))?;
    Ok(Box::new(GpuBackend { gpu, strategy }))
}

impl GpuBackend {
    /// As [`Backend::prepare`], on a device of choice: the adapter's, or one that only counts.
    fn prepare_on(&self, gpu: &Arc<Gpu>, crowd: &Crowd, job: &Job) -> Result<PreparedGpu> {
        let (plan, memory) = gpu.counted(|| plan(gpu, crowd, self.strategy, job));
        Ok(PreparedGpu {
            gpu: Arc::clone(gpu),
            strategy: self.strategy,
            plan: plan?,
            memory,
            user: OutputUser::default(),
            capture: None,
            in_view: OnceCell::new(),
        })
    }
}

impl PreparedGpu {
    /// The poses on the host, if there are any.
    fn host_poser(&self) -> Option<&HostPoser> {
        self.plan.find::<Upload>()?.host.as_ref()
    }
}

impl Backend for GpuBackend {
    fn abilities(&self) -> Abilities {
        abilities(self.strategy)
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        abilities(self.strategy).check(crowd, job)?;
        let mut counted = self.prepare_on(&self.gpu.counting(), crowd, job)?;
        counted.prepare_read(crowd)?;
        Ok(counted.footprint(crowd))
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(self.prepare_on(&self.gpu, crowd, job)?))
    }
}

/// A backend with its passes for a crowd.
pub(super) struct PreparedGpu {
    pub gpu: Arc<Gpu>,
    pub strategy: Strategy,
    pub plan: Plan,
    /// Bytes on the device.
    pub memory: Bytes,
    user: OutputUser,
    /// Created when vertices of draws that skin are read back for the first time.
    pub capture: Option<Capture>,
    /// Instances in view in the last frame, once they have been read: rising indices for each chunk.
    pub in_view: OnceCell<Vec<Vec<u32>>>,
}

impl Prepared for PreparedGpu {
    fn device(&self) -> String {
        let mut device = self.gpu.adapter.summary.name.clone();
        for label in &self.plan.labels {
            device += &format!(", {label}");
        }
        device
    }

    fn footprint(&self, crowd: &Crowd) -> Footprint {
        let passes = self.plan.passes.iter();
        let mut footprint = Footprint {
            host: passes.map(|pass| pass.host_memory()).sum(),
            device: self.memory,
            device_output: self.plan.source.is_none() && !self.strategy.keeps_vertices(),
            ..Footprint::default()
        };
        if self.strategy.poses_on_host() {
            footprint.in_place = clips_in_place(crowd);
        }
        footprint
    }

    fn blending(&self) -> Blending {
        match self.strategy.skin.palette() {
            PaletteForm::DualQuaternions => Blending::DualQuaternion,
            _ => Blending::Linear,
        }
    }

    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        if let Some(gameplay) = self.plan.find_mut::<Gameplay>() {
            return gameplay.read(&self.gpu).cloned().map(Some);
        }
        let host = self.host_poser();
        Ok(host.and_then(|host| host.gameplay().cloned()))
    }

    fn gameplay_delay(&self) -> Option<u32> {
        if let Some(gameplay) = self.plan.find::<Gameplay>() {
            return gameplay.delay;
        }
        self.host_poser()?.gameplay().map(|_| 0)
    }

    fn approximation(&self) -> Option<Approximation> {
        self.plan.approximation
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        // The number of instances in view differs from tick to tick.
        if self.strategy.posing == Posing::Visible || crowd.has_frozen() {
            return Vec::new();
        }
        let poses = PoseBytes::of(&self.plan.table);
        let mut traffic = posed(crowd, self.strategy.skin.palette(), poses);
        if let Some(skin) = self.plan.find::<Skin>() {
            let kernel = skin.kernel();
            traffic.push(skinned(crowd, kernel.palette, kernel.mesh));
        }
        traffic
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        self.in_view.take();
        // Vertices that the output buffers hold of frozen instances need not be computed again.
        let kept = frame.output.hand_to(&self.user)
            && self.strategy.posing != Posing::Visible
            && !self.strategy.keeps_vertices()
            && frame.crowd.turnover().is_none();
        if let Some(gameplay) = self.plan.find_mut::<Gameplay>() {
            gameplay.arrive(&self.gpu, timer)?;
        }
        let mut commands = self.gpu.frame("frame");
        let mut recorded = Frame {
            gpu: &self.gpu,
            crowd: frame.crowd,
            tick: frame.tick,
            outputs: Outputs::Buffers(&frame.output.device),
            kept,
            commands: &mut commands,
            timer,
        };
        self.plan.record(&mut recorded);
        Ok(Ticket::recorded(commands))
    }

    fn move_camera(&mut self, frustum: &Frustum) {
        if let Some(cull) = self.plan.find_mut::<Cull>() {
            cull.move_camera(frustum);
        }
    }

    fn skinned(&self) -> Skinned {
        Skinned::Device(match (&self.plan.source, self.plan.find::<Skin>()) {
            (Some(source), _) => Drawable::Shader(Arc::clone(source)),
            (None, Some(skin)) => skin.drawable(),
            (None, None) => Drawable::Output(Default::default()),
        })
    }

    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        let Some(in_view) = self.in_view()? else {
            return Ok(None);
        };
        let mut all = Vec::new();
        for (chunk, in_view) in self.plan.table.chunks.iter().zip(in_view) {
            all.extend(in_view.iter().map(|index| chunk.instances.start + index));
        }
        Ok(Some(all))
    }

    fn read(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        what: FrameData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let Some(pose) = what.pose() else {
            self.prepare_read(crowd)?;
            if self.capture.is_some() {
                return self.read_captured(crowd, instances, out);
            }
            return self.read_skinned(crowd, output, instances, out);
        };
        if !self.plan.table.poses.is_empty() {
            return self.read_device_poses(crowd, pose, instances, out);
        }
        if !self.strategy.poses_on_host() {
            return Err(BackendError::Unavailable(
                "has no poses to read back: palettes are baked".into(),
            ));
        }
        if let Some(host) = self.host_poser() {
            host.read(crowd, pose, instances, out);
        }
        Ok(())
    }
}
