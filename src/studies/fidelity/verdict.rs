//! Whether a simulation knows the site whose log it reads: a verdict on simulated and recorded waits, in words.

use super::figures::FidelityFigures;
use super::recorded::{RecordedComparison, RecordedWaits};
use super::{DEFAULT_PREDICTOR, DEFAULT_WINDOW};
use crate::experiment::{Setting, simulate};
use crate::metrics::{GroupBy, Measure};
use crate::parallel;
use crate::report::signed_percent;
use crate::text::counted;
use crate::time::readable_duration;
use crate::trace::Workload;

/// How near simulated waits come to the recorded ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SiteVerdict {
    /// The mean wait is within 25% of the recorded one, and the rank correlation of waits is at least 0.7.
    Near,
    /// Within a factor of 2, and 0.4.
    TendencyOnly,
    /// All else.
    NotThisSite,
}

impl SiteVerdict {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            SiteVerdict::Near => "near",
            SiteVerdict::TendencyOnly => "tendency only",
            SiteVerdict::NotThisSite => "not this site",
        }
    }
}

impl FidelityFigures {
    /// The verdict. A correlation that is not defined counts as none, unless every job started when it did.
    pub fn verdict(&self) -> SiteVerdict {
        let ratio = self.simulated / self.recorded;
        let rank = self.rank_correlation.unwrap_or(0.0);
        match () {
            () if self.start_error == 0.0 => SiteVerdict::Near,
            () if (0.75..=1.25).contains(&ratio) && rank >= 0.7 => SiteVerdict::Near,
            () if (0.5..=2.0).contains(&ratio) && rank >= 0.4 => SiteVerdict::TendencyOnly,
            () => SiteVerdict::NotThisSite,
        }
    }

    /// The figures behind the verdict.
    fn in_words(&self) -> String {
        let percent = match self.difference_pct() {
            percent if percent.is_nan() => String::new(),
            percent => format!(" ({})", signed_percent(percent)),
        };
        let rank = match self.rank_correlation {
            Some(rank) => format!("the rank correlation of waits is {rank:.2}"),
            None => "the waits of one side are all equal".to_string(),
        };
        let [simulated, recorded] = [self.simulated, self.recorded].map(readable_duration);
        format!("its mean wait is {simulated}, recorded are {recorded}{percent}, and {rank}")
    }
}

/// The verdict on a schedule with its figures, as a sentence about `subject`.
pub fn verdict_in_words(subject: &str, figures: &FidelityFigures) -> String {
    let begin = match figures.verdict() {
        SiteVerdict::Near => format!("{subject} comes near to this site"),
        SiteVerdict::TendencyOnly => format!("{subject} shows the tendency of this site only"),
        SiteVerdict::NotThisSite => format!("{subject} is not this site"),
    };
    format!("{begin}: {}.", figures.in_words())
}

/// What is said in the place of a verdict if there is nothing to compare with.
pub const NO_WAITS: &str = "The log has no recorded waits to compare with.";

/// A verdict for the first lines of a result.
pub fn known_in_words(verdict: &str) -> String {
    format!("Does the simulation know this site? {verdict}")
}

/// The name and the meaning of the column with the verdict on the site that a row is compared with.
pub const SITE_COLUMN: (&str, &str) = (
    "site",
    "how near the site as it is comes to the recorded waits: near, tendency only or not this site; empty if there are none, or jobs are \
     submitted at other times",
);

/// Schedulers that are tried if the present one is not near: those of `sim fidelity` that take little time.
const TRIED: [&str; 6] = ["fcfs", "easy", "sjbf", "easy:queue=spf", "easy:queue=lqf", "easy:queue=expf"];

/// How near the present setting of a site comes to what its log recorded.
#[derive(Clone, Debug)]
pub struct SiteCheck {
    figures: FidelityFigures,
    /// The weeks with a mean wait within 25% of the recorded one, and all weeks with a recorded wait.
    weeks: (usize, usize),
    /// The nearest of other schedulers, if it is nearer. They are tried only if the present one is not near.
    nearer: Option<(String, FidelityFigures)>,
    /// Whether the machine has nodes.
    on_nodes: bool,
}

