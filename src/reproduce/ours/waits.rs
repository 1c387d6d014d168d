//! Our own claims about waits: a simulation of the present queue with drawn runtimes, recalibrated on past waits, is nearer to
//! the truth than similar jobs alone, and its bounds hold as often as they say.

use crate::experiment::{Setting, simulate};
use crate::reproduce::figure::Figure;
use crate::reproduce::logs::{ArchiveLog, CTC, FoundLog, HPC2N, KTH, SDSC_BLUE, SDSC_SP2};
use crate::reproduce::study::{Setup, StudyError};
use crate::sort::sort_by;
use crate::time::{MINUTE, Time};
use crate::trace::Workload;
use crate::wait::{EvaluationPlan, SiteSchedule, WaitFigures, WaitMethod, evaluate, recorded_starts};

const KNN: &str = "knn";
const DRAWN: &str = "simulate:draws=30";
const RECALIBRATED: &str = "simulate:draws=30,recalibrate=on";

/// The jobs of the prototype: 5,000, from the 10,001st on.
const OF_PROTOTYPE: usize = 5000;

/// Mean error in minutes and percent of ranges met, of `knn` and of ours, in a prototype.
struct Prototype {
    log: ArchiveLog,
    /// On the schedule of EASY with estimates.
    easy: [[&'static str; 2]; 2],
    /// On the log's own waits.
    own: [[&'static str; 2]; 2],
    /// How often its 90% bound held there, in percent.
    covered: &'static str,
}

const PROTOTYPE: [Prototype; 5] = [
    Prototype { log: KTH, easy: [["134", "60"], ["59", "82"]], own: [["286", "61"], ["269", "72"]], covered: "89" },
    Prototype { log: CTC, easy: [["191", "55"], ["108", "72"]], own: [["322", "42"], ["274", "59"]], covered: "88" },
    Prototype {
        log: SDSC_BLUE,
        easy: [["49", "82"], ["26", "89"]],
        own: [["149", "86"], ["128", "88"]],
        covered: "90",
    },
    Prototype { log: SDSC_SP2, easy: [[""; 2]; 2], own: [[""; 2]; 2], covered: "" },
    Prototype { log: HPC2N, easy: [[""; 2]; 2], own: [[""; 2]; 2], covered: "" },
];

const ITS_KNN: &str = "the prototype's knn had another distance";
const ITS_RULES: &str = "the prototype's rules of cleaning and of drawing are not recorded in full";

/// The logs of the claims that are at hand.
fn logs(setup: &Setup) -> impl Iterator<Item = (&FoundLog, &'static Prototype)> {
    let prototype = |log: ArchiveLog| PROTOTYPE.iter().find(|prototype| prototype.log == log);
    setup.logs.iter().filter_map(move |found| Some((found, prototype(found.log)?)))
}

/// The number of evaluations.
pub fn steps(setup: &Setup) -> usize {
    2 * logs(setup).count()
}

/// The figures of all logs. `progress` is called with the number of finished evaluations.
pub fn figures(setup: &Setup, progress: &dyn Fn(usize)) -> Result<Vec<Figure>, StudyError> {
    let mut figures = Vec::new();
    for (at, (found, prototype)) in logs(setup).enumerate() {
        let workload = found.replayed()?;
        // The whole evaluation of the command is 50,000 jobs.
        let most = if setup.quick { 500 } else { EvaluationPlan::default().most };
        let easy = Setting::parse("easy", "estimate").expect("both are in the catalogs");
        let record = simulate(&workload, &easy, &mut |_| ())?;
        let starts: Vec<Time> = record.finished(&workload.jobs).map(|job| job.start()).collect();
        let [first, _] = evaluated(&workload, &starts, [KNN, DRAWN], most.min(OF_PROTOTYPE), setup.threads)?;
        figures.extend(compared(found, "waits under EASY", &first, prototype.easy));
        progress(2 * at + 1);
        let [first, all] = evaluated(&workload, &recorded_starts(&workload), [KNN, RECALIBRATED], most, setup.threads)?;
        figures.extend(compared(found, "the log's own waits", &first, prototype.own));
        figures
            .push(covered(found, "the log's own waits, 5,000 jobs", &first[1], prototype.covered).because(ITS_RULES));
        figures.extend(compared(found, "the log's own waits, up to 50,000 jobs", &all, [[""; 2]; 2]));
        figures.push(covered(found, "the log's own waits, up to 50,000 jobs", &all[1], "87-93"));
        progress(2 * at + 2);
    }
    // All figures of one table together.
    sort_by(&mut figures, |a, b| a.table.cmp(&b.table));
    Ok(figures)
}

/// The figures of two methods: on the jobs of the prototype, and on all.
fn evaluated(
    workload: &Workload,
    starts: &[Time],
    methods: [&str; 2],
    most: usize,
    threads: usize,
) -> Result<[Vec<WaitFigures>; 2], StudyError> {
    let schedule = SiteSchedule::new(workload, starts);
    let methods = methods.map(|method| WaitMethod::parse(method).expect("a method of the catalog"));
    let plan = EvaluationPlan { most, threads, probabilities: false, ..EvaluationPlan::default() };
    let evaluation = evaluate(&schedule, &methods, &plan, &|_, _, _| ())?;
    Ok([evaluation.first(OF_PROTOTYPE).figures(), evaluation.figures()])
}

fn compared(found: &FoundLog, what: &str, measured: &[WaitFigures], prototype: [[&str; 2]; 2]) -> Vec<Figure> {
    let what = if what.contains("jobs") { what.to_string() } else { format!("{what}, 5,000 jobs") };
    let of_method = |(method, [error, met]): (&WaitFigures, [&str; 2])| {
        let reason = if method.method == KNN { ITS_KNN } else { ITS_RULES };
        let note = if error.is_empty() { "" } else { "published: a prototype" };
        let (row, column) = (found.log.name, method.method.as_str());
        let minutes = method.mean_error() / MINUTE as f64;
        let error = Figure::new((&format!("{what}: mean error in minutes"), row, column), error, minutes);
        let ranges = format!("{what}: ranges met, in percent");
        let met = Figure::new((&ranges, row, column), met, method.classes[0].percent()).percent();
        [error, met].map(|figure| figure.noted(note).because(reason))
    };
    measured.iter().zip(prototype).flat_map(of_method).collect()
}

fn covered(found: &FoundLog, what: &str, measured: &WaitFigures, published: &str) -> Figure {
    let table = format!("{what}: started by the 90% bound, in percent");
    Figure::new((&table, found.log.name, &measured.method), published, measured.bounds[2].percent()).percent()
}
