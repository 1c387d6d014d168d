//! Writes a recommendation: the competition, the judgement, and the answer.

use std::io::{self, Write};

use super::{Answer, CandidateRuns, FEWEST_JOBS, FEWEST_USERS, Guard, Recommendation};
use crate::fidelity::{SiteCheck, SiteVerdict};
use crate::metrics::columns::{
    AREA_LOSE, BSLD_MEAN, COLUMNS, RunKind, USERS_LOSE, WAIT_MAX, WAIT_MEAN, WAIT_P95, WIDE_WAIT_MEAN,
};
use crate::metrics::{Cells, Column, ListedColumn, Replicates, Verdict, cells, column_list, listed};
use crate::report::{
    FEEDBACK_NOTE, Table, TableCell, Tone, Width, price_in_words, seeds_in_words, shown, signed_percent, with_interval,
    write_paragraph, write_wrapped,
};
use crate::text::{counted, counted_as, printable};

/// The lines of the judgement: caption and column.
static LINES: [(&str, &Column); 7] = [
    ("wait, mean", &WAIT_MEAN),
    ("  95% of jobs within", &WAIT_P95),
    ("  longest", &WAIT_MAX),
    ("  of the widest jobs", &WIDE_WAIT_MEAN),
    ("bounded slowdown, mean", &BSLD_MEAN),
    ("users who lose", &USERS_LOSE),
    ("  their share of the area", &AREA_LOSE),
];

/// Writes everything for people.
pub fn write_recommendation(out: &mut dyn Write, width: Width, found: &Recommendation) -> io::Result<()> {
    let question = &found.question;
    let present = found.candidates[0].runs();
    let label = present.label();
    let jobs = |jobs: usize| counted(jobs as u64, "job");
    let caption = format!(
        "{}: {}. Present setting: {}. {} by {} on the first {}.",
        printable(&label.trace),
        counted(label.procs.into(), "processor"),
        question.present.pair(),
        counted_as(found.candidates.len() as u64, "candidate competes", "candidates compete"),
        question.objective.name,
        jobs(found.chosen_on),
    );
    write_wrapped(out, "", &caption, width)?;
    if let Some(site) = &question.site {
        let words = site.in_words(("The present setting", "--present"));
        write_paragraph(out, &format!("Does the simulation know this site? {words}"), width)?;
    }
    writeln!(out)?;
    write_competition(out, width, found)?;
    if let Some(judged) = &found.judged {
        let caption = format!(
            "The first of them on the other {}, which it was not chosen by:",
            jobs(question.jobs - found.chosen_on)
        );
        write_paragraph(out, &caption, width)?;
        writeln!(out)?;
        write_judgement(out, width, found, &judged.runs())?;
    }
    let replications = question.replications;
    let note = format!(
        "Means of {} with 95% intervals: the log as it is, and copies in which submissions are moved by up to 30 s ({}). \
         Gain over the present setting: positive is better. Users lose if their mean wait is over 1.1 times the present one, \
         over a minute more, and longer by more than chance.",
        counted(replications.into(), "run"),
        seeds_in_words(u64::from(replications) - 1)
    );
    write_paragraph(out, &note, width)?;
    if question.options.feedback.is_some() {
        write_paragraph(out, FEEDBACK_NOTE, width)?;
    }
    write_paragraph(out, &answer_in_words(found), width)?;
    if let Some(command) = found.command() {
        writeln!(out, "\nThe same judgement again:")?;
        write_command(out, width, &command)?;
    }
    Ok(())
}

/// Writes a command, in several lines if it is long. A shell reads them as one.
fn write_command(out: &mut dyn Write, width: Width, command: &str) -> io::Result<()> {
    let mut parts = command.split(" --");
    let mut line = format!("  {}", parts.next().unwrap_or_default());
    for part in parts {
        if line.len() + part.len() + " -- \\".len() > width.columns {
            writeln!(out, "{line} \\")?;
            line = "   ".to_string();
        }
        line.push_str(&format!(" --{part}"));
    }
    writeln!(out, "{line}")
}

