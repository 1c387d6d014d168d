//! Reads outages: csv of our own, and what `sacctmgr show event -P`, `sacctmgr show reservation -P` and
//! `scontrol show reservation` print.

use std::path::Path;
use std::sync::Arc;

use super::OutageKind;
use crate::settings_file::{MOST_OF_GRID, ReadOnce, read_text};
use crate::text::shortened;
use crate::time::{FOREVER, Time, parse_date_time};

/// A time as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageTime {
    /// On the scale of the log's submit times.
    OfLog(Time),
    /// A date with its time zone, as a Unix time.
    Unix(Time),
    /// A date on the clock of the log, as a Unix time of that clock.
    Local(Time),
}

/// A row of a file, with its nodes and times as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutageRow {
    /// `FILE:LINE`.
    pub place: String,
    /// When it begins.
    pub start: OutageTime,
    /// When it is over; None is never.
    pub end: Option<OutageTime>,
    /// When it was announced. None: with its start, or, if `is_of_slurm`, so early that no job reached into it.
    pub announced: Option<OutageTime>,
    /// What it does.
    pub kind: OutageKind,
    /// A list of nodes, or empty.
    pub nodes: String,
    /// `all`, a number, or empty.
    pub procs: String,
    /// The users and accounts whose it is.
    pub members: Vec<String>,
    /// Its name, or empty.
    pub name: String,
    /// Whether it is a reservation of Slurm, which lets no job reach into one.
    pub is_of_slurm: bool,
    /// Its flags that are not simulated, such as `FLEX`.
    pub unused: Vec<String>,
}

/// The files of an option `--outages`.
#[derive(Debug, PartialEq, Eq)]
pub struct OutageFile {
    /// As it was given: one file, or several with commas between them.
    pub files: String,
    /// All rows.
    pub rows: Vec<OutageRow>,
}

/// Flags of reservations that are simulated, or that say only how their nodes were chosen and when they come again.
const SIMULATED_FLAGS: [&str; 14] = [
    "",
    "MAINT",
    "IGNORE_JOBS",
    "IGNORE_RUNNING",
    "SPEC_NODES",
    "ALL_NODES",
    "PART_NODES",
    "FIRST_CORES",
    "ANY_NODES",
    "HOURLY",
    "DAILY",
    "WEEKLY",
    "WEEKDAY",
    "WEEKEND",
];

/// The columns of our own.
const COLUMNS: [&str; 9] = ["start", "end", "nodes", "procs", "announced", "kind", "for", "name", "note"];

impl OutageFile {
    /// Reads files, each once by a process.
    ///
    /// # Errors
    /// If a file cannot be read or is faulty. The message names the file and the line.
    pub fn read(files: &str) -> Result<Arc<OutageFile>, String> {
        static READ: ReadOnce<OutageFile> = ReadOnce::new();
        READ.get(files, || {
            let mut rows = Vec::new();
            for file in files.split(',') {
                rows.extend(read_rows(file, &read_text(Path::new(file), MOST_OF_GRID)?)?);
            }
            Ok(OutageFile { files: files.to_string(), rows })
        })
    }

    /// Reads one text; its rows are named with this file.
    ///
    /// # Errors
    /// If it is faulty.
    pub fn parse(file: &str, text: &str) -> Result<OutageFile, String> {
        Ok(OutageFile { files: file.to_string(), rows: read_rows(file, text)? })
    }
}

/// A table of which the columns are found by their names.
struct OutageTable<'a> {
    names: Vec<String>,
    cells: &'a csv::StringRecord,
    place: String,
}

