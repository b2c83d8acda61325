//! A crowd that changes between frames, in seconds.
//!
//! Each instance has a fixed number of layers in its [`Crowd`], which posing reads at tick 0. They are computed from the
//! clips that the instance plays, at the crowd's time: one layer for each clip, among them those that fade out. The first
//! layer stays absent, so that its pose on a device, into which all others are blended, is no clip's.

use super::layers::{Fade, Layer, LayerKind, MAX_LAYERS, REST, UNMASKED};
use super::live_state::{JointOverride, LiveState};
use super::playing::{FASTEST, LATEST, LONGEST_FADE, Play, Playing, absent};
use super::{Crowd, CrowdError, InstanceLayers};
use crate::error::{ensure, first_too_large};
use crate::model::{IDENTITY_ROWS, JointTransform, Model, NO_PARENT, Rows, Skeleton, Transform};
use crate::vertex::VertexFormat;
use arrayvec::ArrayVec;
use glam::Vec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Most clips of a layer that an inertial fade leads away from.
const BEFORE: usize = 2;
/// Index of the layer that fades inertially, after the absent one and the clips that it leads away from.
const INERTIAL: usize = 1 + BEFORE;

/// Instances of a model in a live crowd, none of which exists yet.
#[derive(Debug, Clone)]
pub struct LiveGroup {
    /// The model.
    pub model: Arc<Model>,
    /// Most instances at once.
    pub capacity: u32,
    /// What an instance plays at once, apart from transitions: merge layers first.
    pub layers: Vec<LiveLayer>,
    /// Masks that layers refer to by index: one weight per joint, 0 to 1.
    pub masks: Vec<Vec<f32>>,
    /// Most clips at once: more than layers, since a transition takes another one, and at most 7. Beyond it, the clip of
    /// least weight ends early.
    pub clips: usize,
    /// Whether the first layer may fade inertially, which takes memory for eight more poses of each instance.
    pub inertial: bool,
}

/// A layer of all instances of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveLayer {
    /// Operation that combines it with the layers before it.
    pub kind: LayerKind,
    /// Index into the group's masks, or [`UNMASKED`].
    pub mask: u32,
}

impl LiveGroup {
    /// Instances that play one clip, or up to four in transitions.
    pub fn new(model: Arc<Model>, capacity: u32) -> Self {
        Self {
            model,
            capacity,
            layers: vec![LiveLayer {
                kind: LayerKind::Merge,
                mask: UNMASKED,
            }],
            masks: Vec::new(),
            clips: 4,
            inertial: false,
        }
    }

    /// Layers of an instance in the crowd.
    fn records(&self) -> usize {
        1 + self.clips
    }

    /// Most clips of an instance. An inertial fade may leave a layer unused.
    fn most_clips(&self) -> usize {
        self.clips - usize::from(self.inertial)
    }

    fn check(&self) -> Result<(), CrowdError> {
        let merges = self.layers.iter().filter(|l| l.kind == LayerKind::Merge);
        let merges = merges.count();
        // What an inertial fade leads away from, and a crossfade in the meantime.
        let least = self.layers.len() + if self.inertial { 3 } else { 1 };
        ensure!(
            (least..MAX_LAYERS).contains(&self.clips),
            "{} clips at once for {} layers; expected {least} to {}",
            self.clips,
            self.layers.len(),
            MAX_LAYERS - 1
        );
        let first = self.layers.iter().take(merges);
        ensure!(
            merges > 0 && first.clone().all(|layer| layer.kind == LayerKind::Merge),
            "expected merge layers first, one at least, then the others"
        );
        for (index, layer) in self.layers.iter().enumerate() {
            ensure!(
                layer.mask == UNMASKED || (layer.mask as usize) < self.masks.len(),
                "layer {index} has mask {}; the group has {}",
                layer.mask,
                self.masks.len()
            );
        }
        ensure!(
            !self.inertial || (merges == 1 && self.layers[0].mask == UNMASKED),
            "inertial fades of {merges} merge layers; expected one, without a mask"
        );
        Ok(())
    }

