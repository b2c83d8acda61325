//! The scene that the window shows, with the clip and the wave that were chosen there.

use crate::asset::regular_file;
use crate::crowd::TICKS_PER_SECOND;
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
    /// A layer that fades in over the first group's model and, once it is switched off, out again.
    wave: Option<Wave>,
}

#[derive(Debug, Clone)]
struct Wave {
    clip: String,
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
            wave: None,
        })
    }

    /// Name of the scene.
    pub fn name(&self) -> &str {
        &self.scene.name
    }

    /// Returns whether another clip or a wave was chosen.
    pub fn is_changed(&self) -> bool {
        self.clip.is_some() || self.wave.is_some()
    }

    /// The scene as it is shown.
    pub fn scene(&self) -> Scene {
        let mut scene = self.scene.clone();
        let models = scene.groups[0].models.clone();
        for group in &mut scene.groups {
            if group.models == models {
                if let Some(clip) = &self.clip {
                    group.clip = clip.clone();
                }
                if let Some(wave) = &self.wave {
                    group.layers.push(LayerPlan::over(&wave.clip, wave.times));
                }
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

    /// Switches the wave on or off at a tick. A wave that is off stays in the scene, so that its fade can be seen.
    pub fn switch_wave(&mut self, on: bool, clip: &str, fade: f64, tick: u32) {
        // Ticks before the start count as the start, because schedules have no earlier times.
        let now = f64::from((tick as i32).max(0)) / TICKS_PER_SECOND;
        if on {
            self.wave = Some(Wave {
                clip: clip.to_owned(),
                times: LayerTimes {
                    every: None,
                    lasts: None,
                    start: now,
                    stagger: 0.0,
                    fade_in: fade,
                    fade_out: 0.0,
                },
            });
        } else if let Some(Wave { times, .. }) = &mut self.wave
            && times.lasts.is_none()
        {
            let there = (now - times.start).max(0.0);
            times.fade_in = times.fade_in.min(there);
            times.fade_out = fade;
            times.lasts = Some((there + fade).max(1.0 / TICKS_PER_SECOND));
        }
    }

    /// Returns whether the wave is fading in or fully present.
    pub fn is_wave_on(&self) -> bool {
        self.wave
            .as_ref()
            .is_some_and(|wave| wave.times.lasts.is_none())
    }

    /// Takes the wave away at once.
    pub fn drop_wave(&mut self) {
        self.wave = None;
    }
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
            assert!(!opened.is_changed());
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

    /// The layer that a wave adds to each instance of the walkers.
    fn layer(opened: &OpenScene) -> Layer {
        let crowd = built(opened).crowd;
        let layers = crowd.layers().of(7).to_vec();
        assert_eq!(layers.len(), 2);
        layers[1]
    }

    #[test]
    fn the_wave_fades_in_over_every_instance_and_out_again() {
        let mut opened = OpenScene::open("walkers").unwrap();
        opened.switch_wave(true, "wave", 0.5, 120);
        assert!(opened.is_wave_on());
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
        opened.switch_wave(false, "wave", 0.5, 300);
        assert!(!opened.is_wave_on());
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
        opened.drop_wave();
        assert!(!opened.is_changed());
    }

    #[test]
    fn a_wave_that_is_switched_off_at_once_can_be_built() {
        let mut opened = OpenScene::open("walkers").unwrap();
        opened.switch_wave(true, "wave", 0.5, 60);
        opened.switch_wave(false, "wave", 0.5, 60);
        built(&opened);
    }
}
