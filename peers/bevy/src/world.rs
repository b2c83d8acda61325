//! A Bevy app with a character for each instance.

use crate::crowd::Instance;
use bevy::app::{AnimationSystems, PluginsState, TaskPoolOptions, TaskPoolPlugin, TaskPoolThreadAssignmentPolicy};
use bevy::asset::{AssetPlugin, LoadState, UnapprovedPathMode};
use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::gltf::{Gltf, GltfNode, GltfPlugin, GltfSkin};
use bevy::image::ImagePlugin;
use bevy::mesh::MeshPlugin;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::*;
use bevy::time::TimePlugin;
use bevy::transform::TransformSystems;
use bevy::world_serialization::{WorldAssetRoot, WorldSerializationPlugin};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Updates within which all characters have been spawned.
const SPAWNING: usize = 10;
/// Time between two looks whether the model is loaded.
const LOADING: Duration = Duration::from_millis(1);

/// Characters, and the app that animates them.
pub struct Characters {
    app: App,
    /// Entities of all joints, `[instance][joint]`.
    joints: Vec<Entity>,
}

/// Nanoseconds of a frame and of its stages.
pub struct Times {
    /// Setting times and sampling clips.
    pub sample: u64,
    /// From local to global transforms.
    pub local_to_model: u64,
    /// The whole update of the app.
    pub engine_frame: u64,
}

/// The tick that is shown.
#[derive(Resource)]
struct Tick(u32);

/// When clips began to be sampled, when they were, and when all joints were placed.
#[derive(Resource)]
struct Moments {
    start: Instant,
    sampled: Instant,
    placed: Instant,
}

impl Characters {
    /// Loads a model and spawns a character for each instance.
    ///
    /// # Errors
    /// The model cannot be loaded, or has joints that belong to no skin.
    pub fn load(glb: &Path, instances: &[Instance], threads: usize) -> Result<Self, String> {
        let (Some(folder), Some(file)) = (glb.parent(), glb.file_name()) else {
            return Err(format!("{} is no file", glb.display()));
        };
        let mut app = app(folder, threads);
        let handle: Handle<Gltf> = app.world().resource::<AssetServer>().load(file.to_string_lossy().into_owned());
        loop {
            app.update();
            match app.world().resource::<AssetServer>().load_state(&handle) {
                LoadState::Failed(error) => return Err(error.to_string()),
                _ if app.world().resource::<AssetServer>().is_loaded_with_dependencies(&handle) => break,
                _ => std::thread::sleep(LOADING),
            }
        }
        let gltfs = app.world().resource::<Assets<Gltf>>();
        let gltf = gltfs.get(&handle).ok_or("the model is gone")?;
        let scene = gltf.default_scene.clone().or(gltf.scenes.first().cloned()).ok_or("a model without a scene")?;
        let (skins, animations) = (gltf.skins.clone(), gltf.animations.clone());
        let mut graphs = Vec::new();
        for clip in animations {
            let (graph, node) = AnimationGraph::from_clip(clip);
            let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
            graphs.push((AnimationGraphHandle(graph), node));
        }

        let root = || (WorldAssetRoot(scene.clone()), Transform::default());
        let roots: Vec<Entity> = instances.iter().map(|_| app.world_mut().spawn(root()).id()).collect();
        let index_of: HashMap<Entity, usize> = roots.iter().enumerate().map(|(index, &root)| (root, index)).collect();
        for _ in 0..SPAWNING {
            app.update();
        }
        let world = app.world_mut();
        let mut ancestors = world.query::<&ChildOf>();
        let mut index = |world: &World, entity: Entity| {
            let query = ancestors.query(world);
            query.iter_ancestors(entity).find_map(|ancestor| index_of.get(&ancestor).copied())
        };
        let players: Vec<Entity> = world.query_filtered::<Entity, With<AnimationPlayer>>().iter(world).collect();
        for entity in players {
            let Some(instance) = index(world, entity).map(|index| instances[index]) else { continue };
            let Some((graph, node)) = graphs.get(instance.clip as usize) else { continue };
            let mut player = AnimationPlayer::default();
            player.play(*node).pause();
            world.entity_mut(entity).insert((player, graph.clone(), instance));
        }
        let nodes = node_of_palette_entries(world, &skins)?;
        let count = nodes.values().flatten().max().map_or(0, |last| last + 1);
        let mut joints = vec![Entity::PLACEHOLDER; instances.len() * count];
        let meshes: Vec<(Entity, SkinnedMesh)> =
            world.query::<(Entity, &SkinnedMesh)>().iter(world).map(|(entity, mesh)| (entity, mesh.clone())).collect();
        for (entity, mesh) in meshes {
            let (Some(index), Some(nodes)) = (index(world, entity), nodes.get(&mesh.inverse_bindposes.id())) else {
                continue;
            };
            for (&joint, &node) in mesh.joints.iter().zip(nodes) {
                joints[index * count + node] = joint;
            }
        }
        if joints.is_empty() || joints.contains(&Entity::PLACEHOLDER) {
            return Err("a joint belongs to no skin".into());
        }
        Ok(Self { app, joints })
    }

