//! Settings as arguments that accept other values than one each: lists to be combined, or only some settings.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use skinbench::scene::{Effect, Settings};

/// For each setting that was chosen its values, each in settings of its own. Axes are all settings, with any number of
/// values; otherwise they are those of models, their poses and their vertices, with one value each.
#[derive(Debug, Clone, Default)]
pub struct SettingsArguments<const AXES: bool>(pub Vec<Vec<Settings>>);

/// Settings with values to be combined.
pub type AxisArguments = SettingsArguments<true>;

/// Settings of models, their poses and their vertices.
#[cfg(feature = "gpu")]
pub type ModelArguments = SettingsArguments<false>;

#[cfg(feature = "gpu")]
impl ModelArguments {
    /// The settings that were chosen.
    pub fn settings(&self) -> Settings {
        self.0
            .iter()
            .flatten()
            .cloned()
            .fold(Settings::default(), Settings::with)
    }
}

/// The arguments of all settings, or of those of models.
fn arguments(all: bool) -> Vec<Arg> {
    let command = Settings::augment_args(Command::new("settings"));
    let rows = command.get_arguments().zip(Settings::ALL);
    rows.filter(|(_, setting)| all || setting.effect != Effect::Run)
        .map(|(argument, _)| argument.clone())
        .collect()
}

fn is_switch(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::SetTrue)
}

/// The settings of an argument with each of its values.
fn chosen(argument: &Arg, matches: &ArgMatches) -> Result<Vec<Settings>, Error> {
    let name = argument.get_id().as_str();
    let long = format!("--{}", argument.get_long().unwrap_or(name));
    let mut words = Vec::new();
    if is_switch(argument) {
        words.extend(matches.get_flag(name).then_some(long));
    } else if let Some(values) = matches.get_many::<String>(name) {
        words.extend(values.map(|value| format!("{long}={value}")));
    }
    let mut chosen = Vec::with_capacity(words.len());
    for word in words {
        chosen.push(Settings::parse(&[word])?);
    }
    Ok(chosen)
}

impl<const AXES: bool> Args for SettingsArguments<AXES> {
    fn augment_args(command: Command) -> Command {
        command.args(arguments(AXES).into_iter().map(|argument| {
            if is_switch(&argument) {
                return argument;
            }
            let name = argument.get_value_names().and_then(|names| names.first());
            let name = name.cloned().unwrap_or_default();
            let argument = if !AXES {
                argument
            } else if name.contains(',') {
                // Values with commas of their own are given one by one.
                argument.value_delimiter(None).action(ArgAction::Append)
            } else {
                argument
                    .value_name(format!("{name},..."))
                    .value_delimiter(',')
                    .action(ArgAction::Append)
            };
            argument.value_parser(clap::value_parser!(String))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const AXES: bool> FromArgMatches for SettingsArguments<AXES> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut axes = Vec::new();
        // The last ones change most often: passes, then instances, of which small crowds come first.
        for argument in arguments(AXES).iter().rev() {
            let mut values: Vec<Settings> = Vec::new();
            for settings in chosen(argument, matches)? {
                if !values.contains(&settings) {
                    values.push(settings);
                }
            }
            values.sort_by_key(|settings| settings.instances);
            if !values.is_empty() {
                axes.push(values);
            }
        }
        Ok(Self(axes))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_axis_are_taken_once_and_instances_rise() {
        let words = [
            "sweep",
            "--instances",
            "100,10,10,1000",
            "--passes",
            "2,0,2",
            "--bounds",
        ];
        let matches = AxisArguments::augment_args(Command::new("sweep"))
            .try_get_matches_from(words)
            .unwrap();
        let axes = AxisArguments::from_arg_matches(&matches).unwrap().0;
        let instances = [10, 100, 1_000].map(|count| Settings {
            instances: Some(count),
            ..Settings::default()
        });
        let passes = [2, 0].map(|passes| Settings {
            passes: Some(passes),
            ..Settings::default()
        });
        let bounds = Settings {
            bounds: true,
            ..Settings::default()
        };
        assert_eq!(axes, [vec![bounds], passes.to_vec(), instances.to_vec()]);
    }
}
