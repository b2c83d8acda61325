//! The frequency governor of the processors, which explains a measurement.

use std::fs;
use std::path::Path;

/// Linux's folder of processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// The frequency governor of the processors, such as `performance`; several are separated by commas. `None` where the
/// system does not say.
pub fn governor() -> Option<String> {
    governors(Path::new(PROCESSORS))
}

fn governors(processors: &Path) -> Option<String> {
    let mut governors = Vec::new();
    for processor in fs::read_dir(processors).into_iter().flatten().flatten() {
        let file = processor.path().join("cpufreq/scaling_governor");
        if let Ok(text) = fs::read_to_string(file) {
            governors.push(text.trim().to_owned());
        }
    }
    governors.retain(|governor| !governor.is_empty());
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn governors_are_read_from_their_files() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(governors(folder.path()), None);
        for (processor, text) in [
            ("cpu0", "powersave\n"),
            ("cpu1", "performance\n"),
            ("cpu2", "powersave\n"),
            ("cpu3", "\n"),
        ] {
            let frequency = folder.path().join(processor).join("cpufreq");
            fs::create_dir_all(&frequency).unwrap();
            fs::write(frequency.join("scaling_governor"), text).unwrap();
        }
        let all = governors(folder.path());
        assert_eq!(all.as_deref(), Some("performance, powersave"));
    }
}
