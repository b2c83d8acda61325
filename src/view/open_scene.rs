//! The scene that the window shows, with the clip and the overlays that were chosen there.

use crate::asset::regular_file;
use crate::crowd::{MAX_LAYERS, TICKS_PER_SECOND};
use crate::error::DataError;
use crate::scene::{ClipChoice, LayerPlan, LayerTimes, ModelSource, Scene};
use std::path::Path;

/// A scene that was opened, and what was chosen in the window.
#[derive(Debug, Clone)]
pub struct OpenScene {
    /// Name that was opened: a built-in scene, a scene file or a model.
    pub source: String,
    scene: Scene,
    /// Clip of the first group's model.
    clip: Option<ClipChoice>,
    /// Clips over those of the first group's model, which stay.
    layers: Vec<Overlay>,
    /// A clip over all of these, which fades in and, once it is switched off, out again.
    overlay: Option<Overlay>,
}

/// A clip that is laid over others.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// Its name, or its number.
    pub clip: String,
    /// The joint that it begins at; `None` for all joints.
    pub joint: Option<String>,
    times: LayerTimes,
}

impl OpenScene {
    /// Opens a built-in scene by name, a scene file or a model.
    ///
    /// # Errors
    /// As [`Scene::load`], or a model file that cannot be opened.
    pub fn open(source: &str) -> Result<Self, DataError> {
        let scene = Scene::load(source)?;
        // A scene loads its models when it is built, but a missing file is reported immediately.
        if Scene::is_model(source) && ModelSource::from_name(source).is_file() {
            regular_file::open(Path::new(source)).map_err(|error| {
                DataError::new("", format!("cannot read: {error}")).in_file(Path::new(source))
            })?;
        }
        Ok(Self {
            source: source.to_owned(),
            scene,
            clip: None,
            layers: Vec::new(),
            overlay: None,
        })
    }

    /// Name of the scene.
    pub fn name(&self) -> &str {
        &self.scene.name
    }

    /// Returns whether clips are laid over those of the scene.
    pub fn has_overlays(&self) -> bool {
        self.overlay.is_some() || !self.layers.is_empty()
    }

    /// The clip that was chosen as an argument has it; `None` if none was.
    ///
    /// # Errors
    /// Not all groups play it, as an argument would let them.
    pub fn clip_argument(&self) -> Result<Option<&str>, String> {
        let first = &self.scene.groups[0].models;
        match &self.clip {
            Some(_) if self.scene.groups.iter().any(|group| group.models != *first) => {
                Err("a clip was chosen for one model of several".into())
            }
            Some(ClipChoice::Named(name)) => Ok(Some(name)),
            Some(ClipChoice::All) => Ok(Some("*")),
            Some(ClipChoice::First) | None => Ok(None),
        }
    }

    /// The scene as it is shown.
    pub fn scene(&self) -> Scene {
        let mut scene = self.scene.clone();
        let models = scene.groups[0].models.clone();
        for group in &mut scene.groups {
            if group.models != models {
                continue;
            }
            if let Some(clip) = &self.clip {
                group.clip = clip.clone();
            }
            for overlay in self.layers.iter().chain(&self.overlay) {
                let joint = overlay.joint.as_deref();
                let layer = LayerPlan::over(&overlay.clip, joint, overlay.times);
                group.layers.push(layer);
            }
        }
        scene
    }

    /// Clip of the first group.
    pub(crate) fn clip(&self) -> &ClipChoice {
        self.clip.as_ref().unwrap_or(&self.scene.groups[0].clip)
    }

    /// Plays another clip in the first group, and in all of the same model.
    pub(crate) fn set_clip(&mut self, clip: ClipChoice) {
        self.clip = Some(clip);
    }

    /// Lays a clip over the others from a tick on, from a joint on or on all joints.
    pub fn lay_over(&mut self, clip: &str, joint: Option<&str>, fade: f64, tick: u32) {
        self.overlay = Some(Overlay {
            clip: clip.to_owned(),
            joint: joint.map(String::from),
            times: LayerTimes {
                every: None,
                lasts: None,
                start: seconds(tick),
                stagger: 0.0,
                fade_in: fade,
                fade_out: 0.0,
            },
        });
    }

    /// Lets the overlay fade out from a tick on. It stays in the scene, so that its fade can be seen.
    pub fn fade_out(&mut self, fade: f64, tick: u32) {
        let Some(Overlay { times, .. }) = &mut self.overlay else {
            return;
        };
        if times.lasts.is_none() {
            let there = (seconds(tick) - times.start).max(0.0);
            times.fade_in = times.fade_in.min(there);
            times.fade_out = fade;
            times.lasts = Some((there + fade).max(1.0 / TICKS_PER_SECOND));
        }
    }

    /// Returns whether the overlay is fading in or fully present.
    pub fn is_overlay_on(&self) -> bool {
        let overlay = self.overlay.as_ref();
        overlay.is_some_and(|overlay| overlay.times.lasts.is_none())
    }

    /// The overlays that stay, the lowest first.
    pub fn layers(&self) -> &[Overlay] {
        &self.layers
    }

