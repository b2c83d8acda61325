//! Hash of a scene, by which results are compared: it differs if the vertices or the picture would differ.
//!
//! Every struct that describes a scene is taken apart field by field, so that a new field does not compile until someone
//! has decided whether it belongs to the hash. A value that did not exist in earlier versions is added only where it is
//! not the default, so that older results keep their hashes.

use super::description::GroupDescription;
use super::expression::ExpressionPlan;
use super::layer::{LayerPlan, Play, PlaybackMode, ResolvedClips, ResolvedLayer, Times};
use super::resolved::{ResolvedGroup, ResolvedScene, StoredModel};
use super::{Camera, Lod, Settings};
use crate::model::compact::{Compact, Decoder, StillTrack};
use crate::model::{
    Axes, Clip, ClipKeys, Image, Interpolation, Material, Mesh, Model, Targets, Texture, Transform,
    WeightKeys,
};
use crate::vertex::{Attributes, Encoding, VertexFormat};
use bytemuck::NoUninit;
use fnv::FnvHasher;
use std::hash::Hasher;

/// The hash of a scene with its models.
pub fn hash(scene: &ResolvedScene) -> u64 {
    let ResolvedScene {
        seed,
        resolution,
        camera,
        settings,
        groups,
        models,
    } = scene;
    let mut hash = SceneHash::default();
    hash.number(*seed);
    for pixels in resolution {
        hash.number(*pixels);
    }
    hash.camera(camera);
    let format = settings.format();
    hash.format(format);
    for ResolvedGroup {
        description,
        members,
    } in groups
    {
        if members.len() > 1 {
            hash.number(members.len() as u64);
        }
        for member in members {
            hash.group(description, &models[member.model], &member.clips, format);
        }
    }
    hash.settings(settings);
    hash.0.finish()
}

/// The values at these places.
fn in_order<T: Copy>(values: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|&place| values[place as usize]).collect()
}

/// For each vertex that `order` names, where it stands there.
fn places_in(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, vertex) in (0..).zip(order) {
        places[*vertex as usize] = place;
    }
    places
}

/// FNV-1a over the bytes of numbers, as little-endian platforms store them: the same on each of them, because it covers
/// the description of the scene, not the results of trigonometry.
#[derive(Default)]
struct SceneHash(FnvHasher);

impl SceneHash {
    /// A list of numbers, and its length.
    fn list<T: NoUninit>(&mut self, values: &[T]) {
        self.number(values.len() as u64);
        self.0.write(bytemuck::cast_slice(values));
    }

    fn number(&mut self, number: impl Into<u64>) {
        self.0.write(&number.into().to_le_bytes());
    }

    /// Numbers whose count is fixed.
    fn reals<const N: usize>(&mut self, values: [f64; N]) {
        values.iter().for_each(|value| self.number(value.to_bits()));
    }

    fn camera(&mut self, camera: &Camera) {
        let Camera {
            orbit,
            elevation,
            distance,
            field_of_view,
        } = *camera;
        self.reals([orbit, elevation, distance, field_of_view]);
    }

    fn format(&mut self, format: VertexFormat) {
        let VertexFormat {
            attributes,
            normals,
            encoding,
        } = format;
        self.list(attributes.name().as_bytes());
        self.list(normals.name().as_bytes());
        if encoding != Encoding::F32 {
            self.list(encoding.name().as_bytes());
        }
    }

    fn group(
        &mut self,
        group: &GroupDescription,
        model: &StoredModel,
        found: &ResolvedClips,
        format: VertexFormat,
    ) {
        let GroupDescription {
            // Hashed as `model`, and as the clips that were found in it.
            models: _,
            clip: _,
            count,
            layout,
            spacing,
            speed,
            speed_spread,
            play,
            weight,
            layers,
            expression,
            yaw,
            yaw_spread,
            scale,
            // Places in the scene's file, for messages.
            model_place: _,
            clip_place: _,
        } = group;
        let Play {
            mode,
            phase_spread,
            offset,
            frames_per_second,
        } = *play;
        let ResolvedClips {
            clips,
            layers: found_layers,
            masks,
        } = found;
        self.number(*count);
        self.list(layout.name().as_bytes());
        self.reals([spacing.unwrap_or(0.0), scale.unwrap_or(0.0)]);
        self.reals([*speed, *speed_spread, phase_spread]);
        self.reals([*yaw, *yaw_spread, frames_per_second]);
        for clip in clips {
            self.number(*clip);
        }
        self.model(model, format);
        if *weight != 1.0 || offset != 0.0 || mode != PlaybackMode::Loop || !layers.is_empty() {
            self.reals([*weight, offset]);
            self.number(mode as u8);
        }
        self.expression(expression);
        for (layer, found) in layers.iter().zip(found_layers) {
            self.layer(layer, found);
        }
        for mask in masks {
            self.list(mask);
        }
    }

