//! What is done with jobs that make way for others.

/// What happens to a running job that must make way for another one (Slurm's PreemptMode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreemptMode {
    /// It does not make way.
    #[default]
    Off,
    /// It is stopped, and waits again.
    Requeue,
    /// It is ended.
    Cancel,
}

impl PreemptMode {
    /// The mode of a word, in capitals or not. None if there is no such mode here.
    pub fn of(word: &str) -> Option<PreemptMode> {
        let modes = [("off", PreemptMode::Off), ("requeue", PreemptMode::Requeue), ("cancel", PreemptMode::Cancel)];
        modes.into_iter().find(|(name, _)| word.trim().eq_ignore_ascii_case(name)).map(|(_, mode)| mode)
    }

    /// The mode of a list such as `REQUEUE,WITHIN`, and the words in it that are not simulated.
    pub fn of_list(list: &str) -> (Option<PreemptMode>, Vec<&str>) {
        let (known, others): (Vec<&str>, _) =
            list.split(',').map(str::trim).partition(|word| PreemptMode::of(word).is_some());
        (known.first().and_then(|word| PreemptMode::of(word)), others)
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            PreemptMode::Off => "off",
            PreemptMode::Requeue => "requeue",
            PreemptMode::Cancel => "cancel",
        }
    }
}
