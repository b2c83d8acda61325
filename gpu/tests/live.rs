//! A crowd that spawns, removes, fades, overrides and hides instances, posed on the CPU and on the device, against poses
//! in f64 of a record of what was asked for.

use glam::{DAffine3, DVec3, Quat, Vec3};
use skinbench_characters::{chain_64, walker};
use skinbench_gpu::passes::skin_kernels::INSTANCES;
use skinbench_gpu::{AdoptedCrowd, Gpu, ShaderChecks, Vertices, wgpu};
use skinbench_kernels::crowd::{
    Crowd, Fade, InstanceId, LONGEST, Layer, LayerKind, LiveCrowd, LiveGroup, LiveLayer, Play,
    Playback, REST, Schedule, UNMASKED,
};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, NO_PARENT, Rows, Transform, rows_to_affine};
use skinbench_kernels::pose::{CrowdPose, NoClock, PoseOut, Width};
use skinbench_kernels::reference::{LocalPose, ReferencePose, reference_vertices};
use skinbench_kernels::simd::Isa;
use skinbench_kernels::skin::skin;
use skinbench_kernels::threads::Threads;
use skinbench_kernels::vertex::VertexFormat;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

/// Parts of a second that the times of the story are multiples of: inertial fades count these.
const PARTS: f64 = 960.0;
const FRAMES: u32 = 600;
const CAPACITIES: [usize; 2] = [4, 20];
/// Largest error of a position a metre from the origin, in metres. Inertial fades multiply differences of poses.
const LIMIT: f64 = 2e-3;

/// A generator of numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.roll(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// What was asked of an instance.
struct Asked {
    id: InstanceId,
    group: usize,
    plays: Vec<AskedPlay>,
    weights: [f64; 2],
    joints: BTreeMap<u16, Transform>,
    shown: bool,
    placement: Rows,
}

/// A clip that an instance was asked to play.
#[derive(Debug)]
struct AskedPlay {
    layer: usize,
    play: Play,
    began: f64,
    /// Times and the speeds from then on.
    speeds: Vec<(f64, f64)>,
}

impl AskedPlay {
    fn elapsed(&self, time: f64) -> f64 {
        match self.play.fade_seconds {
            0.0 => 1.0,
            seconds => ((time - self.began) / seconds).clamp(0.0, 1.0),
        }
    }

    fn eased(&self, time: f64) -> f64 {
        if self.is_inertial(time) {
            return 1.0;
        }
        let s = self.elapsed(time);
        3.0 * s * s - 2.0 * s * s * s
    }

    fn is_inertial(&self, time: f64) -> bool {
        self.play.fade == Fade::Inertial && time >= self.began && self.elapsed(time) < 1.0
    }

    /// Seconds of the clip since its start, before they are folded.
    fn seconds(&self, time: f64) -> f64 {
        let mut sum = self.play.start;
        for (index, (from, speed)) in self.speeds.iter().enumerate() {
            let until = self.speeds.get(index + 1).map_or(time, |next| next.0);
            sum += (until - from) * speed;
        }
        sum
    }

    /// A layer that holds what it shows.
    fn held(&self, model: &Model, time: f64, kind: LayerKind, weight: f64) -> Layer {
        let duration = duration(model, self.play.clip);
        let seconds = self.seconds(time);
        let shown = match self.play.playback {
            _ if duration == 0.0 => 0.0,
            Playback::Loop => seconds.rem_euclid(duration),
            Playback::PingPong => {
                let there = seconds.rem_euclid(2.0 * duration);
                there.min(2.0 * duration - there)
            }
            Playback::Once => seconds.clamp(0.0, duration),
        };
        Layer {
            kind,
            weight: weight as f32,
            ..Layer::held(self.play.clip, shown as f32)
        }
    }

    /// A layer that plays it from its beginning, in ticks of [`PARTS`].
    fn running(&self, model: &Model, from: f64) -> Layer {
        let duration = duration(model, self.play.clip);
        let cycles = self.seconds(from) / duration;
        let phase = (cycles.rem_euclid(1.0) * 2f64.powi(32)) as u32;
        let speed = self.speeds.last().unwrap().1 * 60.0 / PARTS;
        Layer::playing(model, self.play.clip, self.play.playback, phase, speed)
    }
}