    fn expression(&mut self, expression: &ExpressionPlan) {
        let ExpressionPlan {
            weights,
            active,
            // A place in the scene's file, for messages.
            place: _,
        } = expression;
        if expression.is_empty() {
            return;
        }
        self.number(active.map_or(u64::MAX, u64::from));
        for (name, weight) in weights {
            self.list(name.as_bytes());
            self.reals([*weight]);
        }
    }

    fn layer(&mut self, layer: &LayerPlan, found: &ResolvedLayer) {
        let LayerPlan {
            // Hashed as the clip that was found in the model.
            clip: _,
            kind,
            weight,
            mask,
            speed,
            play,
            fade,
            times,
            // A place in the scene's file, for messages.
            clip_place: _,
        } = layer;
        let Play {
            mode,
            phase_spread,
            offset,
            frames_per_second,
        } = *play;
        let ResolvedLayer {
            clip,
            // Masks are hashed in the order of their indices.
            mask: _,
        } = found;
        self.number(*clip);
        for choice in [*kind as u8, *fade as u8, mode as u8, mask.is_some().into()] {
            self.number(choice);
        }
        let speed = speed.unwrap_or(f64::INFINITY);
        self.reals([*weight, speed, phase_spread, offset, frames_per_second]);
        if let Some(times) = times {
            let Times {
                every,
                lasts,
                start,
                stagger,
                fade_in,
                fade_out,
            } = *times;
            let every = every.unwrap_or(0.0);
            let lasts = lasts.unwrap_or(0.0);
            self.reals([every, lasts, start, stagger, fade_in, fade_out]);
        }
    }

    fn model(&mut self, model: &StoredModel, format: VertexFormat) {
        let StoredModel {
            from_file,
            stored: model,
        } = model;
        let skeleton = model.skeleton();
        self.list(skeleton.parents());
        for rest in skeleton.rest() {
            let Transform {
                rotation,
                translation,
                scale,
            } = rest;
            self.list(&[rotation.to_array()]);
            self.list(&[translation.to_array(), scale.to_array()]);
        }
        for (joint, rows) in skeleton.matrices() {
            self.number(*joint);
            self.list(&[*rows]);
        }
        self.list(model.palette_joints());
        self.list(model.inverse_binds());
        let order = model.mesh().file_order();
        self.mesh(model.mesh(), &order);
        for clip in model.clips() {
            self.clip(clip);
        }
        if let (Attributes::Pnt, Some(tangents)) = (format.attributes, model.mesh().tangents()) {
            self.list(b"tangents");
            self.list(&in_order(tangents, &order));
        }
        if model.axes() != Axes::Y_UP {
            let Axes { handedness, up } = model.axes();
            self.list(b"axes");
            self.number(handedness as u8);
            self.number(up);
        }
        // The colours of a built-in model follow from its vertices.
        if *from_file {
            self.surface(model, &order);
        }
    }

    /// In the order of the file, which does not depend on how vertices are stored.
    fn mesh(&mut self, mesh: &Mesh, order: &[u32]) {
        self.list(&in_order(mesh.positions(), order));
        self.list(&in_order(mesh.normals(), order));
        let mut joints = Vec::with_capacity(mesh.joints().len());
        let mut weights = Vec::with_capacity(mesh.joints().len());
        for vertex in order {
            for (joint, weight) in mesh.influences_of(*vertex as usize) {
                joints.push(joint);
                weights.push(weight);
            }
        }
        self.list(&joints);
        self.list(&weights);
        for run in mesh.runs() {
            self.number(run.influences);
            self.number(run.vertex_count);
        }
        let places = places_in(order);
        self.list(&in_order(&places, mesh.indices()));
        if !mesh.targets().is_empty() {
            self.targets(mesh.targets(), &places);
        }
    }

    /// Colours and texture coordinates. An image beside the model's file counts by its name.
    fn surface(&mut self, model: &Model, order: &[u32]) {
        self.list(b"surface");
        for subset in model.mesh().primitives().iter().flat_map(|p| &p.subsets) {
            self.number(subset.material);
            self.number(subset.indices.start);
            self.number(subset.indices.end);
        }
        for material in model.materials() {
            let Material {
                name: _,
                base_color,
                alpha_cutoff,
                texture,
            } = material;
            self.list(base_color);
            self.reals([alpha_cutoff.map_or(-1.0, f64::from)]);
            if let Some(texture) = texture {
                self.texture(texture);
            }
        }
        if let Some(uvs) = model.mesh().uvs() {
            self.list(&in_order(uvs, order));
        }
        if let Some(colors) = model.mesh().colors() {
            self.list(&in_order(colors, order));
        }
    }