    /// The layers of an instance that plays nothing.
    fn empty(&self) -> InstanceLayers {
        self.padded(InstanceLayers::new())
    }

    /// Layers that show clips, followed by absent ones.
    fn padded(&self, mut layers: InstanceLayers) -> InstanceLayers {
        while layers.len() < self.records() {
            layers.push(absent(if layers.is_empty() {
                LayerKind::Merge
            } else {
                LayerKind::Override
            }));
        }
        // Devices look for an inertial fade there alone; one that is not under way has no effect.
        if self.inertial {
            layers[INERTIAL].fade = Fade::Inertial;
        }
        layers
    }
}

/// An instance of a live crowd, until it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId {
    /// Index of the instance in the crowd: the place of its palette and vertices.
    pub instance: u32,
    generation: u32,
}

impl Crowd {
    /// Returns whether it is that of a [`LiveCrowd`], which shows its own time, whatever the tick.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// The tick at which layers are read: 0 in a live crowd.
    pub fn tick_shown(&self, tick: u32) -> u32 {
        if self.is_live() { 0 } else { tick }
    }

    /// Number of changes of layers of a live crowd so far.
    pub fn layer_changes(&self) -> u64 {
        self.live.as_ref().map_or(0, |live| live.changes)
    }

    /// The indices, among all layers, of those of an instance of a live crowd that changed after so many changes.
    pub fn changed_layers(&self, instance: u32, since: u64) -> impl Iterator<Item = usize> {
        let offsets = &self.layers.offsets()[instance as usize..];
        let layers = offsets[0] as usize..offsets[1] as usize;
        let changed = self.live.as_ref().map_or(&[][..], |live| &live.changed);
        layers.filter(move |&layer| changed.get(layer).is_some_and(|change| *change > since))
    }

    /// Most joints with given poses at once, with those of instances that are not to be seen.
    pub fn most_joint_overrides(&self) -> usize {
        let Some(live) = &self.live else {
            return 0;
        };
        let mut most = live.capacity;
        for (group, tops) in self.groups.iter().zip(&live.tops) {
            most += group.len() * tops.len();
        }
        most
    }

    /// Joints of an instance whose poses are given. One that is not to be seen shrinks to a point.
    pub fn joint_overrides(&self, instance: u32) -> impl Iterator<Item = JointOverride> {
        let mut given: &[JointOverride] = &[];
        let mut tops: &[u16] = &[];
        if let Some(live) = &self.live {
            if live.hidden[instance as usize] {
                tops = &live.tops[self.group_of(instance)];
            } else if !live.overrides.is_empty() {
                given = &live.overrides[live.overrides_of(instance)];
            }
        }
        let local = Transform {
            scale: Vec3::ZERO,
            ..Transform::IDENTITY
        };
        let shrunk = tops.iter().map(move |&joint| JointOverride {
            instance,
            joint,
            local,
        });
        given.iter().copied().chain(shrunk)
    }
}

/// What an instance plays.
#[derive(Debug, Clone, Default)]
struct Player {
    generation: u32,
    exists: bool,
    /// By layer, then from the oldest to the newest.
    playing: ArrayVec<Playing, MAX_LAYERS>,
    /// Of each layer.
    weights: ArrayVec<f32, MAX_LAYERS>,
}

/// A crowd that changes between frames: instances come and go, change clips, and are placed, overridden and hidden. Nothing
/// is allocated after its creation. [`CrowdPose`](crate::pose::CrowdPose) and devices pose [`LiveCrowd::crowd`].
///
/// # Limits
/// Only the first layer of a group fades inertially. Hidden instances are still posed and skinned, to a point. There are no update
/// rates: every instance is posed at every time.
#[derive(Debug, Clone)]
pub struct LiveCrowd {
    crowd: Crowd,
    groups: Vec<LiveGroup>,
    players: Vec<Player>,
    /// Of each group the places that are free.
    free: Vec<BinaryHeap<Reverse<u32>>>,
    /// In seconds.
    time: f64,
}

