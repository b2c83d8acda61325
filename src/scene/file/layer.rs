//! Conversion of keys to layers and masks.

use super::super::description::ClipChoice;
use super::super::layer::{LONGEST_SECONDS, LayerPlan, LayerTimes, MaskPlan, Play, PlaybackMode};
use super::keys::{TableKeys, fraction};
use crate::crowd::{FASTEST, Fade, LayerKind, MAX_LAYERS};
use crate::error::DataError;

/// Keys of a layer.
const LAYER_KEYS: &str = "clip kind weight mask in_step speed phase_spread offset playback frames_per_second every lasts \
    start stagger fade_in fade_out fade";

pub fn or_more(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// How a group's or a layer's clip is played.
pub fn play(keys: &TableKeys) -> Result<Play, DataError> {
    Ok(Play {
        mode: keys.or_default("playback")?,
        phase_spread: keys.number("phase_spread", 1.0, fraction, "0 to 1")?,
        offset: keys.number(
            "offset",
            0.0,
            |seconds: f64| seconds.abs() <= LONGEST_SECONDS,
            "seconds, -100000 to 100000",
        )?,
        frames_per_second: keys.number(
            "frames_per_second",
            0.0,
            |rate| (1.0..=50.0).contains(&rate),
            "1 to 50",
        )?,
    })
}

/// Playback speed of a group's or a layer's clip.
pub fn speed(keys: &TableKeys) -> Result<f64, DataError> {
    keys.number(
        "speed",
        1.0,
        |speed: f64| speed.abs() <= FASTEST,
        "-1000 to 1000",
    )
}

/// A group's layers, checked against each other; `weight` and `play` are those of its own clip.
pub fn layers(group: &TableKeys, weight: f64, play: &Play) -> Result<Vec<LayerPlan>, DataError> {
    let tables = group.tables("layer")?;
    let plans: Vec<LayerPlan> = tables.iter().map(layer).collect::<Result<_, _>>()?;
    let most = MAX_LAYERS - 1;
    if plans.len() > most {
        let count = plans.len();
        let expected = format!("at most {most} over the group's own clip");
        return Err(tables[most].fault(format!("{count} layers; expected {expected}")));
    }
    let merging = plans
        .iter()
        .take_while(|l| l.kind == LayerKind::Merge)
        .count();
    let mut others = merging..plans.len();
    if let Some(late) = others.find(|&index| plans[index].kind == LayerKind::Merge) {
        let problem = "a merge layer after another kind; expected merge layers first";
        return Err(tables[late].fault(problem));
    }
    if weight + plans[..merging].iter().map(|l| l.weight).sum::<f64>() <= 0.0 {
        let problem = "weights of merge layers that sum to 0; expected one above 0";
        return Err(group.error("weight", problem));
    }
    let mut inertial = (0..plans.len()).filter(|&index| plans[index].fade == Fade::Inertial);
    if let Some(second) = inertial.nth(1) {
        let problem = "a second inertial layer; expected at most one per group";
        return Err(tables[second].fault(problem));
    }
    if !matches!(play.mode, PlaybackMode::Loop | PlaybackMode::Wrap)
        && let Some(index) = plans.iter().position(|l| l.speed.is_none())
    {
        let problem = "in step with a clip that does not loop; expected playback loop or wrap";
        return Err(tables[index].fault(problem));
    }
    Ok(plans)
}

fn layer(keys: &TableKeys) -> Result<LayerPlan, DataError> {
    keys.check(LAYER_KEYS)?;
    let ClipChoice::Named(clip) = keys.required("clip")? else {
        return Err(keys.error("clip", "clip = \"*\"; expected one clip, by name or number"));
    };
    let kind = keys.get("kind")?.unwrap_or(LayerKind::Override);
    let weight = match kind {
        LayerKind::Merge => keys.number("weight", 1.0, or_more, "a finite number, 0 or more")?,
        _ => keys.number(
            "weight",
            1.0,
            fraction,
            "0 to 1, as the layer does not merge",
        )?,
    };
    let fade = keys.get("fade")?.unwrap_or(Fade::Cross);
    if (fade, kind) == (Fade::Inertial, LayerKind::Merge) {
        return Err(keys.error(
            "fade",
            "an inertial merge layer; expected kind override or additive",
        ));
    }
    let play = play(keys)?;
    let speed = speed(keys)?;
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
        clip_place: Some(keys.place("clip")),
    })
}

fn is_time(seconds: f64) -> bool {
    (0.0..=LONGEST_SECONDS).contains(&seconds)
}

fn is_period(seconds: f64) -> bool {
    seconds > 0.0 && is_time(seconds)
}

fn times(keys: &TableKeys) -> Result<Option<LayerTimes>, DataError> {
    let accepted = format!("seconds, 0 to {LONGEST_SECONDS}");
    let times = LayerTimes {
        every: keys.optional("every", is_period, "seconds, more than 0")?,
        lasts: keys.optional("lasts", is_period, "seconds, more than 0")?,
        start: keys.number("start", 0.0, is_time, &accepted)?,
        stagger: keys.number("stagger", 1.0, fraction, "0 to 1")?,
        fade_in: keys.number("fade_in", 0.0, is_time, &accepted)?,
        fade_out: keys.number("fade_out", 0.0, is_time, &accepted)?,
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
        let fade = ["fade_in", "fade_out"]
            .into_iter()
            .find(|key| keys.has(key));
        return Err(keys.error(fade.unwrap_or_default(), problem));
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

fn mask(keys: &TableKeys) -> Result<MaskPlan, DataError> {
    keys.check("joints subtree weights")?;
    Ok(MaskPlan {
        joints: keys.or_default("joints")?,
        subtree: keys.or_default("subtree")?,
        weights: keys.weights("", fraction, "0 to 1")?,
        place: Some(keys.source.place(keys.at)),
    })
}
