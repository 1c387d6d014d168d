//! The options in a command line of `sbatch`, `srun` or `salloc`, as the column SubmitLine of sacct has it.
//!
//! They end at the script or the command: what follows are its own arguments.

/// The options that are read, as written. Empty: the option is not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmitLine<'r> {
    /// `--exclusive`; empty too if the nodes may be shared with some other jobs (`--exclusive=user`).
    pub exclusive: &'r [u8],
    /// The number of `--nice`; without one it is 100.
    pub nice: &'r [u8],
    /// The tasks of `--array`, with the most at once: `1-10%2`.
    pub array: &'r [u8],
    /// The memory of each node, by `--mem`.
    pub memory: &'r [u8],
    /// `--no-requeue`.
    pub no_requeue: &'r [u8],
}

/// The options without a value in the next word, in any of the three commands. All others have one there, unless it is written
/// with them: `--nodes=2`, `-N2`.
const WITHOUT_VALUE: &str = "autocomplete bcast bell compress consolidate-segments contiguous disable-status exact exclusive \
    external get-user-env help hold ignore-pbs immediate interactive kill-command kill-on-bad-exit label multi-prog nice \
    no-allocate no-bell no-kill no-requeue no-shell overcommit overlap oversubscribe parsable preserve-env propagate pty quiet \
    quit-on-interrupt reboot requeue resv-ports send-libs share spread-job stepmgr test-only unbuffered usage use-min-nodes \
    verbose version wait-for-children whole x11";

/// The letters without a value in the next word.
const LETTERS_WITHOUT_VALUE: &[u8] = b"EHIKOQVXZhklsuv";

impl<'r> SubmitLine<'r> {
    /// The options of a command line.
    pub fn of(line: &'r [u8]) -> SubmitLine<'r> {
        let mut found = SubmitLine::default();
        // Slurm writes the words without the quotes of the shell, so that a quote may be part of a word.
        let plain = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let mut words = split_quoted(line).unwrap_or_else(|_| plain()).into_iter();
        let command = words.next().unwrap_or_default();
        let is_srun = command.rsplit(|&byte| byte == b'/').next() == Some(b"srun");
        while let Some(word) = words.next() {
            match word {
                [b'-', b'-', name @ ..] if !name.is_empty() => {
                    let equals = name.iter().position(|&byte| byte == b'=');
                    let (name, mut value) = match equals {
                        Some(at) => (&name[..at], Some(&name[at + 1..])),
                        None => (name, None),
                    };
                    let is_alone = match name {
                        b"wait" => !is_srun,
                        _ => WITHOUT_VALUE.split_ascii_whitespace().any(|other| other.as_bytes() == name),
                    };
                    if value.is_none() && !is_alone {
                        value = words.next();
                    }
                    // Without quotes it is not known where the command ends.
                    if name == b"wrap"
                        && !value.is_some_and(|value| value.starts_with(b"\"") || value.starts_with(b"'"))
                    {
                        break;
                    }
                    found.set(name, value.map(unquoted));
                }
                // Letters can be written together; the first one that has a value ends them.
                [b'-', letters @ ..] if !letters.is_empty() && word != b"--" => {
                    let is_alone = |letter: u8| match letter {
                        b'W' => !is_srun,
                        _ => LETTERS_WITHOUT_VALUE.contains(&letter),
                    };
                    if let Some(at) = letters.iter().position(|&letter| !is_alone(letter)) {
                        let attached = &letters[at + 1..];
                        let value = if attached.is_empty() { words.next() } else { Some(attached) };
                        if letters[at] == b'a' {
                            found.set(b"array", value.map(unquoted));
                        }
                    }
                }
                _ => break,
            }
        }
        found
    }

    /// The last of several counts, as for Slurm.
    fn set(&mut self, name: &[u8], value: Option<&'r [u8]>) {
        match name {
            b"exclusive" => self.exclusive = if value.is_none() { b"exclusive" } else { b"" },
            b"nice" => self.nice = value.unwrap_or(b"100"),
            b"array" => self.array = value.unwrap_or(b""),
            b"mem" => self.memory = value.unwrap_or(b""),
            b"no-requeue" => self.no_requeue = b"yes",
            b"requeue" => self.no_requeue = b"",
            _ => {}
        }
    }
}

/// Splits a text at blanks outside of quotes.
///
/// # Errors
/// The last word, if a quote in it is not closed.
pub fn split_quoted(text: &[u8]) -> Result<Vec<&[u8]>, &[u8]> {
    let (mut words, mut from, mut quote) = (Vec::with_capacity(32), None, None);
    for (at, &byte) in text.iter().enumerate() {
        match quote {
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None if byte.is_ascii_whitespace() => words.extend(from.take().map(|from| &text[from..at])),
            None => {
                from.get_or_insert(at);
                quote = matches!(byte, b'"' | b'\'').then_some(byte);
            }
        }
    }
    let last = from.map(|from| &text[from..]);
    words.extend(last);
    if quote.is_some() { Err(last.unwrap_or(text)) } else { Ok(words) }
}

/// A value without quotes around it.
pub fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exclusive, nice, array, memory and no requeue.
    fn options(line: &str) -> [&str; 5] {
        let SubmitLine { exclusive, nice, array, memory, no_requeue } = SubmitLine::of(line.as_bytes());
        [exclusive, nice, array, memory, no_requeue].map(|value| std::str::from_utf8(value).unwrap())
    }