impl LiveCrowd {
    /// A crowd without instances at 0 seconds, in which the poses of at most `overrides` joints are given at once.
    ///
    /// # Errors
    /// As [`Crowd::push_masked_group`]; layers or a number of clips that [`LiveGroup`] does not allow; or a model with vertices
    /// that follow fixed matrices alone, which cannot be hidden.
    pub fn new(
        format: VertexFormat,
        groups: Vec<LiveGroup>,
        overrides: usize,
    ) -> Result<Self, CrowdError> {
        let mut crowd = Crowd::with_format(format);
        let mut tops = Vec::with_capacity(groups.len());
        let mut free = Vec::with_capacity(groups.len());
        for (index, group) in groups.iter().enumerate() {
            group.check()?;
            tops.push(top_joints(&group.model)?);
            let empty = group.empty();
            let instances = (0..group.capacity).map(|_| (IDENTITY_ROWS, &empty[..]));
            crowd.push_masked_group(Arc::clone(&group.model), &group.masks, instances)?;
            let places = crowd.groups[index].instances.clone();
            free.push(places.map(Reverse).collect());
        }
        let count = crowd.instance_count();
        crowd.live = Some(Box::new(LiveState {
            changes: 0,
            changed: vec![0; crowd.layers.all().len()],
            overrides: Vec::with_capacity(overrides),
            capacity: overrides,
            hidden: vec![true; count],
            tops,
        }));
        Ok(Self {
            crowd,
            groups,
            players: vec![Player::default(); count],
            free,
            time: 0.0,
        })
    }

    /// The crowd to pose. Its placements are those of instances.
    pub fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// The time in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Goes to a time in seconds, earlier or later. Back before a transition, an instance plays what it played then, as long
    /// as the transition had not ended.
    ///
    /// # Errors
    /// A time that is not finite or more than 1e10 s away.
    pub fn set_time(&mut self, seconds: f64) -> Result<(), CrowdError> {
        ensure!(
            seconds.abs() <= LATEST,
            "the time {seconds}; expected seconds, {:e} to {LATEST:e}",
            -LATEST
        );
        self.time = seconds;
        for instance in 0..self.players.len() as u32 {
            if !self.is_hidden(instance) {
                self.show_layers(instance);
            }
        }
        Ok(())
    }

    /// Creates an instance of a group, placed by a transform from the model to the world, that plays a clip on its first layer.
    /// The clip's transition does not count.
    ///
    /// # Errors
    /// There is no such group, the group is full, or the clip cannot be played.
    pub fn spawn(
        &mut self,
        group: usize,
        placement: Rows,
        play: Play,
    ) -> Result<InstanceId, CrowdError> {
        let count = self.groups.len();
        ensure!(group < count, "group {group}; the crowd has {count}");
        self.check_play(group, 0, &play)?;
        let Some(Reverse(instance)) = self.free[group].pop() else {
            let capacity = self.groups[group].capacity;
            return Err(CrowdError(format!(
                "all {capacity} instances exist already"
            )));
        };
        let layers = self.groups[group].layers.len();
        let player = &mut self.players[instance as usize];
        player.exists = true;
        player.playing.clear();
        player.weights = std::iter::repeat_n(1.0, layers).collect();
        let id = InstanceId {
            instance,
            generation: player.generation,
        };
        self.crowd.placements[instance as usize] = placement;
        self.start(group, instance, 0, play.with_fade(Fade::Cross, 0.0));
        self.show(id, true)?;
        Ok(id)
    }