fn duration(model: &Model, clip: u32) -> f64 {
    let clip = model.clips().get(clip as usize);
    clip.map_or(0.0, |clip| clip.duration().into())
}

impl Asked {
    fn of_layer(&self, layer: usize) -> Vec<&AskedPlay> {
        self.plays.iter().filter(|p| p.layer == layer).collect()
    }

    fn fades_inertially(&self, time: f64) -> bool {
        self.plays.iter().any(|play| play.is_inertial(time))
    }

    /// Leaves out what a later clip of its layer has replaced.
    fn forget(&mut self, time: f64) {
        for play in &mut self.plays {
            if play.elapsed(time) == 1.0 {
                play.play.fade_seconds = 0.0;
            }
        }
        // A layer that has faded out plays nothing.
        let group = self.group;
        let is_out = |play: &AskedPlay| group == 0 && play.layer == 1 && play.play.clip == REST;
        for layer in 0..2 {
            let over = |play: &AskedPlay| play.layer == layer && play.elapsed(time) == 1.0;
            if let Some(last) = self.plays.iter().rposition(over) {
                let mut index = 0;
                self.plays.retain(|play| {
                    index += 1;
                    play.layer != layer || index > last
                });
            }
        }
        self.plays
            .retain(|play| !(is_out(play) && play.elapsed(time) == 1.0));
    }

    /// Layers, and the tick at which they are what the instance is to show.
    fn layers(&self, model: &Model, time: f64) -> (Vec<Layer>, u32) {
        let base = self.of_layer(0);
        let mut layers = Vec::new();
        let mut tick = 0;
        if let [old, new] = base[..]
            && new.is_inertial(time)
        {
            tick = ((time - new.began) * PARTS).round() as u32;
            let schedule = Schedule {
                length: LONGEST,
                fade_in: (new.play.fade_seconds * PARTS).round() as u32,
                ..Schedule::ALWAYS
            };
            layers.push(old.running(model, new.began));
            layers.push(Layer {
                kind: LayerKind::Override,
                fade: Fade::Inertial,
                schedule,
                ..new.running(model, new.began)
            });
        } else {
            layers.extend(merged(model, &base, time, self.weights[0]));
        }
        let second = self.of_layer(1);
        if self.group == 1 {
            layers.extend(merged(model, &second, time, self.weights[1]));
            return (layers, tick);
        }
        let [.., newest] = second[..] else {
            return (layers, tick);
        };
        let own = self.weights[1] * newest.eased(time);
        if let [old, _] = second[..] {
            let mut weight = (self.weights[1] - own) * old.eased(time);
            // A newer clip covers the older one, so that both together weigh what the layer weighs.
            if newest.play.clip != REST && weight > 0.0 {
                weight /= 1.0 - own;
            }
            layers.push(old.held(model, time, LayerKind::Override, weight));
        }
        layers.push(newest.held(model, time, LayerKind::Override, own));
        for layer in layers.iter_mut().skip(1) {
            // The rest pose on this layer stands for nothing.
            if layer.kind == LayerKind::Override && layer.fade == Fade::Cross {
                layer.mask = 0;
                layer.weight *= f32::from(layer.clip != REST);
            }
        }
        (layers, tick)
    }

    /// Positions of its vertices, computed in f64.
    fn positions(&self, model: &Arc<Model>, time: f64) -> Vec<DVec3> {
        let (layers, tick) = self.layers(model, time);
        let mut crowd = Crowd::new();
        crowd
            .push_masked_group(Arc::clone(model), &[mask(model)], [(IDENTITY_ROWS, layers)])
            .unwrap();
        let mut local = ReferencePose::new(&crowd, 0, tick).local;
        for (&joint, given) in &self.joints {
            local[usize::from(joint)] = LocalPose {
                rotation: given.rotation.as_dquat(),
                translation: given.translation.as_dvec3(),
                scale: given.scale.as_dvec3(),
            };
        }
        let mut pose: Vec<DAffine3> = Vec::new();
        for (local, &parent) in local.iter().zip(model.skeleton().parents()) {
            let own = DAffine3::from_scale_rotation_translation(
                local.scale,
                local.rotation,
                local.translation,
            );
            pose.push(match parent {
                NO_PARENT => own,
                parent => pose[usize::from(parent)] * own,
            });
        }
        let mesh = model.mesh();
        let mut positions = Vec::new();
        for (vertex, &position) in mesh.positions().iter().enumerate() {
            let mut sum = DVec3::ZERO;
            for (entry, weight) in mesh.influences_of(vertex) {
                let joint = model.palette_joints()[usize::from(entry)];
                let bind = rows_to_affine(&model.inverse_binds()[usize::from(entry)]);
                let moved = pose[usize::from(joint)] * bind;
                let position = Vec3::from(position).as_dvec3();
                sum += f64::from(weight) * moved.transform_point3(position);
            }
            positions.push(sum);
        }
        positions
    }
}

