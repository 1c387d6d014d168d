//! Which jobs cannot run in a site or in one of its changes: all are compared by the jobs that can run everywhere.

use super::notes::warn_of_never;
use crate::experiment::{CleanedAtSite, LeftOut, Options};
use crate::report::counted;

/// Jobs of a site that cannot run in some of its changes.
#[derive(Default)]
pub struct Lacking {
    /// The names of the changes, or that of the site, with the numbers of jobs.
    by_name: Vec<(String, usize)>,
    /// All of them.
    pub left_out: LeftOut,
}

impl Lacking {
    /// Empty if all jobs can run everywhere: `compared on the jobs that all can run: procs=64 cannot run 12`.
    pub fn in_words(&self) -> String {
        let one = |(name, jobs): &(String, usize)| format!("{name} cannot run {}", counted(*jobs as u64, "other job"));
        let all: Vec<String> = self.by_name.iter().map(one).collect();
        if all.is_empty() {
            String::new()
        } else {
            format!("compared on the jobs that all can run: {}", all.join(", "))
        }
    }
}

/// Leaves out the jobs that cannot run in a site or in one of its changes: on its machine, or because its scheduler can never start
/// them there.
pub fn leave_out_never(
    settings: &[Options],
    sites: &[Options],
    cleaned: &mut [CleanedAtSite],
    is_quiet: bool,
) -> anyhow::Result<Lacking> {
    let mut lacking = Lacking::default();
    let keys: Vec<String> = sites.iter().map(Options::condition_key).collect();
    for options in settings {
        let key = options.condition_key();
        let at = (0..sites.len()).find(|&at| keys[at] == key && sites[at].machine == options.machine);
        let CleanedAtSite { workload, lacking: on_machine } = &cleaned[at.expect("each setting is at a site")];
        let mut own = on_machine.clone();
        if workload.shapes.is_some() {
            let name = options.what_if.clone().unwrap_or_else(|| "the site as it is".to_string());
            let never = options.setting().never_starting(workload)?;
            if never.count() > 0 && !is_quiet {
                warn_of_never(&[(name, never.in_words())].into());
            }
            own.extend(never.jobs().map(|(id, _)| workload.jobs[id.index()].record));
        }
        if !own.is_empty() {
            let name = options.what_if.clone().unwrap_or_else(|| "as it is, the site".to_string());
            lacking.by_name.push((name, own.len()));
            lacking.left_out.extend(own);
        }
    }
    for CleanedAtSite { workload, .. } in cleaned {
        workload.leave_out(|job| lacking.left_out.contains(&job.record))?;
    }
    Ok(lacking)
}
