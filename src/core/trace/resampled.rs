//! What is known of a resample: whose copies its users are, and how it was drawn.

/// What is known of a resample, beside its jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resampled {
    /// The user of the log by copy, as jobs had it. Copy 1 is the first.
    pub users: Vec<i32>,
    /// The record of the log by record of the resample.
    pub(super) records: Vec<u32>,
    /// The weeks of the circle.
    pub weeks: usize,
    /// How often was drawn until the load was near that of the log.
    pub draws: u32,
    /// The load, as a share of the machine.
    pub load: f64,
    /// The load of the log.
    pub load_of_log: f64,
    /// Whether the load is as near as was asked for.
    pub is_load_met: bool,
    /// What to know of its log, one sentence each.
    pub(super) doubts: Vec<String>,
}

impl Resampled {
    /// The user of the log whose copy this is, as the jobs of the log have it.
    pub fn user_of_log(&self, copy: i32) -> i32 {
        usize::try_from(copy).ok().and_then(|copy| self.users.get(copy.checked_sub(1)?)).copied().unwrap_or(copy)
    }

    /// The record of the log of a record of the resample.
    pub fn record_of_log(&self, record: u32) -> u32 {
        self.records[record as usize]
    }

    /// That no draw had the load of the log, as a sentence. None if one had.
    fn load_not_met(&self, seed: u64) -> Option<String> {
        let Resampled { draws, load_of_log, load, is_load_met, .. } = self;
        (!is_load_met).then(|| {
            format!(
                "resample {seed}: no draw of {draws} had the load of the log, {load_of_log:.3}; the nearest is taken, {load:.3}"
            )
        })
    }

    /// What someone who reads the results should know: sentences about the log, with 0, and about the resample of this seed.
    pub fn notes(&self, seed: u64) -> impl Iterator<Item = (u64, String)> {
        let of_log = self.doubts.iter().map(|doubt| (0, doubt.clone()));
        of_log.chain(self.load_not_met(seed).map(|words| (seed, words)))
    }
}
