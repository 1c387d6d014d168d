//! Whether predictions were long enough, by their length.

use super::distribution::log_limits;
use super::{Chart, ChartFigure, Compared, DataCell, DataTable, Draw, Frame, PicturedSetting, draw_curves};
use crate::html::axis::ChartAxis;
use crate::metrics::{JobMetrics, Probe};

/// The chart. Its table has the numbers of jobs too.
pub const CHART: Chart = Chart {
    title: "Predictions that were long enough",
    probe: |_, _| Some(Box::<Lengths>::default()),
    draw: Draw::Together(chart),
};

/// Prediction lengths with fewer jobs than this are not drawn.
const FEW_JOBS: u64 = 10;

/// The classes per power of ten.
const PER_DECADE: u32 = 4;

/// The longest limit: about 12 days. Longer predictions are in the last class.
const LONGEST: f64 = 1e6;

/// Jobs whose predictions are of about one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LengthClass {
    jobs: u64,
    /// The number of those that do not run longer than predicted.
    kept: u64,
}

/// Counts of jobs by prediction at arrival.
#[derive(Debug)]
struct Lengths {
    /// The longest prediction of each class, in seconds. The last class has all that are longer, too.
    limits: Vec<f64>,
    classes: Vec<LengthClass>,
}

impl Default for Lengths {
    fn default() -> Lengths {
        let limits = log_limits(PER_DECADE, LONGEST, true);
        Lengths { classes: vec![LengthClass::default(); limits.len()], limits }
    }
}

impl Probe for Lengths {
    fn job(&mut self, job: &JobMetrics) {
        let at = self.limits.partition_point(|limit| *limit < job.prediction as f64).min(self.limits.len() - 1);
        self.classes[at].jobs += 1;
        self.classes[at].kept += u64::from(job.runtime <= job.prediction);
    }
}

fn chart(compared: &Compared<'_>) -> Option<ChartFigure> {
    let settings = || compared.settings.iter().map(|(_, setting)| (setting.name.as_str(), of(setting)));
    let first = of(compared.settings[0].1);
    // A site that is changed mostly has the same predictions.
    if compared.are_changes() && settings().all(|(_, lengths)| lengths.classes == first.classes) {
        return None;
    }
    let longest = |lengths: &Lengths| {
        lengths.classes.iter().rposition(|class| class.jobs > 0).map_or(1.0, |at| lengths.limits[at])
    };
    let most = settings().map(|(_, lengths)| longest(lengths)).fold(0.0, f64::max);
    let curves = compared.curves(true, |setting| {
        let Lengths { limits, classes } = of(setting);
        let shown = limits.iter().zip(classes).filter(|(_, class)| class.jobs >= FEW_JOBS);
        shown.map(|(limit, class)| (*limit, class.kept as f64 / class.jobs as f64)).collect()
    });
    let frame = Frame::new(
        "Share of jobs that end by their prediction, by its length",
        (ChartAxis::durations(most), "predicted at arrival"),
        (ChartAxis::shares(), "jobs that end by their prediction"),
    );
    let names = settings().flat_map(|(name, _)| [format!("{name}, jobs"), format!("{name}, end by it")]);
    let mut data = DataTable::new(1, ["predicted up to".to_string()].into_iter().chain(names));
    for (at, &limit) in first.limits.iter().enumerate().filter(|(_, limit)| **limit <= most) {
        let cells = settings().flat_map(|(_, lengths)| {
            let class = lengths.classes[at];
            [DataCell::count(class.jobs), DataCell::share(class.kept as f64 / class.jobs as f64)]
        });
        data.push([DataCell::duration(limit)].into_iter().chain(cells));
    }
    Some(ChartFigure {
        legend: compared.legend(),
        picture: draw_curves(&frame, &curves),
        caption: format!(
            "The share of jobs that do not run longer than predicted at arrival, by the length of the prediction. A job that \
             runs longer gets a new prediction. Lengths with fewer than {FEW_JOBS} jobs are in the data only."
        ),
        data,
        ..ChartFigure::default()
    })
}

fn of<'a>(setting: &PicturedSetting<'a>) -> &'a Lengths {
    setting.seen.of()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_where_they_belong() {
        let mut lengths = Lengths::default();
        // Limits: 1, 2, 3, 6, 10, 18, 32, 56, 100.
        assert_eq!(lengths.limits[..9], [1.0, 2.0, 3.0, 6.0, 10.0, 18.0, 32.0, 56.0, 100.0]);
        for (prediction, runtime) in [(100, 100), (99, 100), (57, 1), (56, 57), (5_000_000, 4_000_000)] {
            lengths.job(&JobMetrics { prediction, runtime, ..JobMetrics::default() });
        }
        assert_eq!(lengths.classes[8], LengthClass { jobs: 3, kept: 2 });
        assert_eq!(lengths.classes[7], LengthClass { jobs: 1, kept: 0 });
        assert_eq!(lengths.classes.last(), Some(&LengthClass { jobs: 1, kept: 1 }));
    }
}