impl SiteCheck {
    /// Simulates the present setting, and others if it is not near. `watch` is called with the number of further jobs that have
    /// ended. None if the log has no waits, or a run fails: then there is nothing to compare with.
    pub fn of(
        workload: &Workload,
        present: &Setting,
        measure: &Measure,
        threads: usize,
        watch: &(dyn Fn(usize) + Sync),
    ) -> Option<SiteCheck> {
        let recorded = RecordedWaits::of(workload, measure, DEFAULT_WINDOW, &[(GroupBy::Week, None)]).ok()?;
        let compare = |setting: &Setting| -> Option<RecordedComparison> {
            let mut before = 0;
            let progress = &mut |ended| watch(ended - std::mem::replace(&mut before, ended));
            Some(recorded.compare(workload, &simulate(workload, setting, progress).ok()?))
        };
        let RecordedComparison { figures, breakdowns, .. } = compare(present)?;
        let weeks = breakdowns.first().map_or(&[][..], |by_week| &by_week.figures);
        let weeks: Vec<f64> = weeks.iter().map(|week| week.difference_pct()).filter(|pct| !pct.is_nan()).collect();
        let near = weeks.iter().filter(|pct| pct.abs() <= 25.0).count();
        let others: Vec<Setting> = match figures.verdict() {
            SiteVerdict::Near => Vec::new(),
            _ => TRIED.iter().filter_map(|scheduler| Setting::parse(scheduler, DEFAULT_PREDICTOR).ok()).collect(),
        };
        let tried =
            parallel::map(&others, threads, |setting| Some((setting.pair(), compare(setting)?.figures)), |_| ());
        let nearest = tried.into_iter().flatten().min_by(|a, b| a.1.distance().total_cmp(&b.1.distance()));
        let nearer = nearest.filter(|(_, nearest)| nearest.distance() < figures.distance());
        Some(SiteCheck { figures, weeks: (near, weeks.len()), nearer, on_nodes: workload.shapes.is_some() })
    }

    /// The verdict on the present setting.
    pub fn verdict(&self) -> SiteVerdict {
        self.figures.verdict()
    }

    /// The verdict with its figures, and what would bring the simulation nearer. `present` is what the present setting is called,
    /// and the option that names it.
    pub fn in_words(&self, present: (&str, &str)) -> String {
        let (subject, present) = present;
        let mut text = verdict_in_words(subject, &self.figures);
        let (near, weeks) = self.weeks;
        if weeks > 0 {
            let of = counted(weeks as u64, "week");
            text.push_str(&format!(" Its mean wait is within 25% of the recorded one in {near} of {of}."));
        }
        if self.verdict() == SiteVerdict::Near {
            return text;
        }
        match &self.nearer {
            Some((setting, nearer)) => text.push_str(&format!(
                " {setting} comes nearer ({}): if the site used it, give {present} {setting}.",
                nearer.verdict().name()
            )),
            None => text.push_str(" No other scheduler that was tried comes nearer."),
        }
        text.push_str(match self.on_nodes {
            true => {
                " Priorities, limits and downtimes are not simulated. `sim machine` shows what of the machine is, and `sim \
                 fidelity` compares more schedulers."
            }
            false => {
                " Partitions, memory, limits and downtimes are not simulated. --procs sets the size of the machine, \
                 --slurm-conf reads the scheduler of a site with Slurm, and `sim fidelity` compares more schedulers."
            }
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::MovingJob;

    fn figures(waits: &[(i64, i64)]) -> FidelityFigures {
        let job =
            |(at, &(recorded, simulated)): (usize, &(i64, i64))| MovingJob { submit: at as i64, recorded, simulated };
        FidelityFigures::of(&waits.iter().enumerate().map(job).collect::<Vec<_>>(), None)
    }

    #[test]
    fn the_limits_are_those_of_the_definition() {
        let verdict = |ratio: f64, rank: Option<f64>| {
            let mut some = figures(&[(0, 1)]);
            (some.recorded, some.simulated, some.rank_correlation) = (100.0, 100.0 * ratio, rank);
            some.verdict()
        };
        for (ratio, rank, expected) in [
            (1.25, Some(0.7), SiteVerdict::Near),
            (0.75, Some(1.0), SiteVerdict::Near),
            (1.26, Some(0.9), SiteVerdict::TendencyOnly),
            (1.0, Some(0.69), SiteVerdict::TendencyOnly),
            (0.5, Some(0.4), SiteVerdict::TendencyOnly),
            (2.0, Some(0.4), SiteVerdict::TendencyOnly),
            (2.01, Some(0.9), SiteVerdict::NotThisSite),
            (0.49, Some(0.9), SiteVerdict::NotThisSite),
            (1.0, Some(0.39), SiteVerdict::NotThisSite),
            (1.0, None, SiteVerdict::NotThisSite),
        ] {
            assert_eq!(verdict(ratio, rank), expected, "{ratio} {rank:?}");
        }
        assert_eq!(figures(&[(0, 0)]).verdict(), SiteVerdict::Near);
        assert_eq!(figures(&[(0, 5), (0, 5)]).verdict(), SiteVerdict::NotThisSite);
    }

    /// The waits of the embedded log were made by `easy/estimate`.
    #[test]
    fn the_scheduler_that_made_a_log_is_near() {
        let workload = crate::trace::demo_workload();
        let check = |present: &str| {
            SiteCheck::of(&workload, &Setting::parse_pair(present).unwrap(), &Measure::default(), 2, &|_| ()).unwrap()
        };
        let own = check("easy/estimate");
        assert_eq!(own.verdict(), SiteVerdict::Near);
        assert!(
            own.nearer.is_none() && own.in_words(("EASY", "--present")).starts_with("EASY comes near to this site")
        );
        let other = check("fcfs/estimate");
        assert_eq!(other.verdict(), SiteVerdict::NotThisSite);
        let words = other.in_words(("FCFS", "--present"));
        assert!(words.contains("if the site used it, give --present easy/estimate."), "{words}");
    }
}
