//! The workloads of UB's Slurm simulator: a line `-dt SECONDS -e submit_batch_job | OPTIONS pseudo.job` per submission, with
//! options of `sbatch`. It says how long jobs run, but not when they started.

use super::slurm::duration;
use super::{FormatEntry, keys};
use crate::time::{FOREVER, MINUTE, Seconds, Time};
use crate::trace::conditions::{WrittenConditions, set_condition};
use crate::trace::error::FaultKind;
use crate::trace::number;
use crate::trace::requests::{REQUEST_FIELDS, SbatchAsked, split_quoted, unquoted};
use crate::trace::rows::{Bad, Collector, JobInRow, Unit};
use crate::tres::joined;

pub const FORMAT: FormatEntry = FormatEntry {
    name: "events",
    about: "the submissions of UB's Slurm simulator (.events), with options of sbatch; no waits",
    has_dates: false,
    is_line,
    read: |raw, collector| {
        collector.conditions.needs_ids = true;
        collector.read_lines(raw, |line, collector| match line.trim_ascii_start().first() {
            Some(b'#') => Ok(()),
            _ => row(line, collector),
        })
    },
    keys: &[keys::unit(&UNITS), keys::SUBMIT_TIME, keys::PARTITION_LIMIT],
    ..FormatEntry::ACCOUNTING
};

const UNITS: [&str; 1 + Unit::DEVICES.len()] = joined(["cpus"], Unit::DEVICE_NAMES, []);

const FORM: FaultKind = FaultKind::NotARow { expected: "-dt SECONDS -e submit_batch_job | OPTIONS pseudo.job" };
const OPEN_QUOTE: FaultKind = FaultKind::NotARow { expected: "options in closed quotes" };

/// The options that are read after those of a request, with their letters.
const OTHERS: [(&str, &str); 9] = [
    ("", "--gres"),
    ("-t", "--time"),
    ("-J", "--job-name"),
    ("", "--uid"),
    ("-d", "--dependency"),
    ("-H", "--hold"),
    // Of the simulator.
    ("", "-sim-walltime"),
    ("", "-jid"),
    ("", "-cancel-in"),
];
const COUNT: usize = REQUEST_FIELDS.len() + OTHERS.len();

/// Options without an effect on when and where a job runs.
const IGNORED: [(&str, &str); 20] = [
    ("-o", "--output"),
    ("-e", "--error"),
    ("-i", "--input"),
    ("-D", "--chdir"),
    ("", "--comment"),
    ("", "--export"),
    ("", "--gid"),
    ("", "--mail-type"),
    ("", "--mail-user"),
    ("", "--open-mode"),
    ("", "--signal"),
    ("", "--wckey"),
    ("", "--wrap"),
    ("-Q", "--quiet"),
    ("-v", "--verbose"),
    ("-W", "--wait"),
    ("", "--parsable"),
    ("", "--requeue"),
    ("", "--no-requeue"),
    ("", "--get-user-env"),
];

/// The options after which the next word is not their value.
const WITHOUT_VALUE: [&str; 10] = [
    "--exclusive",
    "--nice",
    "--hold",
    "--quiet",
    "--verbose",
    "--wait",
    "--parsable",
    "--requeue",
    "--no-requeue",
    "--get-user-env",
];

/// Whether a line begins as an event does and has options.
fn is_line(line: &[u8]) -> bool {
    let first = line.trim_ascii_start().split(u8::is_ascii_whitespace).next();
    matches!(first, Some(b"-dt" | b"-e")) && line.contains(&b'|')
}

fn row<'r>(line: &'r [u8], collector: &mut Collector<'_>) -> Result<(), Bad<'r>> {
    let Some(bar) = memchr::memchr(b'|', line) else { return Err(Bad { kind: FORM, at: line }) };
    let submit = submit_time(&line[..bar])?;
    let values = options(&line[bar + 1..])?;
    let [fields @ .., gres, time, name, user, after, hold, walltime, id, cancel_in] = values;
    if !cancel_in.is_empty() {
        return Err(Bad::value(cancel_in, "-cancel-in", "is not simulated: jobs are not cancelled"));
    }
    let asked = SbatchAsked { values: fields, gres };
    let request = asked.request()?;
    let unit = collector.options.reading.unit;
    let procs = match unit {
        _ if Unit::DEVICES.contains(&unit) => i64::try_from(request.all_of(unit)).unwrap_or(i64::MAX),
        _ => i64::from(request.cpus),
    };
    if procs == 0 {
        return collector.drop_without_device(unit);
    }
    let [partition, qos, account] = ["partition", "qos", "account"].map(|field| asked.value(field));
    let estimate = time_limit(time)?.or_else(|| collector.limit_of_partition(partition));
    let (run, is_killed) = match run_time(walltime)? {
        Some(run) => (run, false),
        None => (estimate.ok_or(Bad::value(line, "-t", "is missing, and the job runs until its limit"))?, true),
    };
    let id = if id.is_empty() { id_of_name(name) } else { id };
    let mut conditions = WrittenConditions::default();
    for (field, option, value) in [("after", "--dependency", after), ("hold", "--hold", hold)] {
        let wrong = |wrong| Bad::value(value, option, wrong);
        set_condition(&mut conditions, field, value, wrong, |_| Err(wrong("has a value that is not read")))?;
    }
    collector.conditions.of_row = (conditions != WrittenConditions::default()).then_some(conditions);
    let job = JobInRow {
        id,
        submit,
        // There are no starts.
        start: Some(submit),
        wait_unknown: true,
        end: Some(submit + run),
        allocated: procs,
        requested: procs,
        estimate,
        names: [user, account, name, qos, partition],
        // As a job of sacct with the state TIMEOUT.
        status: if is_killed { 0 } else { -1 },
        request: collector.requests.of_request(request),
        ..JobInRow::default()
    };
    collector.job(line, &job)
}

