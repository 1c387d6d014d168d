//! What `sacctmgr show assoc -P` and `sacctmgr show qos -P` print: a header, then rows, with `|` between columns.

use std::collections::BTreeSet;

use super::super::conf::{ConfError, FileLine, Ignored};
use super::limits::{LimitForm, LimitOwner};
use super::{Account, Association, Associations, QualityOfService, ROOT, User};
use crate::text::{counted, shortened};

/// A row with the names of its columns.
struct DumpRow<'a> {
    place: FileLine,
    cells: Vec<(&'a str, &'a str)>,
}

impl<'a> DumpRow<'a> {
    /// `sacctmgr -p` ends each line with a `|`.
    fn of(columns: &[&'a str], is_closed: bool, (line, text): (usize, &'a str)) -> Result<DumpRow<'a>, ConfError> {
        let place = FileLine::of_line(line);
        let text = text.strip_suffix('|').filter(|_| is_closed).unwrap_or(text);
        let cells: Vec<&str> = text.split('|').collect();
        match cells.len() == columns.len() {
            true => Ok(DumpRow { place, cells: columns.iter().copied().zip(cells).collect() }),
            false => {
                let (cells, columns) = (counted(cells.len() as u64, "cell"), counted(columns.len() as u64, "column"));
                Err(place.wrong(format!("{cells}; the header has {columns}")))
            }
        }
    }

    /// The cell of the first of these columns that there is, without blanks around it. Empty if it is not there.
    fn cell(&self, names: &[&str]) -> &'a str {
        self.raw(names).trim()
    }

    fn raw(&self, names: &[&str]) -> &'a str {
        let is = |column: &str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
        self.cells.iter().find(|(column, _)| is(column)).map_or("", |(_, cell)| cell)
    }
}

/// Adds the rows of a dump.
pub(super) fn add(associations: &mut Associations, text: &str) -> Result<Vec<Ignored>, ConfError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (line, header) = lines.next().expect("a dump has a header");
    let place = FileLine::of_line(line);
    let columns: Vec<&str> = header.strip_suffix('|').unwrap_or(header).split('|').map(str::trim).collect();
    let has = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let mut ignored = Vec::new();
    let is_qos = match (has("Account"), has("Name")) {
        (true, _) => false,
        (_, true) => true,
        _ => {
            return Err(place.wrong(format!(
                "neither a column Account nor a column Name in '{}': give the output of 'sacctmgr show assoc -P' or 'sacctmgr show qos -P'",
                shortened(header)
            )));
        }
    };
    let owner = if is_qos { LimitOwner::Qos } else { LimitOwner::Association };
    note_columns(&columns, owner, &place, &mut ignored);
    let mut reader = DumpReader { associations, above: Vec::new(), seen: BTreeSet::new(), ignored: &mut ignored };
    for line in lines {
        let row = DumpRow::of(&columns, header.ends_with('|'), line)?;
        if is_qos { reader.add_qos(&row)? } else { reader.add_association(&row)? }
    }
    let here = |count: usize| vec![place.clone(); count];
    associations.check(&here(associations.accounts.len()), &here(associations.users.len()))?;
    Ok(ignored)
}

/// Notes the columns that are not used.
fn note_columns(columns: &[&str], owner: LimitOwner, place: &FileLine, ignored: &mut Vec<Ignored>) {
    let used: &[&str] = match owner {
        LimitOwner::Qos => &["Name", "Priority", "UsageFactor", "Flags"],
        LimitOwner::Association => &[
            "Account",
            "User",
            "Share",
            "Fairshare",
            "QOS",
            "Def QOS",
            "DefaultQOS",
            "Partition",
            "Par Name",
            "ParentName",
        ],
    };
    let harmless = ["Cluster", "ID", "ParentID", "Par ID", "LFT", "RGT", "Description", "Descr", "Lineage"];
    for column in columns.iter().filter(|column| !column.is_empty()) {
        let is_in = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(column));
        if !is_in(used) && LimitForm::of_slurm(column, owner).is_none() {
            let matters = !is_in(&harmless);
            ignored.push(Ignored { place: place.clone(), name: format!("the column {}", shortened(column)), matters });
        }
    }
}

struct DumpReader<'a> {
    associations: &'a mut Associations,
    /// The accounts above the next row of a tree, with their indentations.
    above: Vec<(usize, String)>,
    /// The users of the rows before.
    seen: BTreeSet<String>,
    ignored: &'a mut Vec<Ignored>,
}