    /// Runs the frame of a tick.
    pub fn frame(&mut self, tick: u32) -> Times {
        self.app.world_mut().resource_mut::<Tick>().0 = tick;
        let start = Instant::now();
        self.app.update();
        let engine_frame = start.elapsed();
        let moments = self.app.world().resource::<Moments>();
        Times {
            sample: (moments.sampled - moments.start).as_nanos() as u64,
            local_to_model: (moments.placed - moments.sampled).as_nanos() as u64,
            engine_frame: engine_frame.as_nanos() as u64,
        }
    }

    /// The joints' matrices in model space, `[instance][joint][three rows of four]`.
    ///
    /// # Errors
    /// A joint is gone.
    pub fn matrices(&self) -> Result<Vec<f32>, String> {
        let mut numbers = Vec::with_capacity(self.joints.len() * 12);
        for &joint in &self.joints {
            let transform = self.app.world().get::<GlobalTransform>(joint).ok_or("a joint has no transform")?;
            let affine = transform.affine();
            for row in 0..3 {
                numbers.extend(affine.matrix3.row(row).to_array());
                numbers.push(affine.translation[row]);
            }
        }
        Ok(numbers)
    }
}

/// An app that loads glTF files from a folder, samples clips and places joints.
fn app(folder: &Path, threads: usize) -> App {
    let mut options = TaskPoolOptions::with_num_threads(threads);
    let all = TaskPoolThreadAssignmentPolicy { min_threads: threads, max_threads: threads, ..options.compute };
    options.compute = all;
    let assets = AssetPlugin {
        file_path: folder.to_string_lossy().into_owned(),
        unapproved_path_mode: UnapprovedPathMode::Allow,
        ..AssetPlugin::default()
    };
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin { task_pool_options: options }, TimePlugin, assets, TransformPlugin));
    app.add_plugins((ImagePlugin::default(), MeshPlugin, WorldSerializationPlugin, AnimationPlugin));
    app.add_plugins(GltfPlugin::default());
    let now = Instant::now();
    app.insert_resource(Tick(0)).insert_resource(Moments { start: now, sampled: now, placed: now });
    let sampled = |mut moments: ResMut<Moments>| moments.sampled = Instant::now();
    let placed = |mut moments: ResMut<Moments>| moments.placed = Instant::now();
    app.add_systems(PostUpdate, seek.before(AnimationSystems));
    app.add_systems(PostUpdate, sampled.after(AnimationSystems).before(TransformSystems::Propagate));
    app.add_systems(PostUpdate, placed.after(TransformSystems::Propagate));
    while app.plugins_state() == PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
    if threads == 1 {
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
    }
    app
}

/// Shows each character's clip at the time of the tick.
fn seek(tick: Res<Tick>, mut moments: ResMut<Moments>, mut players: Query<(&mut AnimationPlayer, &Instance)>) {
    moments.start = Instant::now();
    for (mut player, instance) in &mut players {
        for (_, active) in player.playing_animations_mut() {
            active.set_seek_time(instance.time(tick.0));
        }
    }
}

/// For each skin, by its inverse bind matrices, the node of each palette entry.
fn node_of_palette_entries(
    world: &World,
    skins: &[Handle<GltfSkin>],
) -> Result<HashMap<AssetId<bevy::mesh::skinning::SkinnedMeshInverseBindposes>, Vec<usize>>, String> {
    let mut all = HashMap::new();
    for skin in skins {
        let skin = world.resource::<Assets<GltfSkin>>().get(skin).ok_or("a skin is gone")?;
        let nodes = world.resource::<Assets<GltfNode>>();
        let index = |joint: &Handle<GltfNode>| nodes.get(joint).map(|node| node.index).ok_or("a node is gone");
        let nodes = skin.joints.iter().map(index).collect::<Result<Vec<usize>, _>>()?;
        all.insert(skin.inverse_bind_matrices.id(), nodes);
    }
    Ok(all)
}