    /// Removes an instance, whose place another one may take.
    ///
    /// # Errors
    /// It was removed before.
    pub fn remove(&mut self, id: InstanceId) -> Result<(), CrowdError> {
        let group = self.find(id)?;
        self.show(id, false)?;
        let player = &mut self.players[id.instance as usize];
        player.exists = false;
        player.generation = player.generation.wrapping_add(1);
        self.free[group].push(Reverse(id.instance));
        if let Some(live) = &mut self.crowd.live {
            let own = live.overrides_of(id.instance);
            live.overrides.drain(own);
        }
        Ok(())
    }

    /// Starts a clip on a layer of an instance.
    ///
    /// # Errors
    /// The instance was removed; there is no such layer or clip; the clip is additive and the layer is not, or the reverse; an
    /// inertial fade that the group or layer does not allow; or a number out of range.
    pub fn play(&mut self, id: InstanceId, layer: usize, play: Play) -> Result<(), CrowdError> {
        let group = self.find(id)?;
        self.check_play(group, layer, &play)?;
        self.start(group, id.instance, layer, play);
        self.show_layers(id.instance);
        Ok(())
    }

    /// Changes the speed of what a layer plays, in seconds of the clip per second. The pose does not jump.
    ///
    /// # Errors
    /// The instance was removed, the layer plays nothing, or the speed is not finite or above [`FASTEST`].
    pub fn set_speed(
        &mut self,
        id: InstanceId,
        layer: usize,
        speed: f64,
    ) -> Result<(), CrowdError> {
        self.find(id)?;
        ensure!(
            speed.abs() <= FASTEST,
            "the speed {speed}; expected -{FASTEST} to {FASTEST}"
        );
        let playing = &mut self.players[id.instance as usize].playing;
        let newest = playing.iter_mut().rfind(|playing| playing.layer == layer);
        let Some(newest) = newest else {
            return Err(CrowdError(format!("layer {layer} plays nothing")));
        };
        newest.set_speed(speed, self.time);
        self.show_layers(id.instance);
        Ok(())
    }

    /// Changes the weight of a layer: 0 or more for merge layers, relative to the others; 0 to 1 for the other kinds. It is 1
    /// at first.
    ///
    /// # Errors
    /// The instance was removed, there is no such layer, or the weight is out of range.
    pub fn set_weight(
        &mut self,
        id: InstanceId,
        layer: usize,
        weight: f32,
    ) -> Result<(), CrowdError> {
        let group = self.find(id)?;
        let most = match self.layer(group, layer)?.kind {
            LayerKind::Merge => 1e6,
            LayerKind::Override | LayerKind::Additive => 1.0,
        };
        ensure!(
            (0.0..=most).contains(&weight),
            "the weight {weight}; expected 0 to {most}"
        );
        self.players[id.instance as usize].weights[layer] = weight;
        self.show_layers(id.instance);
        Ok(())
    }

    /// Places an instance: model to world.
    ///
    /// # Errors
    /// It was removed.
    pub fn set_placement(&mut self, id: InstanceId, placement: Rows) -> Result<(), CrowdError> {
        self.find(id)?;
        self.crowd.placements[id.instance as usize] = placement;
        Ok(())
    }

