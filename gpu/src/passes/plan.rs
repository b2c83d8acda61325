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

/// Lists the passes of a strategy for a crowd, and allocates everything that they need.
///
/// # Errors
/// [`BackendError::Unavailable`](skinbench_frame::BackendError::Unavailable) if the adapter lacks a feature, or
/// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the crowd exceeds one of its limits.
pub fn plan(gpu: &Arc<Gpu>, crowd: &Crowd, strategy: Strategy, job: &Job) -> Result<Plan> {
    let palette = strategy.skin.palette();
    let baked = match palette {
        PaletteForm::Baked(format) => Some(BakedGroups::new(gpu, crowd, format)?),
        _ => None,
    };
    let mut clips = Vec::new();
    if baked.is_none() && !strategy.poses_on_host() {
        let plain = !blends(crowd);
        for group in crowd.groups() {
            clips.push(ClipStore::new(&group.model, plain));
        }
    }
    let mut plan = Plan::new(gpu, crowd, strategy, baked.as_ref(), &clips)?;
    if strategy.poses_on_host() {
        plan.table.bind_numbers(gpu, false);
        let upload = Upload::new(gpu, crowd, &mut plan.table, palette, job)?;
        plan.push(upload);
    } else {
        check_device(gpu, strategy)?;
        let culled = strategy.posing == Posing::Visible;
        plan.pose_on_device(gpu, crowd, job, palette, culled, baked.as_ref(), &clips)?;
    }
    plan.approximation = match &baked {
        Some(baked) => Some(baked.approximation),
        None if palette == PaletteForm::Half => Some(half_palette::approximation(crowd)),
        None => None,
    };
    plan.describe(baked.as_ref());
    if let Some(reads) = job.gameplay.as_ref().filter(|_| !strategy.poses_on_host()) {
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
            let tried = if job.first_kernel {
                &kernels[..1]
            } else {
                kernels
            };
            let keep = strategy.keeps_vertices().then_some(job.keep);
            let skin = Skin::new(gpu, crowd, &mut plan.table, tried, keep)?;
            plan.labels.extend(skin.label());
            plan.push(skin);
        }
    }
    gpu.check()?;
    Ok(plan)
}

impl Plan {
    /// A plan without passes.
    fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        strategy: Strategy,
        baked: Option<&BakedGroups>,
        clips: &[ClipStore],
    ) -> Result<Self> {
        let sharing = if strategy.skin.is_merged() {
            Sharing::Vertices
        } else if strategy.posing == Posing::Device {
            Sharing::Poses(clips)
        } else {
            Sharing::Nothing
        };
        let table = CrowdTable::new(gpu, crowd, &sharing, baked)?;
        Ok(Self {
            table,
            passes: Vec::new(),
            source: None,
            approximation: None,
            labels: Vec::new(),
        })
    }

    /// Adds a pass to the list. The table has what it reads.
    pub fn push(&mut self, pass: impl Pass) {
        for input in pass.interface().inputs {
            let mut bindings = self.table.bindings.iter();
            debug_assert!(
                bindings.all(|named| named.iter().any(|bound| bound.0 == *input)),
                "{input}"
            );
        }
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

    fn pose_on_device(
        &mut self,
        gpu: &Arc<Gpu>,
        crowd: &Crowd,
        job: &Job,
        palette: PaletteForm,
        culled: bool,
        baked: Option<&BakedGroups>,
        clips: &[ClipStore],
    ) -> Result<()> {
        let players = if culled { "everyone" } else { "players" };
        let tick = Tick::new(gpu, crowd, &mut self.table, players);
        if crowd.turnover().is_some() {
            let mut update = Update::new(gpu, Record::Layer)?;
            for (batch, layers) in self.table.batches.iter().zip(&tick.layers) {
                update.push(gpu, self.table.instances(batch), layers);
            }
            self.push(update);
        }
        self.push(tick);
        if culled {
            let cull = Cull::new(gpu, crowd, &mut self.table, &job.frustum)?;
            self.push(cull);
        } else {
            self.table.bind_numbers(gpu, true);
        }
        if let Some(baked) = baked {
            let bake = Bake::new(gpu, crowd, &mut self.table, baked)?;
            self.push(bake);
            return Ok(());
        }
        for chunk in &self.table.chunks {
            let group = &crowd.groups()[chunk.group];
            palette.check(gpu, group, chunk.instances.len())?;
        }
        let mut pose = Pose::new(gpu, crowd, &mut self.table, clips)?;
        if let Some(cull) = self.find::<Cull>() {
            // Counts the instances in view once, so that the kernels have work.
            let mut commands = gpu.commands("cull");
            cull.count(&mut commands);
            commands.finish()?;
        }
        pose.choose_walk(gpu)?;
        self.labels.push(pose.label());
        self.push(pose);
        Ok(())
    }

    /// Describes how palettes are made.
    fn describe(&mut self, baked: Option<&BakedGroups>) {
        match (baked, self.approximation) {
            (Some(baked), _) => self.labels.push(baked.label.clone()),
            (None, Some(stated)) => self.labels.push(format!(
                "vertices off by at most {:.1e} of the size",
                stated.position
            )),
            (None, None) => {}
        }
    }
}

/// Checks that an adapter can pose by a strategy.
fn check_device(gpu: &Gpu, strategy: Strategy) -> Result<()> {
    let palette = strategy.skin.palette();
    let is_written = palette.is_rows() || matches!(palette, PaletteForm::Baked(_));
    needs(is_written, "poses on the device are rows of 3x4 matrices")?;
    // Old GL drivers and Apple's first GPUs lack it.
    let indirect = wgpu::DownlevelFlags::INDIRECT_EXECUTION;
    needs(
        strategy.posing != Posing::Visible || gpu.adapter.downlevel.contains(indirect),
        "the device has no indirect dispatches and draws",
    )
}
