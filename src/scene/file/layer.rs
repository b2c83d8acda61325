//! Conversion of keys to layers and masks.

use super::super::description::ClipChoice;
use super::super::error::SceneError;
use super::super::layer::{LONGEST_SECONDS, LayerPlan, MaskPlan, Play, PlaybackMode, Times};
use super::keys::{Keys, part, positive};
use crate::crowd::{Fade, LayerKind, MAX_LAYERS};

/// Keys of a layer.
const LAYER_KEYS: &str = "clip kind weight mask in_step speed phase_spread offset playback frames_per_second every lasts \
    start stagger fade_in fade_out fade";

pub(super) fn or_more(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// How a group's or a layer's clip is played.
pub(super) fn play(keys: &Keys) -> Result<Play, SceneError> {
    Ok(Play {
        mode: keys.or_default("playback")?,
        phase_spread: keys.number("phase_spread", 1.0, part, "0 to 1")?,
        offset: keys.number("offset", 0.0, f64::is_finite, "seconds")?,
        frames_per_second: keys.number(
            "frames_per_second",
            0.0,
            |v| (1.0..=50.0).contains(&v),
            "1 to 50",
        )?,
    })
}

/// A group's layers, checked against each other; `weight` and `play` are those of its own clip.
pub(super) fn layers(group: &Keys, weight: f64, play: &Play) -> Result<Vec<LayerPlan>, SceneError> {
    let tables = group.tables("layer")?;
    let plans = tables
        .iter()
        .map(layer)
        .collect::<Result<Vec<LayerPlan>, SceneError>>()?;
    let refused =
        |index: usize, problem: String| Err(group.source.error(tables[index].at, problem));
    if plans.len() >= MAX_LAYERS {
        let problem = format!(
            "{} layers; expected at most {} over the group's own clip",
            plans.len(),
            MAX_LAYERS - 1
        );
        return refused(MAX_LAYERS - 1, problem);
    }
    let merged = plans
        .iter()
        .take_while(|l| l.kind == LayerKind::Merge)
        .count();
    if let Some(late) = plans[merged..]
        .iter()
        .position(|l| l.kind == LayerKind::Merge)
    {
        return refused(
            merged + late,
            "a merge layer after another kind; expected merge layers first".into(),
        );
    }
    if weight + plans[..merged].iter().map(|l| l.weight).sum::<f64>() <= 0.0 {
        return Err(group.error(
            "weight",
            "weights of merge layers that sum to 0; expected one above 0",
        ));
    }
    if let Some((second, _)) = plans
        .iter()
        .enumerate()
        .filter(|(_, l)| l.fade == Fade::Inertial)
        .nth(1)
    {
        return refused(
            second,
            "a second inertial layer; expected at most one per group".into(),
        );
    }
    let looping = matches!(play.mode, PlaybackMode::Loop | PlaybackMode::Wrap);
    if let Some(index) = plans
        .iter()
        .position(|l| l.speed.is_none())
        .filter(|_| !looping)
    {
        return refused(
            index,
            "in step with a clip that does not loop; expected playback loop or wrap".into(),
        );
    }
    Ok(plans)
}

fn layer(keys: &Keys) -> Result<LayerPlan, SceneError> {
    keys.check(LAYER_KEYS)?;
    let ClipChoice::Named(clip) = keys.required("clip")? else {
        return Err(keys.error("clip", "clip = \"*\"; expected one clip, by name or index"));
    };
    let kind = keys.get("kind")?.unwrap_or(LayerKind::Override);
    let weight = match kind {
        LayerKind::Merge => keys.number("weight", 1.0, or_more, "a finite number, 0 or more")?,
        _ => keys.number("weight", 1.0, part, "0 to 1, as the layer does not merge")?,
    };
    let fade = keys.get("fade")?.unwrap_or(Fade::Cross);
    if (fade, kind) == (Fade::Inertial, LayerKind::Merge) {
        return Err(keys.error(
            "fade",
            "an inertial merge layer; expected kind override or additive",
        ));
    }
    let play = play(keys)?;
    let speed = keys.number("speed", 1.0, f64::is_finite, "a finite number")?;
    let in_step: bool = keys.or_default("in_step")?;
    if in_step {
        if let Some(key) = ["speed", "phase_spread", "offset"]
            .into_iter()
            .find(|key| keys.has(key))
        {
            return Err(keys.error(
                key,
                format!("{key} of a layer in step; expected none, it is the group's"),
            ));
        }
        if matches!(play.mode, PlaybackMode::PingPong | PlaybackMode::Once) {
            return Err(keys.error(
                "playback",
                "in step without a loop; expected playback loop or wrap",
            ));
        }
    }
    Ok(LayerPlan {
        clip,
        kind,
        weight,
        mask: keys.table("mask")?.as_ref().map(mask).transpose()?,
        speed: (!in_step).then_some(speed),
        play,
        fade,
        times: times(keys)?,
        clip_place: keys.place("clip"),
    })
}

fn times(keys: &Keys) -> Result<Option<Times>, SceneError> {
    let seconds = |v: f64| (0.0..=LONGEST_SECONDS).contains(&v);
    let positive_seconds = |v: f64| positive(v) && v <= LONGEST_SECONDS;
    let accepted = format!("seconds, 0 to {LONGEST_SECONDS}");
    let times = Times {
        every: keys.optional("every", positive_seconds, "seconds, more than 0")?,
        lasts: keys.optional("lasts", positive_seconds, "seconds, more than 0")?,
        start: keys.number("start", 0.0, seconds, &accepted)?,
        stagger: keys.number("stagger", 1.0, part, "0 to 1")?,
        fade_in: keys.number("fade_in", 0.0, seconds, &accepted)?,
        fade_out: keys.number("fade_out", 0.0, seconds, &accepted)?,
    };
    match (times.every, times.lasts) {
        (Some(_), None) => {
            return Err(keys.error(
                "every",
                "every without lasts; expected the seconds that the layer stays",
            ));
        }
        (Some(every), Some(lasts)) if lasts > every => {
            let problem = format!("lasts = {lasts} in every = {every}; expected at most as much");
            return Err(keys.error("lasts", problem));
        }
        _ => {}
    }
    let room = times.lasts.unwrap_or(LONGEST_SECONDS);
    if times.fade_in + times.fade_out > room {
        let problem = format!(
            "fades of {} and {} s in {room} s; expected both to fit",
            times.fade_in, times.fade_out
        );
        return Err(keys.error(
            if keys.has("fade_in") {
                "fade_in"
            } else {
                "fade_out"
            },
            problem,
        ));
    }
    if keys.has("fade_out") && times.lasts.is_none() {
        return Err(keys.error(
            "fade_out",
            "fade_out without lasts; expected the seconds that the layer stays",
        ));
    }
    if keys.has("stagger") && times.every.is_none() {
        return Err(keys.error(
            "stagger",
            "stagger without every; expected a layer that starts again",
        ));
    }
    let given = ["every", "lasts", "start", "stagger", "fade_in", "fade_out"]
        .iter()
        .any(|key| keys.has(key));
    Ok(given.then_some(times))
}

fn mask(keys: &Keys) -> Result<MaskPlan, SceneError> {
    keys.check("joints subtree weights")?;
    Ok(MaskPlan {
        joints: keys.or_default("joints")?,
        subtree: keys.or_default("subtree")?,
        weights: keys.weights("", part, "0 to 1")?,
        place: keys.source.place(keys.at),
    })
}
