//! Writes a recommendation: the competition, the judgement, and the answer.

use std::io::{self, Write};

use super::changes::{changes_in_words, write_changes};
use super::gain::{gain, gain_cell, in_words, verdict};
use super::{Answer, CandidateRuns, FAR, FEWEST_JOBS, FEWEST_USERS, FINALISTS, Guard, Recommendation};
use crate::fidelity::{SiteCheck, SiteVerdict, known_in_words};
use crate::metrics::columns::{
    AREA_LOSE, BSLD_MEAN, COLUMNS, USERS_LOSE, WAIT_MAX, WAIT_MEAN, WAIT_P95, WIDE_WAIT_MEAN,
};
use crate::metrics::{Cell, Cells, Column, Given, ListedColumn, Replicates, Verdict, cells, column_list, listed};
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
        write_paragraph(out, &known_in_words(&words), width)?;
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
    write_changes(out, width, found)?;
    let replications = question.replications;
    let note = format!(
        "Means of {} with 95% intervals: the log as it is, and copies in which submissions are moved by up to 30 s ({}). \
         Gain over the present setting: positive is better. Users lose if their mean wait is over 1.1 times the present one, \
         over a minute more, and longer by more than chance.",
        counted(replications.into(), "run"),
        seeds_in_words(u64::from(replications) - 1)
    );
    write_paragraph(out, &note, width)?;
    if let Some(years) = question.years {
        let note = format!(
            "All candidates ran so on the first part. The best {FINALISTS} by that, without those that break a guard by over {FAR} times \
             its limit, are in the table: they competed on {} of the first part ({}), other years of the same users. Their figures are \
             means over these, with intervals of another year. A guard is broken if it is broken in more than {:.0}% of them. CSV has \
             all candidates.",
            counted(years.count.into(), "resample"),
            seeds_in_words(years.count.into()),
            100.0 * years.risk,
        );
        write_paragraph(out, &note, width)?;
    }
    if question.options.feedback.is_some() {
        write_paragraph(out, FEEDBACK_NOTE, width)?;
    }
    write_paragraph(out, &answer_alone(found), width)?;
    changes_in_words(found).iter().try_for_each(|change| write_paragraph(out, change, width))?;
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
    let present = found.candidates[0].runs();
    let of_years = ["better in", "guards broken in"].into_iter().filter(|_| present.is_another_year());
    table.headings(["candidate", objective.name, "gain", "longest wait", "users who lose"].into_iter().chain(of_years));
    let [figure, longest] = [objective, &WAIT_MAX].map(|column| with_interval(column.shown, present.base_mean(column)));
    let name = format!("{} (present)", found.question.present.pair());
    let mut row = vec![name, figure, String::new(), longest, String::new()];
    row.resize(if present.is_another_year() { 7 } else { 5 }, String::new());
    table.push(row);
    // With resamples, those that ran on them.
    let is_shown = |one: &&CandidateRuns| one.runs().is_another_year() == present.is_another_year();
    for candidate in found.candidates.iter().filter(is_shown) {
        let (CandidateRuns { setting, broken, .. }, runs) = (candidate, &candidate.runs());
        let [figure, longest] = [objective, &WAIT_MAX].map(|column| with_interval(column.shown, runs.mean(column)));
        let losers = shown(USERS_LOSE.shown, runs.mean(&USERS_LOSE).mean);
        let out = if broken.is_empty() { String::new() } else { format!(" (out: {})", broken.join(", ")) };
        let [name, figure, longest, losers] = [setting.pair() + &out, figure, longest, losers].map(TableCell::from);
        let mut row = vec![name, figure, gain_cell(objective, runs), longest, losers];
        if present.is_another_year() {
            let better = runs.year_gain(objective).map(|gain| format!("{} of {}", gain.better, gain.of));
            let broken = candidate.broken_in_words().join(", ");
            row.extend([better.unwrap_or_default(), broken].map(TableCell::from));
        }
        table.push(row);
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

/// The answer, headed by a warning if the simulation does not know the site, and what changes of the site would bring.
pub fn answer_in_words(found: &Recommendation) -> String {
    [answer_alone(found)].into_iter().chain(changes_in_words(found)).collect::<Vec<_>>().join(" ")
}

fn answer_alone(found: &Recommendation) -> String {
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
            let all = found.competitors().count();
            let out = |guard: &Guard| {
                let breaks = |one: &&CandidateRuns| one.broken.contains(&guard.to_string());
                format!("{guard} by {} of {all}", found.competitors().filter(breaks).count())
            };
            let guards: Vec<String> = found.question.guards.iter().map(out).collect();
            let who = match (found.question.years, all) {
                (None, _) => "every candidate breaks a guard",
                (Some(_), 0) => "every candidate is far over a guard",
                (Some(_), _) => "every candidate that ran on resamples breaks a guard",
            };
            let counts = if all > 0 { format!(" ({})", guards.join(", ")) } else { String::new() };
            return format!(
                "Keep what you have: {who} on the first part of the log{counts}. Wider limits or other candidates would give a choice."
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
            let years = in_other_years(&found.candidates[0], objective);
            format!(
                "Use {winner}: its {} goes from {before} to {after} ({percent}, more than chance), compared with {present}, \
                 and the price is: {price}.{years}",
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

/// How the winner did on resamples of the first part of the log. Empty if it ran on none.
fn in_other_years(winner: &CandidateRuns, objective: &Column) -> String {
    let Some(gain) = winner.runs().year_gain(objective) else { return String::new() };
    let broken = match &winner.broken_in_words()[..] {
        [] => "no guard was broken in any".to_string(),
        broken => format!("guards were broken in some: {}", broken.join(", ")),
    };
    let interval = match (gain.low, gain.high) {
        (Some(low), Some(high)) => format!(", for another year {} to {}", signed_percent(low), signed_percent(high)),
        _ => String::new(),
    };
    format!(
        " In {} of {} resamples of the first part it was better ({}{interval}); {broken}.",
        gain.better,
        gain.of,
        signed_percent(gain.percent)
    )
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
            key "part" "choose: the first part of the log; judge: the rest, which has a row of the winner and of each change" row.part;
        }),
        Vec::from(column_list! {
            |row: CandidateRow<'a>|
            text "broken_guards" "the guards that it breaks, with blanks between them" row.candidate.broken.join(" ");
            text "broken_in" "of how many resamples it breaks each guard: wait_max=1.5x:3/20, with blanks between them; empty if it ran on none" row.candidate.broken_in_words().join(" ");
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
    let changes = &found.changes.changes;
    let all = changes.iter().flat_map(|change| [&change.chosen, &change.judged]);
    let given: Given = found.candidates.iter().chain(&found.judged).chain(all).map(|one| one.runs().given()).collect();
    let row = |part, candidate| {
        let row = CandidateRow { part, candidate, answer, site };
        let [before, after] = columns.each_ref().map(|columns| cells(columns, &row, Given::default()));
        [before, row.candidate.runs().cells(given, &row.candidate.rows[0].label.options), after].concat()
    };
    let candidates = found.candidates.iter().map(|one| row("choose", one));
    let candidates = candidates.chain(found.judged.iter().map(|judged| row("judge", judged)));
    let of_changes = changes.iter().flat_map(|change| [row("choose", &change.chosen), row("judge", &change.judged)]);
    with_all_columns(candidates.chain(of_changes).collect())
}

/// Rows of runs on resamples and on shaken copies have different columns: each gets all of them, those of the first rows first.
fn with_all_columns(rows: Vec<Cells>) -> Vec<Cells> {
    let mut names: Vec<String> = Vec::new();
    for row in &rows {
        // A column comes behind the one that is before it in its row.
        let mut place = 0;
        for (name, _) in row {
            match names.iter().position(|other| other == name) {
                Some(found) => place = found + 1,
                None => {
                    names.insert(place, name.clone());
                    place += 1;
                }
            }
        }
    }
    let cell = |row: &Cells, name: &String| {
        row.iter().find(|(own, _)| own == name).map_or(Cell::None, |(_, cell)| cell.clone())
    };
    rows.iter().map(|row| names.iter().map(|name| (name.clone(), cell(row, name))).collect()).collect()
}

impl CandidateRuns {
    /// The guards that it breaks in some resamples: `wait_max=1.5x:3/20`.
    fn broken_in_words(&self) -> Vec<String> {
        let of = self.runs().drawn().len();
        let broken = self.broken_in.iter().filter(|(_, times)| *times > 0);
        broken.map(|(guard, times)| format!("{guard}:{times}/{of}")).collect()
    }
}
