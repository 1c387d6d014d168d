//! Which keys the lines of a configuration may have.

use super::super::file_line::{ConfError, Ignored};
use super::lines::ConfLine;
use crate::similar::did_you_mean;
use crate::text::shortened;

/// The keys of a line with further pairs.
pub(super) struct LineKeys {
    /// The first key of the line.
    pub of: &'static str,
    /// They are simulated.
    pub used: &'static [&'static str],
    /// They change which jobs start at a site, and are not simulated.
    pub mattering: &'static [&'static str],
    /// They do not.
    pub others: &'static [&'static str],
}

impl LineKeys {
    /// Adds the keys of a line that are not used to `ignored`. Slurm refuses keys that it does not have.
    pub fn check(&self, line: &ConfLine, ignored: &mut Vec<Ignored>) -> Result<(), ConfError> {
        for (key, _) in &line.pairs {
            let is_in = |keys: &[&str]| keys.iter().any(|known| known.eq_ignore_ascii_case(key));
            let name = || format!("{} {key}", self.of);
            if is_in(self.mattering) {
                ignored.push(Ignored::of_machine(&line.place, name()));
            } else if is_in(self.others) {
                ignored.push(Ignored::other(&line.place, name()));
            } else if !is_in(self.used) {
                let all = self.used.iter().chain(self.mattering).chain(self.others).copied();
                let meant = did_you_mean(key, all.clone());
                let (of, key, all) = (self.of, shortened(key), all.collect::<Vec<_>>().join(", "));
                return Err(line.place.wrong(format!("{of}: no key '{key}'; the keys are {all}{meant}")));
            }
        }
        Ok(())
    }
}
