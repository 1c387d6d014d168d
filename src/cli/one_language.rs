//! Tests that the commands speak one language: the same option has the same name, value and meaning everywhere.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::{Arg, Command};

    /// All commands with their full names, such as `sim sweep status`.
    fn commands() -> Vec<(String, Command)> {
        fn visit(command: &Command, name: String, all: &mut Vec<(String, Command)>) {
            for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
                visit(below, format!("{name} {}", below.get_name()), all);
            }
            all.push((name, command.clone()));
        }
        let mut command = crate::cli::command();
        command.build();
        let mut all = Vec::new();
        visit(&command, "sim".to_string(), &mut all);
        assert!(all.len() > 25, "the commands were not found");
        all
    }

    fn options(command: &Command) -> impl Iterator<Item = &Arg> {
        command.get_arguments().filter(|argument| argument.get_long().is_some())
    }

    fn value_name(option: &Arg) -> String {
        match option.get_action().takes_values() {
            // A switch may have a value, but need not.
            true if option.get_num_args().is_some_and(|number| number.min_values() == 0) => String::new(),
            true => option.get_value_names().unwrap_or_default().iter().map(|name| name.to_string()).collect(),
            false => String::new(),
        }
    }

    /// Options whose value is something else in some commands, with the commands.
    const OTHER_VALUES: &[(&str, &[&str])] = &[
        // One word for a search; a list of specs for waits.
        ("method", &["sim search"]),
        // Without a value all tasks have the defaults of the cluster.
        ("slurm", &["sim sweep"]),
        // Without a value it lists them.
        ("example", &["sim predict"]),
    ];

    #[test]
    fn an_option_has_one_value_name() {
        let mut seen: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for (name, command) in commands() {
            for option in options(&command) {
                let long = option.get_long().unwrap_or_default();
                let is_other =
                    OTHER_VALUES.iter().any(|(other, commands)| *other == long && commands.contains(&name.as_str()));
                if !is_other {
                    // Results are in a file, or a command makes a folder of them.
                    let value = if long == "out" { "FILE|DIR".to_string() } else { value_name(option) };
                    assert!(long != "out" || value.contains(&value_name(option)), "{name} --out");
                    seen.entry(long.to_string()).or_default().entry(value).or_default().push(name.clone());
                }
            }
        }
        for (option, values) in seen {
            assert_eq!(values.len(), 1, "--{option} has different values: {values:?}");
        }
    }

    #[test]
    fn an_option_has_one_default_or_its_command_says_why() {
        // The commands in which an option has another default than elsewhere, because the command asks another question.
        let others: &[(&str, &str)] = &[
            ("scheduler", "sim meta"),
            ("predictor", "sim meta"),
            ("scheduler", "sim wait"),
            ("predictor", "sim wait"),
            ("scheduler", "sim wait ask"),
            ("predictor", "sim wait ask"),
            // All kinds of schedulers, with what a site knows.
            ("scheduler", "sim fidelity"),
            ("predictor", "sim fidelity"),
            // Batch systems refuse a prediction above the estimate.
            ("predictor", "sim predict"),
            ("offered-load", "sim malleable"),
            // As many runs as the paper has.
            ("replications", "sim reproduce tsafrir"),
            ("replications", "sim reproduce kumar-meta"),
            // Six, as our claims have. A recommendation runs many settings.
            ("replications", "sim reproduce gaussier"),
            ("replications", "sim reproduce helios"),
            ("replications", "sim recommend"),
            // A strategy of a search, and methods of predicting waits.
            ("method", "sim search"),
            // A page is for a browser, not for a terminal.
            ("out", "sim report"),
            ("out", "sim sweep report"),
        ];
        let mut seen: BTreeMap<String, BTreeMap<Vec<String>, Vec<String>>> = BTreeMap::new();
        for (name, command) in commands() {
            for option in options(&command).filter(|option| !option.get_default_values().is_empty()) {
                let long = option.get_long().unwrap_or_default();
                if !others.contains(&(long, name.as_str())) {
                    let defaults = option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
                    seen.entry(long.to_string()).or_default().entry(defaults.collect()).or_default().push(name.clone());
                }
            }
        }
        assert!(seen["seed"].contains_key(&vec!["1".to_string()]), "{:?}", seen["seed"]);
        for (option, defaults) in seen {
            assert_eq!(defaults.len(), 1, "--{option} has different defaults: {defaults:?}");
        }
    }

    /// The options of all experiments and outputs, and the commands in which they mean something else.
    #[test]
    fn common_options_have_one_help() {
        const OTHER_MEANINGS: &[(&str, &[&str])] = &[
            // Several logs.
            ("trace", &["sim sweep", "sim trace convert", "sim meta"]),
            // Those of sites that have none of their own, and those of a simulation whose waits are predicted.
            ("scheduler", &["sim meta", "sim wait", "sim wait ask"]),
            // One that can be used while jobs run.
            ("predictor", &["sim meta", "sim wait", "sim wait ask", "sim predict"]),
            // The machine of a model, not of a log.
            ("procs", &["sim generate lublin", "sim generate downey", "sim generate sessions", "sim malleable"]),
            // The links are what this command writes.
            ("feedback", &["sim trace convert"]),
            // The estimates are what these commands make.
            ("estimates", &["sim generate lublin", "sim generate downey"]),
            // All random numbers: these commands have no --estimates-seed.
            ("seed", &["sim generate lublin", "sim generate downey", "sim generate sessions", "sim malleable"]),
        ];
        let help = |option: &Arg| option.get_help().map(ToString::to_string).unwrap_or_default();
        let mut seen: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        let mut others: Vec<(&str, &str)> = OTHER_MEANINGS
            .iter()
            .flat_map(|(option, commands)| commands.iter().map(move |name| (*option, *name)))
            .collect();
        for (name, command) in commands() {
            for option in options(&command) {
                let long = option.get_long().unwrap_or_default();
                if let Some(at) = others.iter().position(|other| *other == (long, name.as_str())) {
                    others.remove(at);
                    continue;
                }
                let of_outputs = ["trace", "threads", "no-header", "quiet"];
                if of_outputs.contains(&long) || crate::experiment::OptionForm::find(long).is_some() {
                    seen.entry(long.to_string()).or_default().entry(help(option)).or_default().push(name.clone());
                }
            }
        }
        assert_eq!(others, [], "these commands do not have these options");
        for (option, helps) in seen {
            assert_eq!(helps.len(), 1, "--{option} is explained differently: {helps:#?}");
        }
    }

    /// The commands that print no rows.
    const NO_ROWS: &[&str] = &[
        // They only have commands of their own.
        "sim trace",
        "sim reproduce",
        "sim generate",
        // They write files, a configuration, or a text for a shell.
        "sim machine",
        "sim completions",
        "sim man",
        "sim example",
        // It answers lines.
        "sim predict",
    ];

    #[test]
    fn every_command_that_prints_rows_has_formats_and_can_omit_the_header() {
        for (name, command) in commands() {
            let has = |long: &str| options(&command).any(|option| option.get_long() == Some(long));
            let prints = !NO_ROWS.contains(&name.as_str());
            assert_eq!((has("format"), has("no-header")), (prints, prints), "{name}");
            if prints {
                let format = options(&command).find(|option| option.get_long() == Some("format")).unwrap();
                let values: Vec<_> =
                    format.get_possible_values().iter().map(|value| value.get_name().to_string()).collect();
                assert_eq!(values, ["table", "csv", "json"], "{name}");
                let help = format.get_help().unwrap().to_string();
                let defaults = [
                    "[default: table on a terminal, csv otherwise]",
                    "[default: table]",
                    "[default: notes on standard error]",
                ];
                assert!(defaults.iter().any(|default| help.ends_with(default)), "{name}: {help}");
            }
        }
    }

    /// Every command that reads a log takes it as an option and as a plain argument.
    #[test]
    fn a_log_is_an_option_or_a_plain_argument() {
        let mut found = 0;
        for (name, command) in commands() {
            let has_trace = options(&command).any(|option| option.get_long() == Some("trace"));
            let is_log = |argument: &&Arg| {
                argument.get_value_names().is_some_and(|names| ["LOG", "FILE"].contains(&names[0].as_str()))
            };
            assert_eq!(has_trace, command.get_positionals().find(is_log).is_some(), "{name}");
            found += usize::from(has_trace);
        }
        assert!(found >= 9, "only {found} commands read logs");
    }

    #[test]
    fn examples_fit_80_columns() {
        let mut examples = 0;
        for (name, command) in commands() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= 80, "{name}: {line}");
                examples += 1;
            }
        }
        assert!(examples > 100, "only {examples} examples were found");
    }
}
