//! The command of a study, for its page.

/// Options that do not change the page, and whether they have a value.
const NOT_REPEATED: [(&str, bool); 6] = [
    ("--html", true),
    ("--threads", true),
    ("--format", true),
    ("--no-header", false),
    ("--quiet", false),
    ("-q", false),
];

/// The command that gives the same page again. Studies have different options, so it is taken from the arguments of the
/// process.
pub fn command() -> String {
    let mut words = vec!["sim".to_string()];
    let mut arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or_default();
        match NOT_REPEATED.iter().find(|(option, _)| *option == name) {
            Some((_, true)) if !argument.contains('=') => drop(arguments.next()),
            Some(_) => {}
            None => words.push(shlex::try_quote(&argument).map_or(argument.clone(), |quoted| quoted.into_owned())),
        }
    }
    words.join(" ")
}
