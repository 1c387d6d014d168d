//! The change of waits by width and runtime.

use super::{Chart, ChartFigure, Compared, DataCell, DataTable, Draw, Frame, Mark, PicturedSetting};
use crate::html::axis::ChartAxis;
use crate::html::svg::{Anchor, Ink};
use crate::metrics::{
    JobMetrics, Probe, RUNTIME_CLASSES, runtime_class, runtime_class_name, width_class, width_class_name,
};
use crate::text::counted;
use crate::time::{DAY, HOUR, MINUTE, readable_duration};

/// The chart of a setting in comparison with the first.
pub const CHART: Chart = Chart {
    title: "change by width and runtime",
    probe: |_, _| Some(Box::<WaitGrid>::default()),
    draw: Draw::Against(chart),
};

/// The classes of widths: 1, 2, 3-4, 5-8 and so on.
const WIDTHS: usize = 33;

/// The jobs of one class of widths and one of runtimes.
#[derive(Clone, Copy, Debug, Default)]
struct GridCell {
    jobs: u64,
    /// The sum of their waits, in seconds.
    wait: i128,
}

impl GridCell {
    /// The mean wait, in seconds. None if there are no jobs.
    fn wait_mean(&self) -> Option<f64> {
        (self.jobs > 0).then(|| self.wait as f64 / self.jobs as f64)
    }
}

/// The cells of all classes, as [`GroupBy::Width`](crate::metrics::GroupBy::Width) and
/// [`GroupBy::Runtime`](crate::metrics::GroupBy::Runtime) have them.
#[derive(Debug)]
struct WaitGrid([[GridCell; RUNTIME_CLASSES]; WIDTHS]);

impl Default for WaitGrid {
    fn default() -> WaitGrid {
        WaitGrid([[GridCell::default(); RUNTIME_CLASSES]; WIDTHS])
    }
}

impl Probe for WaitGrid {
    fn job(&mut self, job: &JobMetrics) {
        let cell = &mut self.0[width_class(job.procs) as usize][runtime_class(job.runtime) as usize];
        cell.jobs += 1;
        cell.wait += i128::from(job.wait);
    }
}

/// The height of a row, in units.
const ROW: u32 = 24;

/// The difference of two waits in few characters: -25m, +3h.
fn short(difference: f64) -> String {
    let (sign, seconds) = (if difference < 0.0 { "-" } else { "+" }, difference.abs());
    let text = |unit: i64, name: &str| format!("{sign}{:.0}{name}", seconds / unit as f64);
    match seconds.round() as i64 {
        0 => "0".to_string(),
        1..MINUTE => text(1, "s"),
        MINUTE..HOUR => text(MINUTE, "m"),
        // Two days in hours have two digits.
        seconds if seconds < 2 * DAY => text(HOUR, "h"),
        _ => text(DAY, "d"),
    }
}

/// The opacity of a difference: it grows with the logarithm, from a minute to four days.
fn strength(difference: f64) -> f64 {
    let most = libm::log10((4 * DAY) as f64 / MINUTE as f64);
    let at = libm::log10(difference.abs().max(1.0) / MINUTE as f64) / most;
    0.06 + 0.44 * at.clamp(0.0, 1.0)
}

fn chart(compared: &Compared<'_>, base: &PicturedSetting<'_>, setting: &PicturedSetting<'_>) -> ChartFigure {
    let (name, base_name) = (&setting.name, &base.name);
    let pairs = setting.seen.of::<WaitGrid>().0.iter().zip(&base.seen.of::<WaitGrid>().0);
    let rows: Vec<_> = (0i64..)
        .zip(pairs)
        .map(|(class, (run, base))| (class, run, base))
        .filter(|(_, run, _)| run.iter().any(|cell| cell.jobs > 0))
        .collect();
    let runtimes: Vec<String> = (0..RUNTIME_CLASSES as i64).map(short_runtime).collect();
    let widths: Vec<String> = rows.iter().map(|(class, _, _)| width_class_name(*class)).collect();
    let mut data =
        DataTable::new(2, ["processors", "runtime", "jobs", "mean wait", "mean wait in the baseline", "change"]);
    let label = format!("Change of the mean wait of {name} against {base_name}, by processors and runtime");
    let frame = Frame {
        height: 70 + ROW * rows.len() as u32,
        grid: (false, false),
        ..Frame::new(&label, (ChartAxis::names(&runtimes), "runtime"), (ChartAxis::names(&widths), "processors"))
    };
    let mut tiles = Vec::new();
    for (at, (class, run, base)) in rows.iter().enumerate() {
        for (column, (run, base)) in run.iter().zip(*base).enumerate() {
            let Some((wait, base)) = run.wait_mean().zip(base.wait_mean()) else { continue };
            let change = wait - base;
            let (width, runtime) = (width_class_name(*class), runtime_class_name(column as i64));
            let title = format!(
                "processors {width}, runtime {runtime}: {}, mean wait {} instead of {}",
                counted(run.jobs, "job"),
                readable_duration(wait),
                readable_duration(base)
            );
            tiles.push((column as f64, at as f64, change, title));
            data.push([
                DataCell::text(width),
                DataCell::text(runtime),
                DataCell::count(run.jobs),
                DataCell::duration(wait),
                DataCell::duration(base),
                DataCell::shown(short(change), change),
            ]);
        }
    }
    let picture = frame.draw(|drawing, inside| {
        for (left, low, change, title) in &tiles {
            let (ink, opacity) = match *change {
                same if same.abs() < 0.5 => (Ink::Axis, 0.1),
                less if less < 0.0 => (Ink::Gain, strength(less)),
                more => (Ink::Loss, strength(more)),
            };
            drawing.titled(title, |drawing| {
                let (from, to) = (inside.at(left + 0.02, low + 0.03), inside.at(left + 0.98, low + 0.97));
                drawing.rect(from, to, ink, opacity);
                drawing.text(inside.at(left + 0.5, low + 0.5), Anchor::Middle, &short(*change));
            });
        }
    });
    ChartFigure {
        legend: vec![
            (Mark::Box(Ink::Gain, 0.5), "waits less".to_string()),
            (Mark::Box(Ink::Loss, 0.5), "waits longer".to_string()),
        ],
        picture,
        caption: format!(
            "The mean wait of each class of jobs minus that {base}: a negative number is a shorter wait. Strong \
             colours are large changes. Classes without jobs are empty.",
            base = compared.in_base()
        ),
        data: data.sortable(),
        ..ChartFigure::default()
    }
}

/// The name of a class of runtimes in few characters.
fn short_runtime(class: i64) -> String {
    let name = runtime_class_name(class);
    name.strip_prefix("up to ").map_or("more".to_string(), |limit| format!("\u{2264}{limit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_short_and_signed() {
        let cases = [(0.2, "0"), (-1.0, "-1s"), (59.0, "+59s"), (-1500.0, "-25m"), (10_800.0, "+3h"), (2e5, "+2d")];
        for (difference, text) in cases {
            assert_eq!(short(difference), text);
        }
        assert!(strength(60.0) < strength(3600.0) && strength(-3600.0) < strength(1e5) && strength(1e9) < 0.51);
    }
}
