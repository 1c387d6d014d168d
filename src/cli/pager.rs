//! Long texts on a terminal, one screen at a time.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use super::interrupt;
use super::stderr::warning;
use crate::report::{Output, OutputError};

/// The pager without `PAGER`: short texts are printed as usual (`F`), styles are kept (`R`), and the text stays on the screen
/// (`X`).
const LESS: (&str, &str) = ("less", "FRX");

/// Writes a text to standard output. On a terminal it goes through the pager, if there is one.
///
/// # Errors
/// If it cannot be written. A pager that ends early is not an error.
pub fn show(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
    match io::stdout().is_terminal().then(start).flatten() {
        None => Output::stdout().fill(write),
        Some(pager) => {
            let mut text = Vec::new();
            let failed = |error| OutputError { name: "the pager".to_string(), error };
            write(&mut text).map_err(failed)?;
            feed(pager, &text).map_err(failed)
        }
    }
}

/// Starts the pager of `PAGER`, or `less`. None if there is no pager: the variable is empty or `cat`, or nothing can be started.
fn start() -> Option<Child> {
    let wanted = std::env::var("PAGER").ok();
    let words = words(wanted.as_deref())?;
    let mut pager = Command::new(&words[0]);
    pager.args(&words[1..]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", LESS.1);
    }
    match pager.spawn() {
        Ok(child) => Some(child),
        // Without `PAGER` nobody has asked for a pager.
        Err(_) if wanted.is_none() => None,
        Err(error) => {
            warning(format_args!("cannot start the pager '{}': {error}", words[0]));
            None
        }
    }
}

/// The command of a pager for a value of `PAGER`. None if no pager is wanted.
fn words(wanted: Option<&str>) -> Option<Vec<String>> {
    match wanted {
        None => Some(vec![LESS.0.to_string(), format!("-{}", LESS.1)]),
        Some(text) => {
            let words = shlex::split(text).filter(|words| !words.is_empty())?;
            (words != ["cat"]).then_some(words)
        }
    }
}

/// Gives the text to the pager and waits for its end. Ctrl-C belongs to the pager meanwhile: `less` ends a search with it.
fn feed(mut pager: Child, text: &[u8]) -> io::Result<()> {
    interrupt::ignore(true);
    let written = pager.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text));
    let ended = pager.wait();
    interrupt::ignore(false);
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => ended.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_the_pager() {
        assert_eq!(words(None).unwrap(), ["less", "-FRX"]);
        assert_eq!(words(Some("more -s")).unwrap(), ["more", "-s"]);
        assert_eq!(words(Some("'my pager' -x")).unwrap(), ["my pager", "-x"]);
        assert_eq!([words(Some("")), words(Some(" ")), words(Some("cat")), words(Some("'"))], [None, None, None, None]);
    }

    #[test]
    fn a_pager_that_ends_early_is_no_error() {
        let spawn = |program: &str| Command::new(program).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let Ok(pager) = spawn("true") else { return };
        // More than a pipe holds.
        feed(pager, &vec![b'a'; 1_000_000]).unwrap();
    }
}