fn write_competition(out: &mut dyn Write, width: Width, found: &Recommendation) -> io::Result<()> {
    let objective = found.question.objective;
    let mut table = Table::default();
    table.headings(["candidate", objective.name, "gain", "longest wait", "users who lose"]);
    let present = found.candidates[0].runs();
    let [figure, longest] = [objective, &WAIT_MAX].map(|column| with_interval(column.shown, present.base_mean(column)));
    let name = format!("{} (present)", found.question.present.pair());
    table.push(vec![name, figure, String::new(), longest, String::new()]);
    for candidate in &found.candidates {
        let (CandidateRuns { setting, broken, .. }, runs) = (candidate, &candidate.runs());
        let [figure, longest] = [objective, &WAIT_MAX].map(|column| with_interval(column.shown, runs.mean(column)));
        let losers = shown(USERS_LOSE.shown, runs.mean(&USERS_LOSE).mean);
        let out = if broken.is_empty() { String::new() } else { format!(" (out: {})", broken.join(", ")) };
        let [name, figure, longest, losers] = [setting.pair() + &out, figure, longest, losers].map(TableCell::from);
        table.push(vec![name, figure, gain_cell(objective, runs), longest, losers]);
    }
    table.write(out, width)
}

fn write_judgement(out: &mut dyn Write, width: Width, found: &Recommendation, runs: &Replicates<'_>) -> io::Result<()> {
    let mut table = Table::default();
    table.headings([
        String::new(),
        runs.name(),
        found.question.present.pair(),
        "gain".to_string(),
        "verdict".to_string(),
    ]);
    let objective = found.question.objective;
    let is_shown = LINES.iter().any(|(_, column)| column.name == objective.name);
    let own = (!is_shown).then_some((objective.name, objective));
    for (caption, column) in own.into_iter().chain(LINES) {
        let base = match column.needs_baseline() {
            true => String::new(),
            false => with_interval(column.shown, runs.base_mean(column)),
        };
        let figure = with_interval(column.shown, runs.mean(column));
        let verdict = verdict(column, runs);
        let tone = match verdict {
            _ if verdict == Verdict::Better.name() => Tone::Gain,
            _ if verdict == Verdict::Worse.name() => Tone::Loss,
            _ => Tone::Neutral,
        };
        let [caption, figure, base] = [caption.to_string(), figure, base].map(TableCell::from);
        table.push(vec![caption, figure, base, gain_cell(column, runs), TableCell::new(verdict, tone)]);
    }
    table.write(out, width)
}

/// The improvement over the present setting.
fn gain(column: &Column, runs: &Replicates<'_>) -> String {
    let mean = runs.improvement(column).mean;
    if mean.is_finite() { signed_percent(mean) } else { String::new() }
}

/// The improvement as a cell.
fn gain_cell(column: &Column, runs: &Replicates<'_>) -> TableCell {
    TableCell::new(gain(column, runs), Tone::of_gain(runs.improvement(column).mean))
}

