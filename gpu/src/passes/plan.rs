//! The list of a frame's passes.

use crate::Gpu;
use crate::crowd::chunk::Sharing;
use crate::crowd::table::CrowdTable;
use crate::device::needs;
use crate::forms::baked::BakedGroups;
use crate::forms::clips::ClipStore;
use crate::forms::half_palette;
use crate::forms::palettes::PaletteForm;
use crate::passes::bake::Bake;
use crate::passes::cull::Cull;
use crate::passes::draw::skinned_while_drawn;
use crate::passes::gameplay::Gameplay;
use crate::passes::morph::Morph;
use crate::passes::pose::{Pose, blends};
use crate::passes::skin::Skin;
use crate::passes::tick::Tick;
use crate::passes::update::{Record, Update};
use crate::passes::upload::Upload;
use crate::passes::vertices::VertexSource;
use crate::passes::{Frame, Pass, Posing, Skinning, Strategy};
use skinbench_frame::{Approximation, Job, Result};
use skinbench_kernels::crowd::Crowd;
use std::any::Any;
use std::sync::Arc;

/// The passes of a frame, and what they have in common.
pub struct Plan {
    /// The crowd, and what passes hand out to others and to those who read frames back.
    pub table: CrowdTable,
    /// The passes, in the order in which they are recorded.
    pub passes: Vec<Box<dyn Pass>>,
    /// The vertices of draws that skin.
    pub source: Option<Arc<VertexSource>>,
    /// Stated error of baked or rounded palettes.
    pub approximation: Option<Approximation>,
    /// Short descriptions, for tables, of how palettes are made and which kernels were chosen.
    pub labels: Vec<String>,
}

/// What palettes are made from.
enum PoseSource {
    /// Clips on the host.
    Host,
    /// Baked frames.
    Baked(BakedGroups),
    /// Clips on the device, those of each group.
    Device(Vec<ClipStore>),
}

/// Lists the passes of a strategy for a crowd, and allocates everything that they need.
///
/// # Errors
/// [`BackendError::Unavailable`](skinbench_frame::BackendError::Unavailable) if the adapter lacks a feature, or
/// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the crowd exceeds one of its limits.
pub fn plan(gpu: &Arc<Gpu>, crowd: &Crowd, strategy: Strategy, job: &Job) -> Result<Plan> {
    let palette = strategy.skin.palette();
    let poses = PoseSource::new(gpu, crowd, strategy)?;
    let mut plan = Plan::new(poses.table(gpu, crowd, strategy)?);
    match &poses {
        PoseSource::Host => {
            plan.table.bind_numbers(gpu, false);
            let upload = Upload::new(gpu, crowd, &mut plan.table, palette, job)?;
            plan.push(upload);
        }
        PoseSource::Baked(baked) => {
            plan.play(gpu, crowd, strategy, job)?;
            let bake = Bake::new(gpu, crowd, &mut plan.table, baked)?;
            plan.push(bake);
        }
        PoseSource::Device(clips) => {
            plan.play(gpu, crowd, strategy, job)?;
            let mut pose = Pose::new(gpu, crowd, &mut plan.table, clips)?;
            plan.choose_walk(gpu, &mut pose)?;
            plan.push(pose);
        }
    }
    plan.approximate(crowd, palette, &poses);
    if let (Some(reads), PoseSource::Baked(_) | PoseSource::Device(_)) = (&job.gameplay, &poses) {
        let error = plan.approximation.map_or(0.0, |stated| stated.position);
        let gameplay = Gameplay::new(gpu, crowd, &plan.table, palette, reads, error)?;
        plan.push(gameplay);
    }
    if let Some(form) = strategy.skin.morph().of(crowd) {
        let morph = Morph::new(gpu, crowd, &mut plan.table, form)?;
        plan.push(morph);
    }
    match strategy.skin {
        Skinning::Vertex(mesh, palette) => {
            let source = skinned_while_drawn(gpu, crowd, &plan.table, mesh, palette)?;
            plan.source = Some(Arc::new(source));
        }
        Skinning::Compute(kernels) => {
            let tried = if job.first_kernel { 1 } else { kernels.len() };
            let keep = strategy.keeps_vertices().then_some(job.keep);
            let skin = Skin::new(gpu, crowd, &mut plan.table, &kernels[..tried], keep)?;
            plan.labels.extend(skin.label());
            plan.push(skin);
        }
    }
    gpu.check()?;
    Ok(plan)
}