    /// Gives the pose of a joint relative to its parent until it is given again, or leaves it to the clips.
    ///
    /// # Errors
    /// The instance was removed; its model has no such joint, or a fixed matrix there; a number that is not finite or a rotation
    /// without length; or as many joints as the crowd can have are given.
    pub fn set_joint(
        &mut self,
        id: InstanceId,
        joint: u16,
        local: Option<Transform>,
    ) -> Result<(), CrowdError> {
        let group = self.find(id)?;
        let skeleton = self.groups[group].model.skeleton();
        ensure!(
            usize::from(joint) < skeleton.len() && !is_fixed(skeleton, joint),
            "joint {joint} cannot be moved; the skeleton has {} joints",
            skeleton.len()
        );
        let Some(live) = &mut self.crowd.live else {
            return Ok(());
        };
        let key = (id.instance, joint);
        let place = live
            .overrides
            .binary_search_by_key(&key, |o| (o.instance, o.joint));
        let Some(mut local) = local else {
            if let Ok(place) = place {
                live.overrides.remove(place);
            }
            return Ok(());
        };
        let length = local.rotation.length();
        ensure!(
            first_too_large(&[local.components()]).is_none() && length > 1e-6,
            "the pose {local:?}; expected finite numbers and a rotation"
        );
        local.rotation /= length;
        let given = JointOverride {
            instance: id.instance,
            joint,
            local,
        };
        match place {
            Ok(place) => live.overrides[place] = given,
            Err(place) => {
                ensure!(
                    live.overrides.len() < live.capacity,
                    "the poses of {} joints are given already; the crowd has room for no more",
                    live.capacity
                );
                live.overrides.insert(place, given);
            }
        }
        Ok(())
    }

    /// Shows or hides an instance. A hidden one plays on; its vertices shrink to a point.
    ///
    /// # Errors
    /// It was removed.
    pub fn show(&mut self, id: InstanceId, shown: bool) -> Result<(), CrowdError> {
        self.find(id)?;
        if let Some(live) = &mut self.crowd.live {
            live.hidden[id.instance as usize] = !shown;
        }
        self.show_layers(id.instance);
        Ok(())
    }

    /// Returns whether an instance of the crowd is hidden or does not exist, so that it need not be drawn.
    ///
    /// # Panics
    /// The crowd has no place for such an instance.
    pub fn is_hidden(&self, instance: u32) -> bool {
        let live = self.crowd.live.as_ref();
        live.is_some_and(|live| live.hidden[instance as usize])
    }

    /// The group of an instance.
    fn find(&self, id: InstanceId) -> Result<usize, CrowdError> {
        let player = self.players.get(id.instance as usize);
        ensure!(
            player.is_some_and(|p| p.exists && p.generation == id.generation),
            "instance {} was removed",
            id.instance
        );
        Ok(self.crowd.group_of(id.instance))
    }

    fn layer(&self, group: usize, layer: usize) -> Result<&LiveLayer, CrowdError> {
        let layers = &self.groups[group].layers;
        let count = layers.len();
        let message = || CrowdError(format!("layer {layer}; the instance has {count}"));
        layers.get(layer).ok_or_else(message)
    }

    fn check_play(&self, group: usize, layer: usize, play: &Play) -> Result<(), CrowdError> {
        let kind = self.layer(group, layer)?.kind;
        let model = &self.groups[group].model;
        let clip = model.clips().get(play.clip as usize);
        ensure!(
            clip.is_some() || play.clip == REST,
            "clip {}; the model has {}",
            play.clip,
            model.clips().len()
        );
        ensure!(
            clip.is_none_or(|clip| clip.is_additive() == (kind == LayerKind::Additive)),
            "an additive clip on a layer that is not additive, or the reverse"
        );
        ensure!(
            play.start.abs() <= LATEST
                && play.speed.abs() <= FASTEST
                && (0.0..=LONGEST_FADE).contains(&play.fade_seconds),
            "a clip from {:e} s at speed {:e} with a fade of {:e} s; expected at most {LATEST:e} s and {FASTEST} either \
             way, and a fade of 0 to {LONGEST_FADE} s",
            play.start,
            play.speed,
            play.fade_seconds
        );
        ensure!(
            play.fade == Fade::Cross || (layer == 0 && self.groups[group].inertial),
            "an inertial fade of layer {layer}; expected layer 0 of a group that allows it"
        );
        Ok(())
    }