/// Whether a figure differs by more than chance from the present one.
fn verdict(column: &Column, runs: &Replicates<'_>) -> &'static str {
    match runs.verdict(column) {
        Some(Verdict::WithinNoise) => "cannot be told",
        Some(verdict) => verdict.name(),
        None => "",
    }
}

/// The answer, headed by a warning if the simulation does not know the site.
pub fn answer_in_words(found: &Recommendation) -> String {
    let is_other = |site: &SiteCheck| site.verdict() == SiteVerdict::NotThisSite;
    match found.question.site.as_ref().is_some_and(is_other) {
        true => format!("Not this site: the simulated waits are far from the recorded ones. {}", advice(found)),
        false => advice(found),
    }
}

/// What the site should do, in words.
fn advice(found: &Recommendation) -> String {
    if found.answer() == Answer::TooLittle {
        let (jobs, users) = (found.question.jobs - found.chosen_on, found.question.judged_users);
        return format!(
            "Too little to tell: the judged part of the log has {} of {}, and advice needs {} of {}.",
            counted(jobs as u64, "job"),
            counted(users as u64, "user"),
            counted(FEWEST_JOBS as u64, "job"),
            counted(FEWEST_USERS as u64, "user")
        );
    }
    let (present, objective) = (found.question.present.pair(), found.question.objective);
    let Some(judged) = &found.judged else {
        if found.answer() == Answer::AllBreakGuards {
            let all = found.candidates.len();
            let out = |guard: &Guard| {
                let breaks = |one: &&CandidateRuns| one.broken.contains(&guard.to_string());
                format!("{guard} by {} of {all}", found.candidates.iter().filter(breaks).count())
            };
            let guards: Vec<String> = found.question.guards.iter().map(out).collect();
            return format!(
                "Keep what you have: every candidate breaks a guard on the first part of the log ({}). Wider limits or other \
                 candidates would give a choice.",
                guards.join(", ")
            );
        }
        let guards = if found.question.guards.is_empty() { "" } else { " within the guards" };
        return format!(
            "Keep what you have: no candidate{guards} was better than {present} on the first part of the log."
        );
    };
    let winner = found.candidates[0].setting.pair();
    let runs = judged.runs();
    let percent = gain(objective, &runs);
    let of_objective = format!("{} ({percent})", objective.name);
    match found.answer() {
        Answer::Change => {
            let [before, after] = [runs.base_mean(objective), runs.mean(objective)];
            let [before, after] = [before, after].map(|figure| shown(objective.shown, figure.mean));
            let price = price_in_words(&runs).unwrap_or_default();
            format!(
                "Use {winner}: its {} goes from {before} to {after} ({percent}, more than chance), compared with {present}, \
                 and the price is: {price}.",
                in_words(objective)
            )
        }
        Answer::Worse => {
            format!(
                "Keep what you have: {winner} won on the first part of the log, but its {of_objective} is worse on the rest."
            )
        }
        Answer::BreaksGuard => format!(
            "Keep what you have: {winner} breaks {} on the rest of the log, although not on the first part.",
            judged.broken.join(", ")
        ),
        Answer::TooLittle | Answer::WithinNoise | Answer::NoneBetter | Answer::AllBreakGuards => format!(
            "Keep what you have, or try more: the gain of {winner} in {of_objective} on the rest of the log is within noise."
        ),
    }
}

/// A figure without its name in results.
fn in_words(column: &Column) -> &'static str {
    match column.name {
        "bsld_mean" => "mean bounded slowdown",
        "wait_mean" => "mean wait",
        _ => column.about,
    }
}

/// A row of CSV: a candidate on a part of the log, and the answer.
struct CandidateRow<'a> {
    part: &'static str,
    candidate: &'a CandidateRuns,
    answer: Answer,
    /// The verdict on the present setting.
    site: Option<SiteVerdict>,
}

/// The columns before those of the runs of a candidate, and those after them.
fn candidate_columns<'a>() -> [Vec<Column<CandidateRow<'a>>>; 2] {
    [
        Vec::from(column_list! {
            |row: CandidateRow<'a>|
            key "part" "choose: the first part of the log; judge: the rest, which has a row of the winner" row.part;
        }),
        Vec::from(column_list! {
            |row: CandidateRow<'a>|
            text "broken_guards" "the guards that it breaks, with blanks between them" row.candidate.broken.join(" ");
            text "answer" "what the site should do; the same in every row" row.answer.name();
            text "site" "how near the present setting comes to the recorded waits: near, tendency only or not this site"
                row.site.map(|site| site.name());
        }),
    ]
}

/// The columns of all rows, for lists.
pub fn listed_recommendation() -> Vec<ListedColumn> {
    let [before, after] = candidate_columns();
    let runs = COLUMNS.iter().map(|column| column.listed()).collect();
    [listed(&before), runs, listed(&after)].concat()
}

/// One row per candidate, on the first part of the log, and one for the winner on the rest.
pub fn recommendation_cells(found: &Recommendation) -> Vec<Cells> {
    let (columns, answer) = (candidate_columns(), found.answer());
    let site = found.question.site.as_ref().map(SiteCheck::verdict);
    let kinds = found.candidates.iter().chain(&found.judged).map(|one| one.runs().kind());
    let kind = kinds.reduce(RunKind::or).unwrap_or_default();
    let row = |part, candidate| {
        let row = CandidateRow { part, candidate, answer, site };
        let [before, after] = columns.each_ref().map(|columns| cells(columns, &row, &[]));
        [before, row.candidate.runs().cells(kind, &row.candidate.rows[0].label.options), after].concat()
    };
    let candidates = found.candidates.iter().map(|one| row("choose", one));
    candidates.chain(found.judged.iter().map(|judged| row("judge", judged))).collect()
}
