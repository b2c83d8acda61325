//! Scenes whose models are loaded and whose names are resolved: everything that a crowd is built from, whose hash tells
//! scenes apart.

use super::description::{ClipChoice, GroupDescription};
use super::layer::{Deriving, ResolvedClips, ResolvedLayer};
use super::model_source::EDITION;
use super::{Camera, Effect, ModelSource, Scene};
use crate::asset::Place;
use crate::crowd::{LayerKind, REST};
use crate::error::DataError;
use crate::model::Model;
use fnv::FnvHasher;
use indexmap::IndexSet;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;

/// A scene with its models. Its text as JSON is the same for scenes that show the same.
#[derive(Serialize)]
pub struct ResolvedScene<'a> {
    seed: u64,
    resolution: [u32; 2],
    camera: Camera,
    /// Name and words of those settings that change the crowd after it is described.
    settings: Vec<(&'static str, Vec<String>)>,
    /// Groups in the order of the file.
    pub groups: Vec<ResolvedGroup<'a>>,
    /// Models of all groups, each once.
    pub models: Vec<StoredModel>,
    /// The edition of generated models.
    edition: u32,
}

impl ResolvedScene<'_> {
    /// Hash by which results are compared: of everything that determines the vertices or the picture, unless it is
    /// skipped where the field is declared. It is the same on all platforms, because it covers the description of the
    /// scene and the bytes of its files, not the results of arithmetic.
    pub fn hash(&self) -> u64 {
        let mut hash = FnvHasher::default();
        // All keys are names of fields, so that it is always written.
        hash.write(&serde_json::to_vec(self).unwrap_or_default());
        hash.finish()
    }
}

/// A group of a scene.
#[derive(Serialize)]
pub struct ResolvedGroup<'a> {
    pub description: &'a GroupDescription,
    /// The models that mix in the group, at least one.
    pub members: Vec<ResolvedMember>,
}

/// A model of a group.
#[derive(Serialize)]
pub struct ResolvedMember {
    /// Index into [`ResolvedScene::models`].
    pub model: usize,
    /// Clips and masks by their indices in the model and in the crowd.
    pub clips: ResolvedClips,
}

/// A model of a scene, with the clips that layers derive from its own.
#[derive(Serialize)]
pub struct StoredModel {
    source: ModelSource,
    /// Hash of the bytes of its files.
    files: u64,
    /// The model, with clips as the settings store them.
    #[serde(skip)]
    pub stored: Arc<Model>,
}

