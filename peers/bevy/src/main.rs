//! Answers the protocol of docs/peers.md with Bevy: clips are sampled by `AnimationPlugin` and joints placed by
//! `TransformPlugin`; nothing is drawn.

mod crowd;
mod world;

use serde_json::{Value, json};
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use world::{Characters, Times};

fn main() -> std::io::Result<()> {
    let mut loaded = None;
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        if request["request"] == "quit" {
            break;
        }
        let answer = answer(&request, &mut loaded).unwrap_or_else(|failed| json!({ "failed": failed }));
        let mut stdout = stdout().lock();
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

fn answer(request: &Value, loaded: &mut Option<Characters>) -> Result<Value, String> {
    let number = |name: &str| request[name].as_u64().ok_or(format!("no number {name}"));
    match (request["request"].as_str().unwrap_or_default(), loaded) {
        ("hello", _) => {
            let able =
                json!({"protocol": 1, "outputs": ["model"], "attributes": [], "normals": [], "rotations": "slerp"});
            Ok(able)
        }
        ("load", loaded) => {
            let instances = crowd::read(path(&request["instances"])?)?;
            let threads = number("threads")? as usize;
            *loaded = Some(Characters::load(path(&request["glb"])?, &instances, threads)?);
            let vectors = if cfg!(target_feature = "avx2") { "AVX2" } else { "baseline" };
            Ok(json!({ "device": format!("{vectors} instructions") }))
        }
        ("write", Some(characters)) => {
            if request.get("tick").is_some() {
                characters.frame(number("tick")? as u32);
            }
            let bytes: Vec<u8> = characters.matrices()?.into_iter().flat_map(f32::to_le_bytes).collect();
            std::fs::write(path(&request["outputs"]["model"])?, bytes).map_err(|error| error.to_string())?;
            Ok(json!({}))
        }
        ("measure", Some(characters)) => {
            let (first, count) = (number("tick")? as u32, number("frames")? as u32);
            let times: Vec<Times> = (0..count).map(|n| characters.frame(first.wrapping_add(n))).collect();
            let list = |stage: fn(&Times) -> u64| times.iter().map(stage).collect::<Vec<u64>>();
            Ok(json!({"stages": {
                "sample": list(|times| times.sample),
                "local_to_model": list(|times| times.local_to_model),
                "engine_frame": list(|times| times.engine_frame),
            }}))
        }
        (other, _) => Err(format!("cannot {other:?} now")),
    }
}

fn path(value: &Value) -> Result<&Path, String> {
    value.as_str().map(Path::new).ok_or(format!("{value} is no path"))
}