impl PoseSource {
    fn new(gpu: &Gpu, crowd: &Crowd, strategy: Strategy) -> Result<Self> {
        let palette = strategy.skin.palette();
        if strategy.posing == Posing::Visible {
            // Old GL drivers and Apple's first GPUs lack it.
            let indirect = wgpu::DownlevelFlags::INDIRECT_EXECUTION;
            needs!(
                gpu.adapter.downlevel.contains(indirect),
                "the device has no indirect dispatches and draws"
            );
        }
        if let PaletteForm::Baked(format) = palette {
            return BakedGroups::new(gpu, crowd, format).map(Self::Baked);
        }
        if strategy.posing == Posing::Host {
            return Ok(Self::Host);
        }
        needs!(
            palette.is_rows(),
            "poses on the device are rows of 3x4 matrices"
        );
        let plain = !blends(crowd);
        let mut clips = Vec::with_capacity(crowd.groups().len());
        for group in crowd.groups() {
            let mut store = ClipStore::new(&group.model, plain);
            // Joints of a live crowd may be given any scale.
            store.needs.rigid &= !crowd.is_live();
            clips.push(store);
        }
        Ok(Self::Device(clips))
    }

    /// Divides the crowd by what its chunks share.
    fn table(&self, gpu: &Gpu, crowd: &Crowd, strategy: Strategy) -> Result<CrowdTable> {
        let sharing = match self {
            Self::Host if strategy.skin.is_merged() => Sharing::Vertices,
            Self::Baked(_) if strategy.posing == Posing::Device => Sharing::Poses(&[]),
            Self::Device(clips) if strategy.posing == Posing::Device => Sharing::Poses(clips),
            _ => Sharing::Nothing,
        };
        let baked = match self {
            Self::Baked(baked) => Some(baked),
            _ => None,
        };
        CrowdTable::new(gpu, crowd, &sharing, baked)
    }
}

impl Plan {
    /// A plan without passes.
    pub fn new(table: CrowdTable) -> Self {
        Self {
            table,
            passes: Vec::new(),
            source: None,
            approximation: None,
            labels: Vec::new(),
        }
    }

    /// Adds a pass to the list.
    pub fn push(&mut self, pass: impl Pass) {
        self.passes.push(Box::new(pass));
    }

    /// The pass of a type, if the plan has it.
    pub fn find<P: Pass>(&self) -> Option<&P> {
        let mut passes = self.passes.iter();
        passes.find_map(|pass| (&**pass as &dyn Any).downcast_ref())
    }

    /// As [`Plan::find`].
    pub fn find_mut<P: Pass>(&mut self) -> Option<&mut P> {
        let mut passes = self.passes.iter_mut();
        passes.find_map(|pass| (&mut **pass as &mut dyn Any).downcast_mut())
    }

    /// Records all passes.
    pub fn record(&mut self, frame: &mut Frame) {
        for pass in &mut self.passes {
            pass.record(frame);
        }
    }

    /// Lists the passes that bring the device to a tick: what instances play, and which of them are in view.
    fn play(&mut self, gpu: &Gpu, crowd: &Crowd, strategy: Strategy, job: &Job) -> Result<()> {
        let culls = strategy.posing == Posing::Visible;
        let players = if culls { "everyone" } else { "players" };
        let tick = Tick::new(gpu, crowd, &mut self.table, players);
        if crowd.turnover().is_some() || crowd.is_live() {
            let mut update = Update::new(gpu, Record::Layer)?;
            for (batch, layers) in self.table.batches.iter().zip(&tick.layers) {
                let instances = self.table.instances(batch);
                update.push(gpu, crowd, instances, layers, Vec::new());
            }
            self.push(update);
        }
        self.push(tick);
        if culls {
            let cull = Cull::new(gpu, crowd, &mut self.table, &job.frustum)?;
            self.push(cull);
        } else {
            self.table.bind_numbers(gpu, true);
        }
        Ok(())
    }

    /// Finds the fastest kernel from local to model poses.
    fn choose_walk(&mut self, gpu: &Arc<Gpu>, pose: &mut Pose) -> Result<()> {
        if let Some(cull) = self.find::<Cull>() {
            // Counts the instances in view once, so that the kernels have work.
            let mut commands = gpu.commands("cull");
            cull.count(&mut commands);
            commands.finish()?;
        }
        pose.choose_walk(gpu)?;
        self.labels.push(pose.label());
        Ok(())
    }

    /// States the error of palettes.
    fn approximate(&mut self, crowd: &Crowd, palette: PaletteForm, poses: &PoseSource) {
        if let PoseSource::Baked(baked) = poses {
            self.approximation = Some(baked.approximation);
            self.labels.push(baked.label.clone());
        } else if palette == PaletteForm::Half {
            let stated = half_palette::approximation(crowd);
            self.approximation = Some(stated);
            self.labels.push(format!(
                "vertices off by at most {:.1e} of the size",
                stated.position
            ));
        }
    }
}
