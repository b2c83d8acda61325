//! Settings as arguments that accept other values than one each: lists to be combined, or only some settings.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use skinbench::scene::Settings;

/// Settings that change neither models nor poses, and nothing that a picture shows.
#[cfg(feature = "gpu")]
const OF_RUNS: [&str; 6] = ["instances", "passes", "output", "motion", "bounds", "sockets"];

/// Settings of models, their poses and their vertices.
#[cfg(feature = "gpu")]
#[derive(Debug, Clone, Default)]
pub struct ModelArguments(pub Settings);

/// For each setting that was chosen its values, each in settings of its own, to be combined.
#[derive(Debug, Clone, Default)]
pub struct AxisArguments(pub Vec<Vec<Settings>>);

/// The arguments of all settings.
fn arguments() -> impl Iterator<Item = Arg> {
    let command = Settings::augment_args(Command::new("settings"));
    command.get_arguments().cloned().collect::<Vec<_>>().into_iter()
}

fn is_switch(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::SetTrue)
}

/// The settings of an argument with each of its values.
fn chosen(argument: &Arg, matches: &ArgMatches) -> Result<Vec<Settings>, Error> {
    let name = argument.get_id().as_str();
    let long = format!("--{}", argument.get_long().unwrap_or(name));
    let parsed = |value: Option<&str>| {
        let words = ["settings", &long].into_iter().chain(value);
        let own = Settings::augment_args(Command::new("settings")).try_get_matches_from(words)?;
        Settings::from_arg_matches(&own)
    };
    if is_switch(argument) {
        return if matches.get_flag(name) { Ok(vec![parsed(None)?]) } else { Ok(Vec::new()) };
    }
    let values = matches.get_many::<String>(name).into_iter().flatten();
    values.map(|value| parsed(Some(value))).collect()
}

#[cfg(feature = "gpu")]
impl Args for ModelArguments {
    fn augment_args(command: Command) -> Command {
        let own = arguments().filter(|argument| !OF_RUNS.contains(&argument.get_id().as_str()));
        let as_text = |argument: Arg| {
            if is_switch(&argument) { argument } else { argument.value_parser(clap::value_parser!(String)) }
        };
        command.args(own.map(as_text))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(feature = "gpu")]
impl FromArgMatches for ModelArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut settings = Settings::default();
        for argument in arguments().filter(|argument| !OF_RUNS.contains(&argument.get_id().as_str())) {
            settings = chosen(&argument, matches)?.into_iter().fold(settings, Settings::with);
        }
        Ok(Self(settings))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for AxisArguments {
    fn augment_args(command: Command) -> Command {
        command.args(arguments().map(|argument| {
            let name = argument.get_value_names().into_iter().flatten().next().cloned().unwrap_or_default();
            let argument = match () {
                _ if is_switch(&argument) => return argument,
                // Values with commas of their own are given one by one.
                _ if name.contains(',') => argument.value_delimiter(None),
                _ => argument.value_name(format!("{name},...")).value_delimiter(','),
            };
            argument.action(ArgAction::Append).value_parser(clap::value_parser!(String))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AxisArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut axes = Vec::new();
        // The last ones change most often: passes, then instances, of which small crowds come first.
        for argument in arguments().collect::<Vec<_>>().iter().rev() {
            let mut values: Vec<Settings> = Vec::new();
            for settings in chosen(argument, matches)? {
                values.extend((!values.contains(&settings)).then_some(settings));
            }
            values.sort_by_key(|settings| settings.instances);
            axes.extend((!values.is_empty()).then_some(values));
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
        let words = ["sweep", "--instances", "100,10,10,1000", "--passes", "2,0,2", "--bounds"];
        let matches = AxisArguments::augment_args(Command::new("sweep")).try_get_matches_from(words).unwrap();
        let AxisArguments(axes) = AxisArguments::from_arg_matches(&matches).unwrap();
        let instances = [10, 100, 1_000].map(|count| Settings { instances: Some(count), ..Settings::default() });
        let passes = [2, 0].map(|passes| Settings { passes: Some(passes), ..Settings::default() });
        let bounds = Settings { bounds: true, ..Settings::default() };
        assert_eq!(axes, [vec![bounds], passes.to_vec(), instances.to_vec()]);
    }
}
