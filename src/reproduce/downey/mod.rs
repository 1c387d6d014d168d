//! Downey, "Using queue time predictions for processor allocation" (1997): Tables 1 and 2, Figure 5, the figures of the text
//! and the future work.
//!
//! There is no log: a workload is drawn from the paper's model for each seed, and one in the paper is like any of ours.

mod runs;
mod tables;

use super::study::{Computed, Setup, StepDone, Study, StudyError, StudyOption};
use crate::parallel;
use runs::{DowneyRun, PAPER_DAYS, Variant, VariantRuns, variants};

/// Downey: malleable jobs. It uses no logs.
pub const DOWNEY: Study = Study {
    name: "downey",
    paper: "Downey: malleable jobs that choose by predicted queue times",
    help: "Examples:
  sim reproduce downey --quick  a quick test
  sim reproduce downey --format csv
      ten workloads as in the paper: two minutes on two cores

Tables 1 and 2, Figure 5, the numbers in the text and the future work. Needs no logs: the workload is the model of the paper. Each \
published figure comes from one run of the model; the note says whether it is within the range of our runs.",
    logs: &[],
    options: &[
        StudyOption::days([PAPER_DAYS as u64, 20], "The number of days of each workload"),
        StudyOption::replications(
            [10, 2],
            "The number of random workloads, with seeds from 1 on; at most five for variants that are not in the paper. The measured figures are those of the first workload, intervals are over all of them",
        ),
    ],
    has_runs: false,
    cost: None,
    unit: "workloads",
    steps: |setup| variants(setup.days).iter().map(|variant| variant.seeds(setup) as usize).sum(),
    compute,
};

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let variants = variants(setup.days);
    let tasks: Vec<(&Variant, u64)> =
        variants.iter().flat_map(|variant| (1..=variant.seeds(setup)).map(move |seed| (variant, seed))).collect();
    let mut runs =
        parallel::map(&tasks, setup.threads, |(variant, seed)| DowneyRun::of(variant, *seed), progress).into_iter();
    let with_runs = |variant: Variant| {
        let seeds = variant.seeds(setup) as usize;
        VariantRuns { variant, runs: runs.by_ref().take(seeds).collect() }
    };
    let all: Vec<VariantRuns> = variants.into_iter().map(with_runs).collect();
    Ok(tables::tables(&all).into())
}