/// Merge layers for the clips of a layer, by their shares.
fn merged(model: &Model, plays: &[&AskedPlay], time: f64, weight: f64) -> Vec<Layer> {
    let mut layers = Vec::new();
    let mut left = weight;
    for play in plays.iter().rev() {
        let own = left * play.eased(time);
        left -= own;
        layers.push(play.held(model, time, LayerKind::Merge, own));
    }
    layers
}

/// A mask with whole, half and no weights.
fn mask(model: &Model) -> Vec<f32> {
    let joints = model.skeleton().len();
    (0..joints).map(|joint| (joint % 3) as f32 / 2.0).collect()
}

fn groups(models: &[Arc<Model>; 2]) -> Vec<LiveGroup> {
    let layer = |kind, mask| LiveLayer { kind, mask };
    let merge = layer(LayerKind::Merge, UNMASKED);
    vec![
        LiveGroup {
            layers: vec![merge, layer(LayerKind::Override, 0)],
            masks: vec![mask(&models[0])],
            clips: 7,
            inertial: true,
            ..LiveGroup::new(Arc::clone(&models[0]), CAPACITIES[0] as u32)
        },
        LiveGroup {
            layers: vec![merge; 2],
            clips: 6,
            ..LiveGroup::new(Arc::clone(&models[1]), CAPACITIES[1] as u32)
        },
    ]
}

/// The story: a live crowd, and what was asked of it.
struct Story {
    models: [Arc<Model>; 2],
    live: LiveCrowd,
    asked: Vec<Asked>,
    dice: Dice,
}

impl Story {
    fn new() -> Self {
        let models = [walker(500), chain_64()].map(|model| Arc::new(model.unwrap()));
        let live = LiveCrowd::new(VertexFormat::default(), groups(&models), 24).unwrap();
        Self {
            models,
            live,
            asked: Vec::new(),
            dice: Dice(7),
        }
    }

    /// Goes on to the next frame: normally, in slow motion, backwards, and at uneven times.
    fn step(&mut self, frame: u32) {
        let parts = match frame {
            0..200 => 16.0,
            200..300 => 4.0,
            300..360 => -4.0,
            _ => 4.0 + self.dice.roll(25) as f64,
        };
        let time = self.live.time() + parts / PARTS;
        self.live.set_time(time).unwrap();
        for asked in &mut self.asked {
            asked.forget(time);
        }
        for _ in 0..4 {
            self.act();
        }
    }

    fn play(&mut self, group: usize) -> Play {
        let dice = &mut self.dice;
        let clips = self.models[group].clips();
        let clip = dice.roll(clips.len() as u64) as u32;
        let duration = f64::from(clips[clip as usize].duration());
        let playbacks = [Playback::Loop, Playback::PingPong, Playback::Once];
        Play {
            clip,
            playback: playbacks[dice.roll(3) as usize],
            start: dice.between(0.0, 0.9) * duration,
            speed: dice.between(-1.5, 1.5),
            fade: Fade::Cross,
            // A multiple of the parts.
            fade_seconds: dice.roll(500) as f64 / PARTS,
        }
    }