impl OutageTable<'_> {
    /// The first column with one of these names. Empty if there is none.
    fn get(&self, names: &[&str]) -> &str {
        let at = self.names.iter().position(|own| names.contains(&own.as_str()));
        at.and_then(|at| self.cells.get(at)).unwrap_or("").trim()
    }

    fn wrong(&self, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.place)
    }

    /// A time; None if the cell is empty or says that there is none.
    fn time(&self, names: &[&str]) -> Result<Option<OutageTime>, String> {
        let text = self.get(names);
        if ["", "Unknown", "None", "N/A"].contains(&text) {
            return Ok(None);
        }
        if let Ok(seconds) = text.parse::<Time>() {
            let is_time = seconds.abs() < FOREVER;
            return is_time
                .then_some(Some(OutageTime::OfLog(seconds)))
                .ok_or_else(|| self.wrong("the time is too far away"));
        }
        let is_zone = |rest: &str| rest.is_empty() || rest.starts_with(['Z', 'z', '+', '-']);
        let whole = match text.split_at_checked(16) {
            // Without seconds.
            Some((minutes, rest)) if is_zone(rest) => format!("{minutes}:00{rest}"),
            None if text.len() == 10 => format!("{text}T00:00:00"),
            _ => text.to_string(),
        };
        let wrong = || {
            self.wrong(format_args!(
                "'{}' is neither a number of seconds nor a date such as 2026-12-01T08:00:00+01:00",
                shortened(text)
            ))
        };
        let time = parse_date_time(whole.as_bytes()).ok_or_else(wrong)?;
        let has_zone = whole.len() > 19 && whole[19..].contains(['Z', 'z', '+', '-']);
        Ok(Some(if has_zone { OutageTime::Unix(time) } else { OutageTime::Local(time) }))
    }

    fn row(&self, kind: OutageKind) -> Result<OutageRow, String> {
        let start = self.time(&["start", "timestart"])?.ok_or_else(|| self.wrong("it has no start"))?;
        Ok(OutageRow {
            place: self.place.clone(),
            start,
            end: self.time(&["end", "timeend"])?,
            announced: self.time(&["announced"])?,
            kind,
            nodes: self.get(&["nodes", "nodename", "nodenames", "nodelist"]).to_string(),
            procs: self.get(&["procs"]).to_string(),
            members: self.get(&["for"]).split_whitespace().map(str::to_string).collect(),
            name: self.get(&["name"]).to_string(),
            is_of_slurm: false,
            unused: Vec::new(),
        })
    }

    fn own(&self) -> Result<OutageRow, String> {
        let word = match self.get(&["kind"]) {
            "" => "down",
            word => word,
        };
        let kind = OutageKind::ALL.into_iter().find(|kind| kind.name() == word);
        let names = OutageKind::ALL.map(OutageKind::name).join(", ");
        self.row(kind.ok_or_else(|| self.wrong(format_args!("the kind '{}' is not one of {names}", shortened(word))))?)
    }

    /// A row of `sacctmgr show event`. One without a node is about the whole cluster, and is no outage.
    fn event(&self) -> Result<Option<OutageRow>, String> {
        if self.get(&["nodename"]).is_empty() {
            return Ok(None);
        }
        let is_down = self.get(&["state"]).to_ascii_uppercase().contains("DOWN");
        self.row(if is_down { OutageKind::Down } else { OutageKind::Drain }).map(Some)
    }

    /// A row of `sacctmgr show reservation`.
    fn reservation(&self) -> Result<OutageRow, String> {
        let is_maintenance = self.get(&["flags"]).split(',').any(|flag| flag.trim().eq_ignore_ascii_case("MAINT"));
        let row = self.row(if is_maintenance { OutageKind::Maintenance } else { OutageKind::Reserved })?;
        if row.nodes.is_empty() {
            return Err(self.wrong(
                "it does not say which nodes: write 'sacctmgr show reservation -P format=Name,Start,End,Flags,NodeNames'",
            ));
        }
        // Slurm writes -NAME for those who may not use it. A maintenance has users too, such as root, and runs none of the log's jobs.
        let words = ["users", "accounts"].map(|column| self.get(&[column]).split(','));
        let words =
            words.into_iter().flatten().filter(|word| !word.is_empty() && !word.starts_with('-') && !is_maintenance);
        let flags = self.get(&["flags"]).split(',').map(|flag| flag.trim().to_ascii_uppercase());
        let unused = flags.filter(|flag| !SIMULATED_FLAGS.contains(&flag.as_str()));
        Ok(OutageRow {
            members: words.map(str::to_string).collect(),
            is_of_slurm: true,
            unused: unused.collect(),
            ..row
        })
    }
}

