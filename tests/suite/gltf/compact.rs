//! Compact clips of real characters keep their error and their size.
use crate::support::shared::shared_folder;
use rand_core::Rng;
use skinbench::model::Clip;
use skinbench::pose::ErrorPoints;
use skinbench::{asset, compaction};

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn compact_clips_keep_the_error_at_an_eighth_of_the_size() {
    let folder = shared_folder();
    for name in ["CesiumMan", "mannequiny"] {
        let model = asset::load(folder.join(format!("models/gltf/{name}.glb"))).unwrap();
        let clips = compaction::clips(&model, compaction::ERROR).unwrap();
        let mut random = rand_pcg::Pcg32::new(29, 0);
        for (raw, made) in model.clips().iter().zip(&clips) {
            assert!(
                made.keys().compact().is_some(),
                "{name} {:?} stayed raw",
                raw.name()
            );
            let times: Vec<f32> = (0..1_000)
                .map(|_| raw.duration() * (random.next_u32() as f64 / 2f64.powi(32)) as f32)
                .collect();
            let found = compaction::error(
                &ErrorPoints::of(&model),
                model.skeleton(),
                raw,
                made,
                &times,
            );
            assert!(
                found.distance <= compaction::ERROR,
                "{name} {:?}: {found:?}",
                raw.name()
            );
        }
        let bytes = |clips: &[Clip]| clips.iter().map(Clip::bytes).sum::<usize>() as f64;
        let part = bytes(&clips) / bytes(model.clips());
        println!("{name}: {part:.3} of the size");
        assert!(part <= 0.125, "{name}: {part}");
    }
}