    /// Does something to an instance.
    fn act(&mut self) {
        let now = self.live.time();
        if self.asked.is_empty() || self.dice.roll(5) == 0 {
            return self.spawn();
        }
        let which = self.dice.roll(self.asked.len() as u64) as usize;
        let action = self.dice.roll(12);
        let layer = self.dice.roll(2) as usize;
        let group = self.asked[which].group;
        let mut play = self.play(group);
        let number = self.dice.between(0.1, 1.0);
        let joint = self.dice.roll(40) as u16;
        let live = &mut self.live;
        let asked = &mut self.asked[which];
        let id = asked.id;
        let chain = asked.of_layer(layer).len();
        let fades = asked.fades_inertially(now);
        match action {
            0 => {
                live.remove(id).unwrap();
                assert!(live.play(id, 0, play).is_err(), "it was removed");
                self.asked.remove(which);
            }
            1..5 => {
                let base = asked.of_layer(0);
                let loops = base.len() == 1 && base[0].play.playback == Playback::Loop;
                if layer == 0 && action == 1 && group == 0 && loops && !fades {
                    play.fade = Fade::Inertial;
                    if play.playback == Playback::PingPong {
                        play.playback = Playback::Loop;
                    }
                } else if chain > 1 && (layer == 1 || chain > 2) || (layer == 0 && fades) {
                    return;
                } else if layer == 1 && self.dice.roll(3) == 0 {
                    play.clip = REST;
                }
                live.play(id, layer, play).unwrap();
                // What began later, before time went back, does not happen.
                let mut is_first = true;
                asked.plays.retain(|play| {
                    let stays = play.layer != layer || is_first || play.began <= now;
                    is_first &= play.layer != layer;
                    stays
                });
                asked.plays.push(AskedPlay {
                    layer,
                    play,
                    began: now,
                    speeds: vec![(now, play.speed)],
                });
                asked.forget(now);
            }
            5 => {
                if fades || chain == 0 {
                    return;
                }
                let newest = asked.plays.iter_mut().rfind(|play| play.layer == layer);
                let newest = newest.unwrap();
                if newest.play.playback == Playback::Once {
                    return;
                }
                live.set_speed(id, layer, number).unwrap();
                newest.speeds.push((now, number));
            }
            6 => {
                live.set_weight(id, layer, number as f32).unwrap();
                asked.weights[layer] = (number as f32).into();
            }
            7 | 8 => {
                let local = Transform {
                    rotation: Quat::from_rotation_x(number as f32),
                    translation: Vec3::new(0.0, 0.1, number as f32),
                    scale: Vec3::new(1.0, number as f32, 0.8),
                };
                let given = live.set_joint(id, joint, Some(local));
                if given.is_ok() {
                    asked.joints.insert(joint, local);
                } else {
                    let count: usize = self.asked.iter().map(|a| a.joints.len()).sum();
                    assert_eq!(count, 24, "no more than it has room for");
                }
            }
            9 => {
                if let Some((joint, _)) = asked.joints.pop_first() {
                    live.set_joint(id, joint, None).unwrap();
                }
            }
            10 => {
                asked.shown = !asked.shown;
                live.show(id, asked.shown).unwrap();
            }
            _ => {
                asked.placement[3] = number as f32;
                live.set_placement(id, asked.placement).unwrap();
            }
        }
    }

    fn spawn(&mut self) {
        let group = self.dice.roll(2) as usize;
        let play = self.play(group);
        let count = self.asked.iter().filter(|a| a.group == group).count();
        let now = self.live.time();
        let Ok(id) = self.live.spawn(group, IDENTITY_ROWS, play) else {
            assert_eq!(count, CAPACITIES[group], "the group is full");
            return;
        };
        self.asked.push(Asked {
            id,
            group,
            plays: vec![AskedPlay {
                layer: 0,
                play: play.with_fade(Fade::Cross, 0.0),
                began: now,
                speeds: vec![(now, play.speed)],
            }],
            weights: [1.0; 2],
            joints: BTreeMap::new(),
            shown: true,
            placement: IDENTITY_ROWS,
        });
    }