/// What `scontrol show reservation` prints, with `-o` or without: words `Key=Value`, of which the first of a reservation is its
/// name. A reservation without nodes is one of licences, and is no outage.
fn read_scontrol(file: &str, text: &str) -> Result<Vec<OutageRow>, String> {
    let mut reservations: Vec<(usize, Vec<String>, csv::StringRecord)> = Vec::new();
    for (line, word) in
        (1..).zip(text.lines()).flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)))
    {
        let Some((key, value)) = word.split_once('=') else { continue };
        let name = match key {
            "ReservationName" => "name".to_string(),
            "StartTime" => "start".to_string(),
            "EndTime" => "end".to_string(),
            _ => key.to_ascii_lowercase(),
        };
        if name == "name" {
            reservations.push((line, Vec::new(), csv::StringRecord::new()));
        }
        if let Some((_, names, cells)) = reservations.last_mut() {
            names.push(name);
            cells.push_field(if value == "(null)" { "" } else { value });
        }
    }
    let tables = reservations.iter().map(|(line, names, cells)| OutageTable {
        names: names.clone(),
        cells,
        place: format!("{file}:{line}"),
    });
    tables.filter(|table| !table.get(&["nodes"]).is_empty()).map(|table| table.reservation()).collect()
}

fn read_rows(file: &str, text: &str) -> Result<Vec<OutageRow>, String> {
    if ["ReservationName=", "No reservations in the system"].iter().any(|begin| text.trim_start().starts_with(begin)) {
        return read_scontrol(file, text);
    }
    let is_of_slurm = text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.contains('|'));
    let mut reader = csv::ReaderBuilder::new();
    reader.flexible(true).has_headers(true);
    if is_of_slurm {
        reader.delimiter(b'|').quoting(false);
    }
    let mut reader = reader.from_reader(text.as_bytes());
    let failed = |error: csv::Error| format!("{file}: {error}");
    let names: Vec<String> =
        reader.headers().map_err(failed)?.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
    let has = |name: &str| names.iter().any(|own| own == name);
    let unknown = names.iter().find(|name| !COLUMNS.contains(&name.as_str()) && !name.is_empty());
    if !is_of_slurm && let Some(unknown) = unknown {
        return Err(format!("{file}:1: the column '{}' is not one of {}", shortened(unknown), COLUMNS.join(", ")));
    }
    if !has("start") && !has("timestart") {
        return Err(format!(
            "{file}:1: no column start: outages are csv with a header, or what 'sacctmgr show event -P', \
             'sacctmgr show reservation -P' or 'scontrol show reservation' prints (see `sim help machines`)"
        ));
    }
    let mut rows = Vec::new();
    for cells in reader.records() {
        let cells = cells.map_err(failed)?;
        let place = format!("{file}:{}", cells.position().map_or(0, csv::Position::line));
        let table = OutageTable { names: names.clone(), cells: &cells, place };
        match (is_of_slurm, has("state")) {
            (false, _) => rows.push(table.own()?),
            (true, true) => rows.extend(table.event()?),
            (true, false) => rows.push(table.reservation()?),
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds_of_files_are_told_by_their_content() {
        let own = "name, kind ,procs,end,start,for,announced\nlab,reserved,2,20,10,ann physics,0\n,,all,,2026-12-01T08:00+01:00,,\n";
        let rows = OutageFile::parse("o.csv", own).unwrap().rows;
        assert_eq!((rows[0].start, rows[0].end), (OutageTime::OfLog(10), Some(OutageTime::OfLog(20))));
        assert_eq!((rows[0].kind, rows[0].members.len(), rows[0].name.as_str()), (OutageKind::Reserved, 2, "lab"));
        assert_eq!((rows[1].kind, rows[1].end, rows[1].place.as_str()), (OutageKind::Down, None, "o.csv:3"));
        let events = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\nc||2026-01-01T00:00:00|Unknown|||\n\
                      c|n1|2026-01-02T00:00:00|2026-01-02T01:00:00|DOWN*|x, y|root(0)\nc|n2|2026-01-02T00:00:00|Unknown|IDLE+DRAIN||\n";
        let rows = OutageFile::parse("e", events).unwrap().rows;
        let seen: Vec<_> = rows.iter().map(|row| (row.kind, row.nodes.as_str(), row.end.is_some())).collect();
        assert_eq!(seen, [(OutageKind::Down, "n1", true), (OutageKind::Drain, "n2", false)]);
        let reservations = "Name|TimeStart|TimeEnd|Flags|NodeNames\nlab|2026-01-02T00:00:00|2026-01-03T00:00:00||n[1-2]\n\
                            service|2026-01-02T00:00:00|2026-01-03T00:00:00|MAINT,IGNORE_JOBS|n3\n";
        let rows = OutageFile::parse("r", reservations).unwrap().rows;
        assert_eq!((rows[0].kind, rows[1].kind), (OutageKind::Reserved, OutageKind::Maintenance));
        assert!(rows.iter().all(|row| row.is_of_slurm && matches!(row.start, OutageTime::Local(_))));
    }

    /// As Slurm 22.05 prints it; without -o each is on several lines.
    #[test]
    fn reservations_of_scontrol_have_users_or_accounts() {
        let maintenance = "ReservationName=service StartTime=2026-12-01T08:00:00 EndTime=2026-12-01T20:00:00 Duration=12:00:00 Nodes=n[1-4] NodeCnt=4 CoreCnt=16 Features=(null) PartitionName=(null) Flags=MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES TRES=cpu=16 Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n";
        let course = "ReservationName=course StartTime=2026-12-02T08:00:00 EndTime=2026-12-02T10:00:00 Duration=02:00:00\n   Nodes=n1 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=debug Flags=SPEC_NODES\n   Users=ann,-bob Groups=(null) Accounts=physics Licenses=(null) State=INACTIVE\n\n";
        let licences = "ReservationName=lic StartTime=2026-12-02T08:00:00 EndTime=2026-12-02T10:00:00 Nodes=(null) Licenses=matlab:2\n";
        let rows = OutageFile::parse("r", &format!("{maintenance}{course}{licences}")).unwrap().rows;
        let seen: Vec<_> = rows.iter().map(|row| (row.kind, &*row.name, &*row.nodes, &*row.place)).collect();
        let expected =
            [(OutageKind::Maintenance, "service", "n[1-4]", "r:1"), (OutageKind::Reserved, "course", "n1", "r:2")];
        assert_eq!(seen, expected);
        assert_eq!((&*rows[1].members, rows[1].is_of_slurm), (&["ann".to_string(), "physics".to_string()][..], true));
        assert!(
            rows.iter().all(|row| matches!((row.start, row.end), (OutageTime::Local(_), Some(OutageTime::Local(_)))))
        );
        assert_eq!(OutageFile::parse("r", "No reservations in the system\n").unwrap().rows, []);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, why) in [
            ("start,end\n5x,6\n", "o:2: '5x' is neither"),
            ("start,kind\n5,broken\n", "o:2: the kind 'broken' is not one of down, drain, maintenance, reserved"),
            ("begin,end\n5,6\n", "o:1: the column 'begin' is not one of start, end,"),
            ("end\n6\n", "o:1: no column start"),
            ("start,end\n1,2\n,6\n", "o:3: it has no start"),
            ("Name|TimeStart|TimeEnd\na|2026-01-02T00:00:00|\n", "o:2: it does not say which nodes"),
        ] {
            let error = OutageFile::parse("o", text).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