    fn texture(&mut self, texture: &Texture) {
        let Texture {
            image,
            wrap,
            transform,
        } = texture;
        match image {
            Image::Embedded(bytes) => self.list(bytes),
            Image::File(path) => {
                let name = path.file_name().unwrap_or_default();
                self.list(name.as_encoded_bytes());
            }
        }
        for wrap in wrap {
            self.number(*wrap as u8);
        }
        self.list(transform);
    }

    /// `places` has the place of each stored vertex in the order of the file.
    fn targets(&mut self, targets: &Targets, places: &[u32]) {
        targets
            .list()
            .iter()
            .for_each(|target| self.list(&[[target.weight]]));
        let mut entries: Vec<(u64, u32)> = targets
            .entries()
            .into_iter()
            .map(|(target, vertex, delta)| {
                (
                    ((target as u64) << 32) | u64::from(places[vertex]),
                    delta as u32,
                )
            })
            .collect();
        entries.sort_unstable();
        let deltas: Vec<u32> = entries.iter().map(|entry| entry.1).collect();
        for (entry, _) in &entries {
            self.number(*entry);
        }
        self.list(&in_order(targets.positions(), &deltas));
        self.list(&in_order(targets.normals(), &deltas));
        if targets.tangents().is_empty() {
            self.list::<[f32; 3]>(&[]);
        } else {
            self.list(&in_order(targets.tangents(), &deltas));
        }
    }

    fn clip(&mut self, clip: &Clip) {
        self.reals([clip.duration().into()]);
        self.number(clip.rotation_blend() as u8);
        for track in clip.weights() {
            self.weights(track);
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
                self.list::<f32>(&[]);
                self.compact(compact);
            }
        }
    }

    fn weights(&mut self, track: &WeightKeys) {
        let WeightKeys {
            targets,
            interpolation,
            times,
            values,
        } = track;
        self.number(targets.start);
        self.number(targets.end);
        let steps = u64::from(*interpolation == Interpolation::Step);
        self.number(interpolation.values_per_key() as u64 + 8 * steps);
        self.list(times);
        self.list(values);
    }

    fn compact(&mut self, keys: &Compact) {
        let Compact {
            start,
            interval,
            // Follow from the tracks and the length of the numbers.
            frames: _,
            row: _,
            // Hashed in the order of joints, as when clips were stored in that order.
            tracks: _,
            still,
            numbers: _,
            error: _,
        } = keys;
        let by_joint = keys.by_joint();
        self.list(&[[*start, *interval]]);
        self.list(&by_joint.numbers);
        for track in &by_joint.tracks {
            self.number(track.joint);
            self.number(track.channel as u8);
            self.number(track.dropped);
            let Decoder { low, step } = track.decoder();
            self.list(&[low, step]);
        }
        for track in still {
            let StillTrack {
                joint,
                channel,
                value,
            } = track;
            self.number(*joint);
            self.number(*channel as u8);
            self.list(value);
        }
    }

    fn settings(&mut self, settings: &Settings) {
        let Settings {
            // Hashed as groups, models, clips, camera and format.
            instances: _,
            clip: _,
            models: _,
            vertices: _,
            keep_vertices: _,
            influences: _,
            clips: _,
            interpolation: _,
            distance: _,
            attributes: _,
            normals: _,
            output: _,
            // What a frame does besides; the columns `passes` and `options` tell it apart.
            passes: _,
            motion: _,
            device: _,
            bounds: _,
            sockets: _,
            lod,
            update_rate,
            turnover,
            frozen,
            active_targets,
        } = settings;
        if *lod == Some(Lod::Mesh) {
            self.list(b"mesh");
        }
        if let Some(metres) = update_rate {
            self.reals([metres[0]]);
            self.reals([metres[1]]);
        }
        self.share("turnover", *turnover);
        self.share("frozen", *frozen);
        if let Some(count) = active_targets {
            self.list(b"active targets");
            self.number(*count);
        }
    }

    fn share(&mut self, name: &str, share: Option<f64>) {
        if let Some(share) = share.filter(|share| *share > 0.0) {
            self.list(name.as_bytes());
            self.reals([share]);
        }
    }
}