    /// Adds a clip to those that an instance plays.
    fn start(&mut self, group: usize, instance: u32, layer: usize, mut play: Play) {
        let rules = &self.groups[group];
        let clip = rules.model.clips().get(play.clip as usize);
        let duration = clip.map_or(0.0, |clip| clip.duration());
        let time = self.time;
        let playing = &mut self.players[instance as usize].playing;
        forget(rules, playing, time);
        // What began later, before the crowd went back, does not happen.
        for index in (1..playing.len()).rev() {
            let begins = playing[index].layer == layer && playing[index].began > time;
            if begins && playing[index - 1].layer == layer {
                playing.remove(index);
            }
        }
        // Of two inertial fades at once, the second becomes a crossfade.
        if playing.iter().any(|playing| playing.is_inertial(time)) {
            play.fade = Fade::Cross;
        }
        if play.fade == Fade::Inertial {
            while playing.iter().filter(|p| p.layer == 0).count() > BEFORE {
                drop_least(rules, playing, 0, time, |p| p.layer == 0);
            }
        }
        if playing.len() == rules.most_clips() {
            drop_least(rules, playing, layer, time, |_| true);
        }
        let end = playing.partition_point(|playing| playing.layer <= layer);
        playing.insert(end, Playing::new(layer, play, duration, time));
    }

    /// Writes the layers that show an instance now.
    fn show_layers(&mut self, instance: u32) {
        let rules = &self.groups[self.crowd.group_of(instance)];
        let player = &mut self.players[instance as usize];
        let Some(live) = &mut self.crowd.live else {
            return;
        };
        let mut layers = rules.empty();
        if !live.hidden[instance as usize] {
            forget(rules, &mut player.playing, self.time);
            layers = shown(rules, player, self.time);
        }
        let first = self.crowd.layers.offsets()[instance as usize] as usize;
        let before = self.crowd.layers.of(instance as usize);
        live.changes += 1;
        for (index, (before, now)) in before.iter().zip(&layers).enumerate() {
            if before != now {
                live.changed[first + index] = live.changes;
            }
        }
        self.crowd.layers.replace(instance as usize, &layers);
    }
}

/// Forgets clips whose layer has faded to a newer one, and transitions that have ended.
fn forget(rules: &LiveGroup, playing: &mut ArrayVec<Playing, MAX_LAYERS>, time: f64) {
    let mut index = 0;
    while index < playing.len() {
        let own = &playing[index];
        let mut newer = playing[index + 1..].iter();
        let is_replaced = newer.any(|p| p.layer == own.layer && p.elapsed(time) == 1.0);
        let has_ended = own.elapsed(time) == 1.0;
        if is_replaced || (has_ended && is_silent(rules, own)) {
            playing.remove(index);
            continue;
        }
        if has_ended {
            playing[index].play.fade_seconds = 0.0;
        }
        index += 1;
    }
}

/// Returns whether it lets a layer fade out, rather than play anything.
fn is_silent(rules: &LiveGroup, playing: &Playing) -> bool {
    playing.play.clip == REST && rules.layers[playing.layer].kind != LayerKind::Merge
}

/// Drops the clip of least weight among some, of which that of a layer about to play another one may be the newest.
fn drop_least(
    rules: &LiveGroup,
    playing: &mut ArrayVec<Playing, MAX_LAYERS>,
    layer: usize,
    time: f64,
    among: impl Fn(&Playing) -> bool,
) {
    let shares = shares(rules, playing, time);
    let mut least = None;
    for (index, own) in playing.iter().enumerate() {
        let is_newest = playing.get(index + 1).is_none_or(|p| p.layer != own.layer);
        // An inertial fade needs something that it leads away from.
        let is_needed = index == 0 && playing.get(1).is_some_and(Playing::fades_inertially);
        let may_go = among(own) && !is_needed && (!is_newest || own.layer == layer);
        if may_go && least.is_none_or(|least: usize| shares[index].own <= shares[least].own) {
            least = Some(index);
        }
    }
    if let Some(least) = least {
        playing.remove(least);
    }
}

