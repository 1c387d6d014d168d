//! Predicted against true runtimes.

use super::{ChartFigure, DataCell, DataTable, Frame, PicturedSetting};
use crate::html::axis::ChartAxis;
use crate::html::frame::{TALL, WIDTH};
use crate::html::svg::Ink;
use crate::text::counted;
use crate::time::readable_duration;

/// The chart of a setting.
pub fn chart(setting: &PicturedSetting<'_>) -> ChartFigure {
    let (name, accuracy) = (&setting.name, &setting.pictures.accuracy);
    let limits = &accuracy.limits;
    let classes = limits.len();
    let used = |at: &usize| (0..classes).any(|other| accuracy.jobs(*at, other) > 0 || accuracy.jobs(other, *at) > 0);
    let last = (0..classes).filter(used).max().unwrap_or(0);
    let most = (0..classes).flat_map(|p| (0..classes).map(move |r| (p, r))).map(|(p, r)| accuracy.jobs(p, r)).max();
    let most = libm::log10(most.unwrap_or(0) as f64 + 1.0);
    let label = format!("Runtimes of jobs by their prediction at arrival, {name}");
    let frame = Frame {
        size: (WIDTH, TALL),
        ..Frame::new(
            &label,
            (ChartAxis::durations(limits[last]), "predicted at arrival"),
            (ChartAxis::durations(limits[last]), "true runtime"),
        )
    };
    let limit = |at: usize| readable_duration(limits[at]);
    let below = |at: usize| at.checked_sub(1).map_or(1.0, |before| limits[before]);
    let picture = frame.draw(|drawing, inside| {
        for (predicted, ran) in (0..=last).flat_map(|p| (0..=last).map(move |r| (p, r))) {
            let jobs = accuracy.jobs(predicted, ran);
            if jobs == 0 {
                continue;
            }
            let share = libm::log10(jobs as f64 + 1.0) / most;
            let title =
                format!("predicted up to {}, ran up to {}: {}", limit(predicted), limit(ran), counted(jobs, "job"));
            let (from, to) = (inside.at(below(predicted), below(ran)), inside.at(limits[predicted], limits[ran]));
            drawing.titled(&title, |drawing| drawing.rect(from, to, Ink::Plain(1), 0.08 + 0.92 * share));
        }
        drawing.line([1.0, limits[last]].map(|both| inside.at(both, both)), Ink::Loss, 1.2);
    });
    let runtimes = (0..=last).map(|at| format!("ran up to {}", limit(at)));
    let mut data = DataTable::new(1, ["predicted".to_string()].into_iter().chain(runtimes));
    for predicted in (0..=last).filter(|&at| accuracy.lengths[at].jobs > 0) {
        let cells = (0..=last).map(|ran| match accuracy.jobs(predicted, ran) {
            0 => DataCell::default(),
            jobs => DataCell::count(jobs),
        });
        data.push([DataCell::text(format!("up to {}", limit(predicted)))].into_iter().chain(cells));
    }
    ChartFigure {
        title: format!("{name}: predicted and true runtimes"),
        picture,
        caption: "Darker cells have more jobs (on a logarithmic scale). Jobs on the line were predicted exactly; those above \
                  it ran longer than predicted, those below it shorter."
            .to_string(),
        data,
        ..ChartFigure::default()
    }
}
