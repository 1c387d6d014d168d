//! Predicted against true runtimes.

use plotters::prelude::*;

use super::axis::Axis;
use super::data_table::{DataCell, DataTable};
use super::figure::Figure;
use super::plot::{Frame, WIDTH, line, put};
use super::svg::Ink;
use crate::metrics::Accuracy;
use crate::text::{counted, grouped};
use crate::time::readable_duration;

/// The chart of a setting.
pub fn density(name: &str, accuracy: &Accuracy) -> Figure {
    let limits = &accuracy.limits;
    let classes = limits.len();
    let used = |at: &usize| (0..classes).any(|other| accuracy.jobs(*at, other) > 0 || accuracy.jobs(other, *at) > 0);
    let last = (0..classes).filter(used).max().unwrap_or(0);
    let most = (0..classes).flat_map(|p| (0..classes).map(move |r| (p, r))).map(|(p, r)| accuracy.jobs(p, r)).max();
    let most = libm::log10(most.unwrap_or(0) as f64 + 1.0);
    let label = format!("Runtimes of jobs by their prediction at arrival, {name}");
    let frame = Frame {
        size: (WIDTH, 340),
        label: &label,
        x: Axis::durations(limits[last]),
        y: Axis::durations(limits[last]),
        x_title: "predicted at arrival",
        y_title: "true runtime",
        grid: (true, true),
    };
    let limit = |at: usize| readable_duration(limits[at]);
    let below = |at: usize| at.checked_sub(1).map_or(1.0, |before| limits[before]);
    let picture = frame.draw(|chart, canvas| {
        for (predicted, ran) in (0..=last).flat_map(|p| (0..=last).map(move |r| (p, r))) {
            let jobs = accuracy.jobs(predicted, ran);
            if jobs == 0 {
                continue;
            }
            let share = libm::log10(jobs as f64 + 1.0) / most;
            let title =
                format!("predicted up to {}, ran up to {}: {}", limit(predicted), limit(ran), counted(jobs, "job"));
            let corners = [(below(predicted), below(ran)), (limits[predicted], limits[ran])];
            let fill = Ink::Plain(1).color().mix(0.08 + 0.92 * share).filled();
            canvas.with_title(&title, || put(chart, Rectangle::new(corners, fill)));
        }
        let diagonal = vec![(1.0, 1.0), (limits[last], limits[last])];
        put(chart, PathElement::new(diagonal, line(Ink::Loss, 1.2)));
    });
    let runtimes = (0..=last).map(|at| format!("ran up to {}", limit(at)));
    let mut data = DataTable::new(1, ["predicted".to_string()].into_iter().chain(runtimes));
    for predicted in (0..=last).filter(|&at| accuracy.lengths[at].jobs > 0) {
        let cells = (0..=last).map(|ran| match accuracy.jobs(predicted, ran) {
            0 => DataCell::default(),
            jobs => DataCell::shown(grouped(jobs), jobs as f64),
        });
        data.push([DataCell::text(format!("up to {}", limit(predicted)))].into_iter().chain(cells));
    }
    Figure {
        title: format!("{name}: predicted and true runtimes"),
        legend: Vec::new(),
        picture,
        caption: "Darker cells have more jobs (on a logarithmic scale). Jobs on the line were predicted exactly; those above \
                  it ran longer than predicted, those below it shorter."
            .to_string(),
        data,
        wide: false,
    }
}