/// How much of its layer a clip is, 0 to 1.
#[derive(Clone, Copy)]
struct Share {
    own: f64,
    /// The sum of those of newer clips that show something.
    covered: f64,
}

/// The share of each clip in its layer. What an inertial fade leads away from counts until the fade is over.
fn shares(rules: &LiveGroup, playing: &[Playing], time: f64) -> ArrayVec<Share, MAX_LAYERS> {
    let mut shares = ArrayVec::new();
    let mut layer = None;
    let mut left = 1.0;
    let mut covered = 0.0;
    for (index, playing) in playing.iter().enumerate().rev() {
        if layer.replace(playing.layer) != Some(playing.layer) {
            left = 1.0;
            covered = 0.0;
        }
        let mut own = left * playing.faded_in(time);
        if index == 0 {
            // There is nothing beneath the first layer.
            own = left;
        }
        shares.push(Share { own, covered });
        if !playing.is_inertial(time) {
            left -= own;
            covered += if is_silent(rules, playing) { 0.0 } else { own };
        }
    }
    shares.reverse();
    shares
}

/// The layers that show what an instance plays at a time.
fn shown(rules: &LiveGroup, player: &Player, time: f64) -> InstanceLayers {
    let playing = &player.playing;
    let inertial = playing.iter().position(|playing| playing.is_inertial(time));
    let shares_now = shares(rules, playing, time);
    let mut layers = InstanceLayers::new();
    layers.push(absent(LayerKind::Merge));
    let mut later = &playing[..];
    if let Some(fading) = inertial {
        let (before, rest) = playing.split_at(fading);
        let fading = &playing[fading];
        for (playing, share) in before.iter().zip(shares(rules, before, fading.began)) {
            layers.push(playing.layer_before(fading, time, share.own));
        }
        while layers.len() < INERTIAL {
            layers.push(absent(LayerKind::Override));
        }
        layers.push(fading.inertial_layer_at(time));
        later = &rest[1..];
    }
    for (playing, share) in later.iter().zip(&shares_now[playing.len() - later.len()..]) {
        if is_silent(rules, playing) {
            continue;
        }
        let LiveLayer { mut kind, mask } = rules.layers[playing.layer];
        let mut weight = f64::from(player.weights[playing.layer]);
        if inertial.is_some() && kind == LayerKind::Merge {
            // It covers the pose that fades inertially, which is whole.
            kind = LayerKind::Override;
            weight = 1.0;
        }
        let mut own = weight * share.own;
        if kind == LayerKind::Override {
            // Newer clips of the layer cover it as much as its own weight is to be less.
            let uncovered = 1.0 - weight * share.covered;
            own = if own < uncovered {
                own / uncovered
            } else {
                1.0
            };
        }
        layers.push(Layer {
            mask,
            ..playing.layer_at(time, kind, own)
        });
    }
    rules.padded(layers)
}

/// The joints that can move, without such a joint above them.
///
/// # Errors
/// A joint that vertices follow has none above it.
fn top_joints(model: &Model) -> Result<Vec<u16>, CrowdError> {
    let skeleton = model.skeleton();
    let mut tops = Vec::new();
    let mut moves = Vec::with_capacity(skeleton.len());
    for (joint, &parent) in (0..).zip(skeleton.parents()) {
        if parent != NO_PARENT && moves[usize::from(parent)] {
            moves.push(true);
            continue;
        }
        let own = !is_fixed(skeleton, joint);
        if own {
            tops.push(joint);
        }
        moves.push(own);
    }
    for &joint in model.palette_joints() {
        ensure!(
            moves[usize::from(joint)],
            "joint {joint} of {:?} follows fixed matrices alone, so that instances cannot be hidden",
            model.name()
        );
    }
    Ok(tops)
}

fn is_fixed(skeleton: &Skeleton, joint: u16) -> bool {
    matches!(skeleton.rest_of(joint.into()), JointTransform::Matrix(_))
}
