//! What of the machine is out or reserved, as bands behind charts.

use std::ops::Range;

use crate::html::figure::Mark;
use crate::html::frame::Band;
use crate::html::svg::Ink;
use crate::time::{Time, readable_duration};
use crate::trace::Workload;
use shadowtime_core::machine::{Outage, OutageKind};

/// The opacity of bands.
const OPACITY: f64 = 0.28;

/// How outages are drawn: what is out, and what is kept for some.
fn ink(outage: &Outage) -> Ink {
    if outage.is_out() { Ink::Loss } else { Ink::Gain }
}

/// The outages of a workload that are there in a time. `Time::MAX` is the end of those without one.
fn present<'a>(workload: &'a Workload, time: &Range<Time>) -> impl Iterator<Item = &'a Outage> {
    let (start, end) = (time.start, time.end);
    let all = workload.outages.iter().flat_map(|outages| &outages.list);
    all.filter(move |outage| outage.start < end && outage.end > start)
}

/// What an outage is, in words.
fn in_words(outage: &Outage) -> String {
    let name = if outage.name.is_empty() { String::new() } else { format!(" {}", outage.name) };
    match outage.end {
        Time::MAX => format!("{}{name}, without an end", outage.kind.name()),
        end => format!("{}{name}, {}", outage.kind.name(), readable_duration((end - outage.start) as f64)),
    }
}

fn band(from: Time, to: Time, zero: Time, (low, high): (f64, f64), ink: Ink, title: String) -> Band {
    Band { x: ((from - zero) as f64, (to - zero) as f64), y: (low, high), ink, opacity: OPACITY, title }
}

/// The bands of a chart of a time, which hang from its top: their height is the share of the machine that is out, and below it what
/// is reserved. The axis counts from the begin of the time.
pub fn hanging(workload: &Workload, time: &Range<Time>) -> Vec<Band> {
    let present: Vec<&Outage> = present(workload, time).collect();
    let mut instants: Vec<Time> = present.iter().flat_map(|outage| [outage.start, outage.end]).collect();
    instants.extend([time.start, time.end]);
    instants.retain(|at| (time.start..=time.end).contains(at));
    instants.sort_unstable();
    instants.dedup();
    let mut bands: Vec<Band> = Vec::new();
    for part in instants.windows(2) {
        let on: Vec<&Outage> =
            present.iter().copied().filter(|outage| outage.start <= part[0] && outage.end > part[0]).collect();
        let out = share(workload, on.iter().copied().filter(|outage| outage.is_out()));
        let all = share(workload, on.iter().copied());
        for (is_out, low, high) in [(true, 1.0 - out, 1.0), (false, 1.0 - all, 1.0 - out)] {
            let of_kind = on.iter().filter(|outage| outage.is_out() == is_out);
            let titles: Vec<String> = of_kind.map(|outage| in_words(outage)).collect();
            if high - low > 1e-9 {
                let ink = if is_out { Ink::Loss } else { Ink::Gain };
                bands.push(band(part[0], part[1], time.start, (low, high), ink, titles.join("; ")));
            }
        }
    }
    bands
}

/// The share of the machine that these have together.
fn share<'a>(workload: &Workload, outages: impl Iterator<Item = &'a Outage>) -> f64 {
    let Some(shapes) = &workload.shapes else {
        let procs: u64 = outages.map(|outage| u64::from(outage.procs)).sum();
        return (procs as f64 / f64::from(workload.procs.max(1))).min(1.0);
    };
    let nodes = &shapes.cluster().nodes;
    let mut is_in = vec![false; nodes.len()];
    outages.for_each(|outage| outage.nodes.iter().for_each(|&node| is_in[node as usize] = true));
    let cpus = |counts: &dyn Fn(usize) -> bool| -> u64 {
        (0..nodes.len()).filter(|&at| counts(at)).map(|at| u64::from(nodes[at].has.cpus())).sum()
    };
    cpus(&|at| is_in[at]) as f64 / cpus(&|_| true).max(1) as f64
}

/// The bands of a Gantt chart by node, in which `row` says from where to where a node is, as shares of the height.
pub fn of_nodes(workload: &Workload, time: &Range<Time>, row: impl Fn(&str) -> Option<(f64, f64)>) -> Vec<Band> {
    let Some(shapes) = &workload.shapes else { return Vec::new() };
    let cluster = shapes.cluster();
    let of_outage = |outage: &Outage| {
        let (from, to) = (outage.start.max(time.start), outage.end.min(time.end));
        let rows = outage.nodes.iter().filter_map(|&node| row(&cluster.nodes[node as usize].name));
        rows.map(|row| band(from, to, time.start, row, ink(outage), in_words(outage))).collect::<Vec<_>>()
    };
    present(workload, time).flat_map(of_outage).collect()
}

/// The entries of a legend for what is there in a time.
pub fn legend(workload: &Workload, time: &Range<Time>) -> Vec<(Mark, String)> {
    let has = |is_out: bool| present(workload, time).any(|outage| outage.is_out() == is_out);
    let kinds = [(true, Ink::Loss, "out"), (false, Ink::Gain, OutageKind::Reserved.name())];
    let there = kinds.into_iter().filter(|(is_out, _, _)| has(*is_out));
    there.map(|(_, ink, name)| (Mark::Box(ink, OPACITY), name.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowtime_core::machine::Outages;
    use std::sync::Arc;

    #[test]
    fn bands_are_as_high_as_the_share_that_is_out() {
        let outage = |kind, start, end, procs| {
            let (name, place) = (String::new(), String::new());
            Outage { start, end, announced: start, kind, procs, nodes: Vec::new(), name, place }
        };
        let list = vec![
            outage(OutageKind::Down, 10, 30, 4),
            outage(OutageKind::Drain, 20, Time::MAX, 8),
            outage(OutageKind::Reserved, 25, 40, 2),
            outage(OutageKind::Down, 90, 95, 1),
        ];
        let outages = Outages::new(list, false, std::iter::empty(), |_, _, _| Default::default());
        let workload = Workload { procs: 16, outages: Some(Arc::new(outages)), ..Workload::default() };
        let bands = hanging(&workload, &(15..50));
        let bands: Vec<_> = bands.iter().map(|band| (band.x, band.y, band.ink)).collect();
        let (out, reserved) = (Ink::Loss, Ink::Gain);
        let expected = [
            ((0.0, 5.0), (0.75, 1.0), out),
            ((5.0, 10.0), (0.25, 1.0), out),
            ((10.0, 15.0), (0.25, 1.0), out),
            ((10.0, 15.0), (0.125, 0.25), reserved),
            ((15.0, 25.0), (0.5, 1.0), out),
            ((15.0, 25.0), (0.375, 0.5), reserved),
            ((25.0, 35.0), (0.5, 1.0), out),
        ];
        assert_eq!(bands, expected);
        let legend: Vec<String> = legend(&workload, &(15..50)).into_iter().map(|(_, name)| name).collect();
        assert_eq!(legend, ["out", "reserved"]);
        assert!(hanging(&workload, &(0..5)).is_empty());
    }
}