impl Scene {
    /// Loads the models, and resolves the names of clips and joints.
    ///
    /// # Errors
    /// A model that cannot be loaded, or a clip or joint that it lacks.
    pub(super) fn resolve(&self) -> Result<ResolvedScene<'_>, DataError> {
        self.check_models()?;
        let used = self.groups.iter().flat_map(GroupDescription::used_models);
        let sources: Vec<&ModelSource> = used.collect::<IndexSet<_>>().into_iter().collect();
        if let Some((source, problem)) = ModelSource::excess(&sources) {
            let place = self.place_of(source);
            return Err(self.refused(&["models", "vertices"], place, problem));
        }
        let mut models = Vec::with_capacity(sources.len());
        let mut files = Vec::with_capacity(sources.len());
        for (loaded, source) in ModelSource::load_all(&sources).into_iter().zip(&sources) {
            let loaded = loaded.map_err(|problem| self.caused(self.place_of(source), problem))?;
            models.push(Deriving::new(loaded.model));
            files.push(loaded.files);
        }
        let index_of: HashMap<&ModelSource, usize> = sources.iter().copied().zip(0..).collect();
        let mut groups = Vec::with_capacity(self.groups.len());
        for description in &self.groups {
            let mut members = Vec::new();
            for source in description.used_models() {
                let model = index_of[source];
                members.push(ResolvedMember {
                    model,
                    clips: self.find(description, &mut models[model])?,
                });
            }
            groups.push(ResolvedGroup {
                description,
                members,
            });
        }
        let mut models_stored = Vec::with_capacity(models.len());
        for (index, stored) in self.stored(models)?.into_iter().enumerate() {
            models_stored.push(StoredModel {
                source: sources[index].clone(),
                files: files[index],
                stored,
            });
        }
        let mut settings = Vec::new();
        for chosen in self.settings.chosen() {
            if chosen.setting.effect == Effect::Crowd && !chosen.is_default() {
                settings.push((chosen.setting.name, chosen.words));
            }
        }
        Ok(ResolvedScene {
            seed: self.seed,
            resolution: self.resolution,
            camera: self.camera,
            settings,
            groups,
            models: models_stored,
            edition: EDITION,
        })
    }

    /// Converts clips to the form in which the scene's settings store them.
    fn stored(&self, models: Vec<Deriving>) -> Result<Vec<Arc<Model>>, DataError> {
        let clips = self.settings.clips.unwrap_or_default();
        models
            .into_par_iter()
            .map(|model| {
                let name = model.model.name().to_owned();
                clips
                    .stored(model.model)
                    .map(Arc::new)
                    .map_err(|error| self.refused(&["clips"], None, error.within(&name)))
            })
            .collect()
    }

    /// The place in the scene's file of the first group that shows a model.
    fn place_of(&self, source: &ModelSource) -> Option<Place> {
        self.groups
            .iter()
            .find(|group| group.used_models().contains(&source))
            .and_then(|group| group.model_place)
    }

    /// Checks the number of models that an override asked for.
    fn check_models(&self) -> Result<(), DataError> {
        let Some(models) = self.settings.models else {
            return Ok(());
        };
        let people = self.groups.iter().filter(|group| group.has_people());
        let problem = match people.map(GroupDescription::most_people).min() {
            None => format!(
                "{models} models, but no group of people; expected a scene with one, such as city"
            ),
            Some(count) if u64::from(models) > count => {
                format!("{models} models for {count} instances; expected at most {count}")
            }
            Some(_) => return Ok(()),
        };
        Err(self.refused(&["models", "instances"], None, problem))
    }

    /// Resolves the clips and masks of a group; derived clips are added to its model.
    fn find(
        &self,
        group: &GroupDescription,
        model: &mut Deriving,
    ) -> Result<ResolvedClips, DataError> {
        let clips = clips(group, model).map_err(|problem| match &self.settings.clip {
            None => self.error(group.clip_place, problem),
            Some(_) => {
                let problem = format!("{}: {problem}", model.model.name());
                self.refused(&["clip"], None, problem)
            }
        })?;
        let mut resolved = ResolvedClips {
            clips,
            layers: Vec::new(),
            masks: Vec::new(),
        };
        for layer in &group.layers {
            let clip = model
                .find(&layer.clip)
                .and_then(|clip| model.clip(clip, layer.play.mode, layer.kind))
                .map_err(|problem| self.error(layer.clip_place, problem))?;
            resolved.layers.push(ResolvedLayer {
                clip,
                mask: model.masks,
            });
            if let Some(mask) = &layer.mask {
                let weights = mask
                    .resolve(&model.model)
                    .map_err(|problem| self.error(mask.place, problem))?;
                resolved.masks.push(weights);
                model.masks += 1;
            }
        }
        Ok(resolved)
    }
}

/// The clips that a group's instances play; derived ones are added to the model.
fn clips(group: &GroupDescription, model: &mut Deriving) -> Result<Vec<u32>, String> {
    let count = model.loaded_clips().len() as u32;
    let mut clips = match &group.clip {
        ClipChoice::Named(name) => vec![model.find(name)?],
        _ if count == 0 => vec![REST],
        ClipChoice::First => vec![0],
        ClipChoice::All => (0..count).collect(),
    };
    for clip in &mut clips {
        *clip = model.clip(*clip, group.play.mode, LayerKind::Merge)?;
    }
    Ok(clips)
}