/// When the event is, in whole seconds from the start of the simulation. `head` is the part before the bar.
fn submit_time(head: &[u8]) -> Result<Time, Bad<'_>> {
    let (mut time, mut event) = (None, None);
    let words = split(head)?;
    for pair in words.chunks(2) {
        match *pair {
            [b"-dt", value] => time = Some(value),
            [b"-e", value] => event = Some(value),
            [other, ..] => return Err(Bad { kind: FORM, at: other }),
            [] => {}
        }
    }
    let event = event.ok_or(Bad { kind: FORM, at: head })?;
    if event != b"submit_batch_job" {
        return Err(Bad::value(event, "the event", "is not submit_batch_job, the only one that is read"));
    }
    let text = time.ok_or(Bad { kind: FORM, at: head })?;
    let seconds: Option<f64> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    let seconds = seconds.filter(|seconds| (0.0..=FOREVER as f64).contains(seconds));
    seconds.map(|seconds| seconds as Time).ok_or(Bad::value(text, "-dt", "is not a number of seconds from 0 on"))
}

fn split(text: &[u8]) -> Result<Vec<&[u8]>, Bad<'_>> {
    split_quoted(text).map_err(|at| Bad { kind: OPEN_QUOTE, at })
}

/// The values of the options of a submission, in the order of [`REQUEST_FIELDS`] and [`OTHERS`]. The last one counts, as for
/// sbatch. An option without a value has `yes`.
fn options(text: &[u8]) -> Result<[&[u8]; COUNT], Bad<'_>> {
    let mut values = [&b""[..]; COUNT];
    let words = split(text)?;
    let mut words = words.into_iter();
    while let Some(word) = words.next().map(unquoted) {
        if !word.starts_with(b"-") {
            // The script. What follows are its own arguments.
            break;
        }
        let of_request = || REQUEST_FIELDS.iter().map(|field| &field.option);
        let all = || of_request().chain(&OTHERS).chain(&IGNORED).enumerate();
        // A letter may have its value right after it. The words of the simulator have one dash too, so they come first.
        let by_word = all().find_map(|(at, (_, name))| {
            let rest = word.strip_prefix(name.as_bytes())?;
            (rest.is_empty() || rest[0] == b'=').then(|| (at, *name, rest.get(1..)))
        });
        let by_letter = || {
            let is_letter = |letter: &str| !letter.is_empty() && word.starts_with(letter.as_bytes());
            let (at, (_, name)) = all().find(|(_, (letter, _))| is_letter(letter))?;
            Some((at, *name, Some(&word[2..]).filter(|value| !value.is_empty())))
        };
        let (at, name, value) =
            by_word.or_else(by_letter).ok_or(Bad::value(word, "the option", "is not read: see `sim help logs`"))?;
        let value = match value {
            Some(value) => value,
            None if WITHOUT_VALUE.contains(&name) => b"yes",
            None => words.next().ok_or(Bad::value(word, "the option", "has no value"))?,
        };
        if let Some(kept) = values.get_mut(at) {
            *kept = unquoted(value);
        }
    }
    Ok(values)
}

/// The limit of `-t`, which Slurm rounds up to minutes. A number alone is minutes. None if there is none.
fn time_limit(text: &[u8]) -> Result<Option<Seconds>, Bad<'_>> {
    if text.eq_ignore_ascii_case(b"infinite") || text == b"-1" {
        return Ok(None);
    }
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let limit = match number::parse(text) {
        Ok(minutes) if is_number => Some(minutes.rounded.saturating_mul(MINUTE)),
        _ => duration(text, "-t")?.map(|limit| limit + (MINUTE - limit % MINUTE) % MINUTE),
    };
    match limit {
        Some(limit) if limit > FOREVER => Err(Bad::value(text, "-t", "is too long")),
        limit => Ok(limit.filter(|&limit| limit > 0)),
    }
}

/// The run time. None if the job runs until its limit: the option is missing, 0 or negative.
fn run_time(text: &[u8]) -> Result<Option<Seconds>, Bad<'_>> {
    if text.is_empty() {
        return Ok(None);
    }
    match number::parse(text) {
        Ok(number) if number.sign <= 0 => Ok(None),
        Ok(number) if number.rounded <= FOREVER => Ok(Some(number.rounded)),
        _ => Err(Bad::value(text, "-sim-walltime", "is not a number of seconds")),
    }
}

/// The id of a job with a name such as `jobid_00012`: `12`. Empty if the name is another one.
fn id_of_name(name: &[u8]) -> &[u8] {
    let digits =
        name.strip_prefix(b"jobid_").filter(|digits| digits.iter().all(u8::is_ascii_digit)).unwrap_or_default();
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros.min(digits.len().saturating_sub(1))..]
}