impl DumpReader<'_> {
    fn add_qos(&mut self, row: &DumpRow) -> Result<(), ConfError> {
        let mut qos = QualityOfService::new(row.cell(&["Name"]));
        let wrong = |why: String| row.place.wrong(why);
        if qos.name.is_empty() {
            return Err(wrong("a quality of service without a name".to_string()));
        }
        if self.associations.qos.iter().any(|other| other.name == qos.name) {
            return Err(wrong(format!("the QOS '{}' is there twice", shortened(&qos.name))));
        }
        qos.priority = number(row.cell(&["Priority"])).map_err(wrong)?.unwrap_or(0);
        qos.usage_factor = super::setting::factor(row.cell(&["UsageFactor"])).map_err(wrong)?;
        for flag in row.cell(&["Flags"]).split(',').filter(|flag| !flag.is_empty()) {
            match flag.eq_ignore_ascii_case("DenyOnLimit") {
                true => qos.deny_on_limit = true,
                false => self.ignored.push(Ignored::of_machine(&row.place, format!("Flags={}", shortened(flag)))),
            }
        }
        self.set_limits(row, LimitOwner::Qos, &mut qos.limits)?;
        self.associations.qos.push(qos);
        Ok(())
    }

    fn set_limits(&mut self, row: &DumpRow, owner: LimitOwner, limits: &mut super::Limits) -> Result<(), ConfError> {
        for (column, cell) in &row.cells {
            if let Some(form) = LimitForm::of_slurm(column, owner) {
                let wrong = |why: String| row.place.wrong(format!("{column}: {why}"));
                let others = form.set_from_slurm(limits, cell.trim()).map_err(wrong)?;
                let ignored =
                    |other: String| Ignored::of_machine(&row.place, format!("{column} {}", shortened(&other)));
                self.ignored.extend(others.into_iter().map(ignored));
            }
        }
        Ok(())
    }

    fn add_association(&mut self, row: &DumpRow) -> Result<(), ConfError> {
        let wrong = |why: String| row.place.wrong(why);
        let (name, user) = (row.cell(&["Account"]), row.cell(&["User"]));
        if name.is_empty() {
            return Err(wrong("a row without an account".to_string()));
        }
        let partition = row.cell(&["Partition"]);
        if !partition.is_empty() {
            let what = format!("the row of {} in the partition {}", shortened(user), shortened(partition));
            self.ignored.push(Ignored::of_machine(&row.place, what));
            return Ok(());
        }
        let mut own = Association {
            shares: shares(row.cell(&["Share", "Fairshare"])).map_err(wrong)?,
            qos: listed(row.cell(&["QOS"])),
            default_qos: row.cell(&["Def QOS", "DefaultQOS"]).to_string(),
            ..Association::default()
        };
        self.set_limits(row, LimitOwner::Association, &mut own.limits)?;
        let (name, user) = (name.to_string(), user.to_string());
        if user.is_empty() {
            // Slurm lists the root; it is above itself here.
            let parent = self.parent_of(row);
            self.associations.accounts.push(Account { name, parent, own });
        } else {
            // Which account is the default is not said here: the first one.
            let is_default = self.seen.insert(user.clone());
            self.associations.users.push(User { name: user, account: name, is_default, own });
        }
        Ok(())
    }

    /// The account above that of a row: in a column of its own, or by the indentation of a tree.
    fn parent_of(&mut self, row: &DumpRow) -> String {
        let (raw, named) = (row.raw(&["Account"]), row.cell(&["Par Name", "ParentName"]));
        let indentation = raw.len() - raw.trim_start().len();
        self.above.retain(|(other, _)| *other < indentation);
        let above = self.above.last().map_or(ROOT, |(_, name)| name).to_string();
        self.above.push((indentation, raw.trim().to_string()));
        if named.is_empty() { above } else { named.to_string() }
    }
}

/// Names with commas between them.
pub(super) fn listed(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// A whole number. None if there is none.
pub(super) fn number(text: &str) -> Result<Option<u32>, String> {
    let number = || text.parse().map_err(|_| format!("'{}' is no whole number", shortened(text)));
    if text.is_empty() || text == "-1" { Ok(None) } else { number().map(Some) }
}

/// Shares: a number, or `parent`.
pub(super) fn shares(text: &str) -> Result<Option<u32>, String> {
    match text.eq_ignore_ascii_case("parent") {
        true => Ok(None),
        false => Ok(Some(number(text)?.unwrap_or(1))),
    }
}
