//! Conversion of keys to layers and masks.

use super::super::description::ClipChoice;
use super::super::error::SceneError;
use super::super::layer::{LONGEST_SECONDS, LayerPlan, MaskPlan, Play, PlaybackMode, Times};
use super::checked_text::{SceneText, positive};
use super::toml_keys::{GroupKeys, LayerKeys, MaskKeys};
use crate::crowd::{Fade, LayerKind, MAX_LAYERS};
use toml::Spanned;

pub(super) fn or_more(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

pub(super) fn playback(mode: Option<&Spanned<PlaybackMode>>) -> PlaybackMode {
    mode.map_or(PlaybackMode::default(), |mode| *mode.get_ref())
}

pub(super) fn frames_per_second(source: &SceneText, rate: &Option<Spanned<f64>>) -> Result<f64, SceneError> {
    source.number("frames_per_second", rate, 0.0, |v| (1.0..=50.0).contains(&v), "1 to 50")
}

/// A group's layers, checked against each other.
pub(super) fn layers(source: &SceneText, group: &GroupKeys) -> Result<Vec<LayerPlan>, SceneError> {
    let plans =
        group.layer.iter().map(|keys| layer(source, keys.get_ref())).collect::<Result<Vec<LayerPlan>, SceneError>>()?;
    let refused = |index: usize, problem: String| Err(source.error(&group.layer[index], problem));
    if plans.len() >= MAX_LAYERS {
        let problem = format!("{} layers; expected at most {} over the group's own clip", plans.len(), MAX_LAYERS - 1);
        return refused(MAX_LAYERS - 1, problem);
    }
    let merged = plans.iter().take_while(|l| l.kind == LayerKind::Merge).count();
    if let Some(late) = plans[merged..].iter().position(|l| l.kind == LayerKind::Merge) {
        return refused(merged + late, "a merge layer after another kind; expected merge layers first".into());
    }
    let own = group.weight.as_ref().map_or(1.0, |w| *w.get_ref());
    if own + plans[..merged].iter().map(|l| l.weight).sum::<f64>() <= 0.0 {
        let at = group.weight.as_ref().map_or(0, |w| w.span().start);
        let problem = "weights of merge layers that sum to 0; expected one above 0".into();
        return Err(SceneError::at(source.file, source.place(at), problem));
    }
    if let Some((second, _)) = plans.iter().enumerate().filter(|(_, l)| l.fade == Fade::Inertial).nth(1) {
        return refused(second, "a second inertial layer; expected at most one per group".into());
    }
    let looping = |mode| matches!(mode, PlaybackMode::Loop | PlaybackMode::Wrap);
    if let Some(index) = plans.iter().position(|l| l.speed.is_none())
        && !looping(playback(group.playback.as_ref()))
    {
        return refused(index, "in step with a clip that does not loop; expected playback loop or wrap".into());
    }
    Ok(plans)
}

fn layer(source: &SceneText, keys: &LayerKeys) -> Result<LayerPlan, SceneError> {
    let part = |v: f64| (0.0..=1.0).contains(&v);
    let clip = match keys.clip.get_ref() {
        ClipChoice::Named(name) => name.clone(),
        _ => return Err(source.error(&keys.clip, "clip = \"*\"; expected one clip, by name or index".into())),
    };
    let kind = keys.kind.unwrap_or(LayerKind::Override);
    let weight = match kind {
        LayerKind::Merge => source.number("weight", &keys.weight, 1.0, or_more, "a finite number, 0 or more")?,
        _ => source.number("weight", &keys.weight, 1.0, part, "0 to 1, as the layer does not merge")?,
    };
    let fade = keys.fade.as_ref().map_or(Fade::Cross, |fade| *fade.get_ref());
    if let (Some(name), Fade::Inertial, LayerKind::Merge) = (&keys.fade, fade, kind) {
        return Err(source.error(name, "an inertial merge layer; expected kind override or additive".into()));
    }
    let mode = playback(keys.playback.as_ref());
    let speed = source.optional("speed", &keys.speed, f64::is_finite, "a finite number")?;
    if keys.in_step {
        for (key, value) in [("speed", &keys.speed), ("phase_spread", &keys.phase_spread), ("offset", &keys.offset)] {
            if let Some(value) = value {
                let problem = format!("{key} of a layer in step; expected none, it is the group's");
                return Err(source.error(value, problem));
            }
        }
        if let (Some(name), PlaybackMode::PingPong | PlaybackMode::Once) = (&keys.playback, mode) {
            return Err(source.error(name, "in step without a loop; expected playback loop or wrap".into()));
        }
    }
    Ok(LayerPlan {
        clip,
        kind,
        weight,
        mask: keys.mask.as_ref().map(|mask| self::mask(source, mask)).transpose()?,
        speed: if keys.in_step { None } else { speed.or(Some(1.0)) },
        play: Play {
            mode,
            phase_spread: source.number("phase_spread", &keys.phase_spread, 1.0, part, "0 to 1")?,
            offset: source.number("offset", &keys.offset, 0.0, f64::is_finite, "seconds")?,
            frames_per_second: frames_per_second(source, &keys.frames_per_second)?,
        },
        fade,
        times: times(source, keys)?,
        clip_place: source.place(keys.clip.span().start),
    })
}

fn times(source: &SceneText, keys: &LayerKeys) -> Result<Option<Times>, SceneError> {
    let seconds = |v: f64| (0.0..=LONGEST_SECONDS).contains(&v);
    let positive_seconds = |v: f64| positive(v) && v <= LONGEST_SECONDS;
    let accepted = format!("seconds, 0 to {LONGEST_SECONDS}");
    let times = Times {
        every: source.optional("every", &keys.every, positive_seconds, "seconds, more than 0")?,
        lasts: source.optional("lasts", &keys.lasts, positive_seconds, "seconds, more than 0")?,
        start: source.number("start", &keys.start, 0.0, seconds, &accepted)?,
        stagger: source.number("stagger", &keys.stagger, 1.0, |v| (0.0..=1.0).contains(&v), "0 to 1")?,
        fade_in: source.number("fade_in", &keys.fade_in, 0.0, seconds, &accepted)?,
        fade_out: source.number("fade_out", &keys.fade_out, 0.0, seconds, &accepted)?,
    };
    let given = [&keys.every, &keys.lasts, &keys.start, &keys.stagger, &keys.fade_in, &keys.fade_out];
    let Some(first) = given.into_iter().flatten().next() else {
        return Ok(None);
    };
    match (times.every, times.lasts) {
        (Some(_), None) => {
            return Err(source.error(first, "every without lasts; expected the seconds that the layer stays".into()));
        }
        (Some(every), Some(lasts)) if lasts > every => {
            let problem = format!("lasts = {lasts} in every = {every}; expected at most as much");
            return Err(source.error(keys.lasts.as_ref().unwrap_or(first), problem));
        }
        _ => {}
    }
    let room = times.lasts.unwrap_or(LONGEST_SECONDS);
    if times.fade_in + times.fade_out > room {
        let problem = format!("fades of {} and {} s in {room} s; expected both to fit", times.fade_in, times.fade_out);
        return Err(source.error(keys.fade_in.as_ref().or(keys.fade_out.as_ref()).unwrap_or(first), problem));
    }
    if let (Some(fade_out), None) = (&keys.fade_out, times.lasts) {
        return Err(source.error(fade_out, "fade_out without lasts; expected the seconds that the layer stays".into()));
    }
    if let (Some(stagger), None) = (&keys.stagger, times.every) {
        return Err(source.error(stagger, "stagger without every; expected a layer that starts again".into()));
    }
    Ok(Some(times))
}

fn mask(source: &SceneText, keys: &Spanned<MaskKeys>) -> Result<MaskPlan, SceneError> {
    let MaskKeys { joints, subtree, weights } = keys.get_ref();
    let weights = weights.iter().map(|(name, weight)| {
        let accepted = |v: f64| (0.0..=1.0).contains(&v);
        Ok((name.clone(), source.checked(name, weight, accepted, "0 to 1")?))
    });
    Ok(MaskPlan {
        joints: joints.clone(),
        subtree: subtree.clone(),
        weights: weights.collect::<Result<_, SceneError>>()?,
        place: source.place(keys.span().start),
    })
}
