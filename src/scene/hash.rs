//! Hash of a scene, by which results are compared: it differs if the vertices or the picture would differ.

use super::description::GroupDescription;
use super::layer::{LayerPlan, PlaybackMode, ResolvedClips};
use super::settings::Settings;
use crate::model::{Clip, ClipKeys, Interpolation, Model, Targets};
use bytemuck::NoUninit;
use fnv::FnvHasher;
use std::hash::Hasher;

/// FNV-1a over the bytes of numbers, as little-endian platforms store them: the same on each of them, because it covers
/// the description of the scene, not the results of trigonometry.
#[derive(Default)]
pub(super) struct SceneHash(FnvHasher);

impl SceneHash {
    /// A list of numbers, and its length.
    pub(super) fn list<T: NoUninit>(&mut self, values: &[T]) {
        self.number(values.len() as u64);
        self.0.write(bytemuck::cast_slice(values));
    }

    pub(super) fn number(&mut self, number: impl Into<u64>) {
        self.0.write(&number.into().to_le_bytes());
    }

    /// Numbers whose count is fixed.
    pub(super) fn reals<const N: usize>(&mut self, values: [f64; N]) {
        values.iter().for_each(|value| self.number(value.to_bits()));
    }

    pub(super) fn group(&mut self, group: &GroupDescription, model: &Model, found: &ResolvedClips) {
        self.number(group.count);
        self.list(group.layout.name().as_bytes());
        self.reals([group.spacing.unwrap_or(0.0), group.scale.unwrap_or(0.0)]);
        let play = &group.play;
        self.reals([group.speed, group.speed_spread, play.phase_spread]);
        self.reals([group.yaw, group.yaw_spread, play.frames_per_second]);
        found.clips.iter().for_each(|clip| self.number(*clip));
        self.model(model);
        // Only if they are used, so that scenes without them keep the hashes of older results.
        if group.weight != 1.0
            || play.offset != 0.0
            || play.mode != PlaybackMode::Loop
            || !group.layers.is_empty()
        {
            self.reals([group.weight, play.offset]);
            self.number(play.mode as u8);
        }
        if !group.expression.is_empty() {
            self.number(group.expression.active.map_or(u64::MAX, u64::from));
            for (name, weight) in &group.expression.weights {
                self.list(name.as_bytes());
                self.reals([*weight]);
            }
        }
        for (layer, found) in group.layers.iter().zip(&found.layers) {
            self.layer(layer, found.clip);
        }
        found.masks.iter().for_each(|mask| self.list(mask));
    }

    fn layer(&mut self, layer: &LayerPlan, clip: u32) {
        self.number(clip);
        let choices = [
            layer.kind as u8,
            layer.fade as u8,
            layer.play.mode as u8,
            layer.mask.is_some().into(),
        ];
        choices.iter().for_each(|value| self.number(*value));
        let play = &layer.play;
        let speed = layer.speed.unwrap_or(f64::INFINITY);
        self.reals([
            layer.weight,
            speed,
            play.phase_spread,
            play.offset,
            play.frames_per_second,
        ]);
        if let Some(times) = layer.times {
            let (every, lasts) = (times.every.unwrap_or(0.0), times.lasts.unwrap_or(0.0));
            self.reals([
                every,
                lasts,
                times.start,
                times.stagger,
                times.fade_in,
                times.fade_out,
            ]);
        }
    }

    fn model(&mut self, model: &Model) {
        let (skeleton, mesh) = (model.skeleton(), model.mesh());
        self.list(skeleton.parents());
        for rest in skeleton.rest() {
            self.list(&[rest.rotation.to_array()]);
            self.list(&[rest.translation.to_array(), rest.scale.to_array()]);
        }
        for (joint, rows) in skeleton.matrices() {
            self.number(*joint);
            self.list(&[*rows]);
        }
        self.list(model.palette_joints());
        self.list(model.inverse_binds());
        self.list(mesh.positions());
        self.list(mesh.normals());
        self.list(mesh.joints());
        self.list(mesh.weights());
        for run in mesh.runs() {
            self.number(run.influences);
            self.number(run.vertex_count);
        }
        self.list(mesh.indices());
        if !mesh.targets().is_empty() {
            self.targets(mesh.targets());
        }
        model.clips().iter().for_each(|clip| self.clip(clip));
    }

    fn targets(&mut self, targets: &Targets) {
        targets
            .list()
            .iter()
            .for_each(|target| self.list(&[[target.weight]]));
        for (target, vertex, _) in targets.entries() {
            self.number(((target as u64) << 32) | vertex as u64);
        }
        self.list(targets.positions());
        self.list(targets.normals());
        self.list(targets.tangents());
    }

    fn clip(&mut self, clip: &Clip) {
        self.reals([clip.duration().into()]);
        self.number(clip.rotation_blend() as u8);
        for track in clip.weights() {
            self.number(track.targets.start);
            self.number(track.targets.end);
            self.number(
                track.interpolation.values_per_key() as u64
                    + 8 * u64::from(track.interpolation == Interpolation::Step),
            );
            self.list(&track.times);
            self.list(&track.values);
        }
        match clip.keys() {
            ClipKeys::Raw(raw) => {
                for track in raw.tracks() {
                    self.number(track.joint);
                    self.number(track.channel as u8);
                    self.number(track.interpolation as u8);
                    self.list(raw.times_of(track));
                }
                self.list(raw.values());
            }
            ClipKeys::Compact(compact) => {
                // Raw values add nothing, so that older results keep their hashes.
                self.list::<f32>(&[]);
                self.list(&[[compact.start, compact.interval]]);
                self.list(&compact.numbers);
                for track in &compact.tracks {
                    self.number(track.joint);
                    self.number(track.dropped);
                    let decoder = track.decoder();
                    self.list(&[decoder.low, decoder.step]);
                }
                for still in &compact.still {
                    self.number(still.joint);
                    self.list(&[still.value]);
                }
            }
        }
    }

    /// Only if they are used, as above.
    pub(super) fn reuse(&mut self, settings: &Settings) {
        settings
            .phase_buckets
            .iter()
            .for_each(|buckets| self.number(*buckets));
        settings
            .update_rate
            .iter()
            .flatten()
            .for_each(|metres| self.reals([*metres]));
        for (name, share) in [("turnover", settings.turnover), ("frozen", settings.frozen)] {
            if let Some(share) = share.filter(|share| *share > 0.0) {
                self.list(name.as_bytes());
                self.reals([share]);
            }
        }
    }

    pub(super) fn finish(self) -> u64 {
        self.0.finish()
    }
}