    /// Keeps the overlay, so that another one can be laid over it.
    ///
    /// # Errors
    /// Why there is none to keep, or no room for another one.
    pub fn add_layer(&mut self) -> Result<(), &'static str> {
        self.can_add_layer()?;
        self.layers.extend(self.overlay.take());
        Ok(())
    }

    /// Returns whether [`OpenScene::add_layer`] would add one.
    ///
    /// # Errors
    /// As [`OpenScene::add_layer`].
    pub fn can_add_layer(&self) -> Result<(), &'static str> {
        if !self.is_overlay_on() {
            return Err("Switch the overlay on first");
        }
        let below = 1 + self.scene.groups[0].layers.len() + self.layers.len();
        // The overlay, and the one after it.
        if below + 2 > MAX_LAYERS {
            return Err("An instance plays no more clips at once");
        }
        Ok(())
    }

    /// Takes a layer away that was added.
    ///
    /// # Panics
    /// There is no layer with this number.
    pub fn remove_layer(&mut self, number: usize) {
        self.layers.remove(number);
    }

    /// Takes all overlays away at once.
    pub fn drop_overlays(&mut self) {
        self.overlay = None;
        self.layers.clear();
    }
}

/// The time of a tick. Ticks before the start count as the start, because schedules have no earlier times.
fn seconds(tick: u32) -> f64 {
    f64::from((tick as i32).max(0)) / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::{Layer, Presence};

    fn built(opened: &OpenScene) -> crate::scene::BuiltScene {
        opened.scene().build(1 << 30).unwrap()
    }

    #[test]
    fn what_is_opened_is_the_scene_that_run_measures() {
        for source in ["smoke", "street", "layers-4", "sprout-glb"] {
            let scene = Scene::load(source).unwrap().build(1 << 30).unwrap();
            let opened = OpenScene::open(source).unwrap();
            assert_eq!(built(&opened).hash, scene.hash, "{source}");
            assert!(opened.clip.is_none() && !opened.has_overlays());
        }
        let error = OpenScene::open("walker2").unwrap_err().to_string();
        assert!(error.contains("did you mean"), "{error}");
    }

    #[test]
    fn another_clip_is_played_by_the_first_groups_model_alone() {
        let mut opened = OpenScene::open("zoo").unwrap();
        opened.set_clip(ClipChoice::Named("rest".into()));
        let [before, after] = [OpenScene::open("zoo").unwrap(), opened].map(|opened| {
            let groups = opened.scene().groups;
            groups
                .into_iter()
                .map(|group| group.clip)
                .collect::<Vec<_>>()
        });
        assert_eq!(after[0], ClipChoice::Named("rest".into()));
        assert_eq!(after[1..], before[1..], "other models");
    }

    /// The layer that an overlay adds to each instance of the walkers.
    fn layer(opened: &OpenScene) -> Layer {
        let crowd = built(opened).crowd;
        let layers = crowd.layers().of(7).to_vec();
        assert_eq!(layers.len(), 2);
        layers[1]
    }

    #[test]
    fn an_overlay_fades_in_over_every_instance_and_out_again() {
        let mut opened = OpenScene::open("walkers").unwrap();
        opened.lay_over("wave", None, 0.5, 120);
        assert!(opened.is_overlay_on());
        let on = layer(&opened);
        let presences = [119, 120, 149, 150, 4_000].map(|tick| on.schedule.at(tick));
        assert_eq!(
            presences,
            [
                Presence::Absent,
                Presence::In(0),
                Presence::In(29),
                Presence::Full,
                Presence::Full
            ]
        );
        opened.fade_out(0.5, 300);
        assert!(!opened.is_overlay_on());
        let off = layer(&opened);
        assert_eq!(
            [299, 300, 329, 330].map(|tick| off.schedule.at(tick)),
            [
                Presence::Full,
                Presence::Out(0),
                Presence::Out(29),
                Presence::Absent
            ]
        );
        opened.drop_overlays();
        assert!(opened.clip.is_none() && !opened.has_overlays());
    }

    #[test]
    fn an_overlay_that_is_switched_off_at_once_can_be_built() {
        let mut opened = OpenScene::open("walkers").unwrap();
        opened.lay_over("wave", None, 0.5, 60);
        opened.fade_out(0.5, 60);
        built(&opened);
    }

    #[test]
    fn a_wave_from_a_joint_on_leaves_the_walk_as_it_was() {
        let mut opened = OpenScene::open("walkers").unwrap();
        assert!(opened.can_add_layer().is_err());
        opened.lay_over("wave", Some("clavicle_r"), 0.0, 0);
        let crowd = built(&opened).crowd;
        let group = &crowd.groups()[0];
        let mask = crowd.layers().of(7)[1].mask;
        let names = group.model.skeleton().names();
        for (name, weight) in names.iter().zip(group.mask(mask)) {
            let is_of_arm = ["clavicle_r", "hand_r"].contains(&&**name);
            if is_of_arm || ["pelvis", "foot_l", "hand_l"].contains(&&**name) {
                assert_eq!(*weight > 0.0, is_of_arm, "{name}");
            }
        }
        opened.add_layer().unwrap();
        assert!(!opened.is_overlay_on() && opened.has_overlays());
        while opened.layers().len() < MAX_LAYERS - 2 {
            opened.lay_over("idle", None, 0.0, 0);
            opened.add_layer().unwrap();
        }
        opened.lay_over("run", None, 0.0, 0);
        assert!(opened.add_layer().is_err());
        assert_eq!(built(&opened).crowd.layers().of(7).len(), MAX_LAYERS);
        opened.remove_layer(0);
        assert_eq!(opened.layers()[0].clip, "idle");
    }
}