    #[test]
    fn options_end_at_the_script() {
        for (line, exclusive) in [
            ("sbatch --exclusive job.sh", true),
            ("sbatch --exclusive job.sh -N 4", true),
            ("sbatch job.sh --exclusive", false),
            ("sbatch -p short job.sh --exclusive", false),
            ("sbatch -pshort --exclusive job.sh", true),
            ("sbatch -p short --exclusive job.sh", true),
            ("/usr/bin/sbatch --partition short job.sh --exclusive", false),
            ("sbatch --partition=short --exclusive", true),
            ("sbatch --exclusive=user job.sh", false),
            ("sbatch --hold --exclusive job.sh", true),
            ("sbatch -HQ --exclusive job.sh", true),
            ("sbatch -HN 2 --exclusive job.sh", true),
            ("sbatch -W --exclusive job.sh", true),
            ("sbatch --wait --exclusive job.sh", true),
            ("sbatch -- --exclusive", false),
            ("srun -n 4 ./solver --exclusive", false),
            ("srun -W 30 --exclusive ./solver", true),
            ("srun --pty --exclusive bash", true),
            ("salloc --exclusive bash -c --mem=0", true),
            ("salloc -N 2 bash --exclusive", false),
            ("", false),
        ] {
            assert_eq!(!options(line)[0].is_empty(), exclusive, "{line}");
        }
    }

    #[test]
    fn what_is_wrapped_is_not_read() {
        for (line, exclusive) in [
            ("sbatch --wrap \"srun --exclusive x\" -N 2", false),
            ("sbatch --wrap='srun --exclusive x'", false),
            ("sbatch --wrap=\"srun x\" --exclusive", true),
            ("sbatch --exclusive --wrap srun --nice=5 x", true),
            // sacct has lost the quotes of this one.
            ("sbatch --wrap=srun --exclusive x", false),
            ("sbatch --comment=don't --exclusive job.sh", true),
        ] {
            assert_eq!(!options(line)[0].is_empty(), exclusive, "{line}");
        }
        assert_eq!(options("sbatch --exclusive --wrap srun --nice=5 x")[1], "");
    }

    #[test]
    fn values_as_they_are_written() {
        assert_eq!(options("sbatch --nice --array=1-3%2 --mem=0 job.sh"), ["", "100", "1-3%2", "0", ""]);
        assert_eq!(options("sbatch --nice=50 -a 1-10%4 --mem '4G' --mem=2G job.sh 5"), ["", "50", "1-10%4", "2G", ""]);
        assert_eq!(options("sbatch -a1-10%4 --no-requeue job.sh --mem=0")[2..], ["1-10%4", "", "yes"]);
    }
}