    /// Compares the vertices of all instances, six floats each.
    fn compare(&self, what: &str, frame: u32, vertices: &[f32]) {
        let crowd = self.live.crowd();
        let mut rest = vertices;
        for instance in 0..crowd.instance_count() as u32 {
            let group = crowd.group_of(instance);
            let floats = 6 * self.models[group].mesh().vertex_count();
            let (own, others) = rest.split_at(floats);
            rest = others;
            let places = own.chunks(6).map(|v| Vec3::from_slice(v).as_dvec3());
            let asked = self.asked.iter().find(|a| a.id.instance == instance);
            let Some(asked) = asked.filter(|asked| asked.shown) else {
                let first = Vec3::from_slice(own).as_dvec3();
                for place in places {
                    let off = place.distance(first);
                    assert!(off < 1e-6, "{what}, {frame}: {instance} is to be seen");
                }
                continue;
            };
            assert_eq!(crowd.placements()[instance as usize], asked.placement);
            let exact = asked.positions(&self.models[group], self.live.time());
            for (vertex, (place, exact)) in places.zip(exact).enumerate() {
                let off = place.distance(exact);
                assert!(
                    off < LIMIT * exact.length().max(1.0),
                    "{what}, {frame}, {} s: vertex {vertex} of {instance} is off by {off}: {:?}",
                    self.live.time(),
                    asked.plays
                );
            }
        }
    }

    /// Vertices of all instances, by the CPU.
    fn skinned(&self, pose: &mut CrowdPose) -> Vec<f32> {
        let crowd = self.live.crowd();
        let mut palettes: Vec<Rows> = vec![[0.0; 12]; crowd.palette_entries() as usize];
        // The tick has no effect.
        pose.pose(
            crowd,
            77,
            &Threads::One,
            &NoClock,
            PoseOut::rows(&mut palettes),
        );
        let mut vertices = Vec::new();
        let mut first = 0;
        for instance in 0..crowd.instance_count() as u32 {
            let model = &self.models[crowd.group_of(instance)];
            let entries = model.palette_joints().len();
            let mut own = vec![0.0; 6 * model.mesh().vertex_count()];
            let palette = &palettes[first..first + entries];
            skin(model.mesh(), palette, VertexFormat::default(), &mut own);
            vertices.extend(own);
            first += entries;
        }
        vertices
    }
}

#[test]
fn a_live_crowd_agrees_with_what_was_asked_on_the_cpu() {
    let mut story = Story::new();
    let widths = [Width::One, Width::Block];
    let mut poses = widths
        .map(|width| CrowdPose::new(story.live.crowd(), width, Isa::strongest(), &Threads::One));
    for frame in 0..FRAMES {
        story.step(frame);
        if story.dice.roll(20) == 0 || frame + 1 == FRAMES {
            for (pose, width) in poses.iter_mut().zip(widths) {
                let vertices = story.skinned(pose);
                story.compare(&format!("{width:?}"), frame, &vertices);
            }
            // The reference of the live crowd itself.
            let mut vertices = Vec::new();
            for instance in 0..story.live.crowd().instance_count() as u32 {
                let exact = reference_vertices(story.live.crowd(), instance, 0);
                vertices.extend(exact.iter().map(|&number| number as f32));
            }
            story.compare("reference", frame, &vertices);
        }
    }
    assert!(story.asked.len() > 10, "{} instances", story.asked.len());
}

#[test]
fn a_live_crowd_agrees_with_what_was_asked_on_a_device() -> Result<(), Box<dyn Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    let gpu = Gpu::adopt(
        &adapter,
        device.clone(),
        queue.clone(),
        ShaderChecks::Checked,
    );
    let mut story = Story::new();
    let mut adopted = AdoptedCrowd::new(&gpu, story.live.crowd(), &[&INSTANCES])?;
    let buffers: Vec<wgpu::Buffer> = adopted
        .output_bytes()
        .iter()
        .map(|&size| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        })
        .collect();
    let slices: Vec<_> = buffers.iter().map(|buffer| buffer.slice(..)).collect();
    let vertices: Vertices = adopted.bind(&slices)?;
    for frame in 0..FRAMES {
        story.step(frame);
        // Some frames pass without being drawn.
        if story.dice.roll(5) == 0 {
            continue;
        }
        let mut encoder = device.create_command_encoder(&Default::default());
        adopted.record(story.live.crowd(), 77, &vertices, &mut encoder);
        queue.submit([encoder.finish()]);
        if story.dice.roll(20) == 0 {
            let mut read = Vec::new();
            for buffer in &buffers {
                gpu.read_back(
                    &buffer.clone().into(),
                    0,
                    buffer.size() as usize / 4,
                    &mut read,
                )?;
            }
            story.compare("device", frame, &read);
        }
    }
    Ok(())
}
