//! What `sacctmgr show assoc -P` and `sacctmgr show qos -P` print: a header, then rows, with `|` between columns.

use std::collections::BTreeSet;

use super::super::file_line::{ConfError, FileLine, Ignored};
use super::limits::{LimitForm, LimitOwner};
use super::setting::{AccountSetting, factor, listed, number, says_nothing, set_flags, set_qos, shares};
use super::{Account, Association, Associations, ChosenCluster, QualityOfService, ROOT, User};
use crate::text::{counted, shortened};

/// A row with the names of its columns.
struct ShownRow<'a> {
    place: FileLine,
    cells: Vec<(&'a str, &'a str)>,
}

impl<'a> ShownRow<'a> {
    /// `sacctmgr -p` ends each line with a `|`.
    fn of(columns: &[&'a str], is_closed: bool, (line, text): (usize, &'a str)) -> Result<ShownRow<'a>, ConfError> {
        let place = FileLine::of_line(line);
        let text = text.strip_suffix('|').filter(|_| is_closed).unwrap_or(text);
        let cells: Vec<&str> = text.split('|').collect();
        match cells.len() == columns.len() {
            true => Ok(ShownRow { place, cells: columns.iter().copied().zip(cells).collect() }),
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

/// Adds the rows. Those of clusters that are not chosen are left out.
pub(super) fn add(
    associations: &mut Associations,
    text: &str,
    chosen: &mut ChosenCluster,
) -> Result<Vec<Ignored>, ConfError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (line, header) = lines.next().expect("a table has a header");
    let place = FileLine::of_line(line);
    let columns: Vec<&str> = header.strip_suffix('|').unwrap_or(header).split('|').map(str::trim).collect();
    let has = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let owner = match (has("Account"), has("Name")) {
        (true, _) => LimitOwner::Association,
        (_, true) => LimitOwner::Qos,
        _ => {
            return Err(place.wrong(format!(
                "neither a column Account nor a column Name in '{}': give the output of 'sacctmgr show assoc -P' or 'sacctmgr show qos -P'",
                shortened(header)
            )));
        }
    };
    let unused = unused_columns(&columns, owner);
    let mut reader = ShownReader { associations, above: Vec::new(), seen: BTreeSet::new(), ignored: Vec::new() };
    for line in lines {
        let row = ShownRow::of(&columns, header.ends_with('|'), line)?;
        if !chosen.has(row.cell(&["Cluster"])) {
            continue;
        }
        reader.note_values(&row, &unused);
        if owner == LimitOwner::Qos { reader.add_qos(&row)? } else { reader.add_association(&row)? }
    }
    let mut ignored = reader.ignored;
    let has_parents =
        has("ParentName") || has("Par Name") || reader.above.iter().any(|(indentation, _)| *indentation > 0);
    if owner == LimitOwner::Association
        && !has_parents
        && associations.accounts.iter().any(|account| account.name != ROOT)
    {
        let what = "no column ParentName: all accounts are directly below the root";
        ignored.push(Ignored::of_machine(&place, what));
    }
    let here = |count: usize| vec![place.clone(); count];
    associations.check(&here(associations.accounts.len()), &here(associations.users.len()))?;
    Ok(ignored)
}

/// The columns that are not used though they may change which jobs start.
fn unused_columns<'a>(columns: &[&'a str], owner: LimitOwner) -> Vec<&'a str> {
    let used: &[&str] = match owner {
        LimitOwner::Qos => &[&["Name", "Priority", "UsageFactor", "Flags"][..], &PREEMPTION].concat(),
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
    let harmless = ["Cluster", "ID", "ParentID", "Par ID", "LFT", "RGT", "Description", "Descr", "Lineage", "Comment"];
    let matters = |column: &&&str| {
        let is_in = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(column));
        !column.is_empty() && !is_in(used) && !is_in(&harmless) && LimitForm::of_slurm(column, owner).is_none()
    };
    columns.iter().filter(matters).copied().collect()
}

/// The columns that say how jobs make way for others.
const PREEMPTION: [&str; 4] = ["Preempt", "PreemptMode", "PreemptExemptTime", "GraceTime"];

struct ShownReader<'a> {
    associations: &'a mut Associations,
    /// The accounts above the next row of a tree, with their indentations.
    above: Vec<(usize, String)>,
    /// The users of the rows before.
    seen: BTreeSet<String>,
    ignored: Vec<Ignored>,
}

impl ShownReader<'_> {
    /// Notes the columns that are not used, where they say something.
    fn note_values(&mut self, row: &ShownRow, unused: &[&str]) {
        for column in unused.iter().filter(|column| !says_nothing(row.cell(&[column]))) {
            self.ignored.push(Ignored::of_machine(&row.place, format!("the column {}", shortened(column))));
        }
    }

    fn add_qos(&mut self, row: &ShownRow) -> Result<(), ConfError> {
        let mut qos = QualityOfService::new(row.cell(&["Name"]));
        let wrong = |why: String| row.place.wrong(why);
        if qos.name.is_empty() {
            return Err(wrong("a quality of service without a name".to_string()));
        }
        qos.priority = number(row.cell(&["Priority"])).map_err(wrong)?.unwrap_or(0);
        qos.usage_factor = factor(row.cell(&["UsageFactor"])).map_err(wrong)?;
        let flags = set_flags(&mut qos, row.cell(&["Flags"]));
        self.ignored.extend(flags.into_iter().map(|flag| Ignored::of_machine(&row.place, flag)));
        for key in PREEMPTION {
            let others = set_qos(&mut qos, &AccountSetting { key, value: row.cell(&[key]) });
            let others = others.map_err(|why| row.place.wrong(format!("{key}: {why}")))?;
            self.ignored.extend(others.into_iter().map(|other| Ignored::of_machine(&row.place, other)));
        }
        self.set_limits(row, LimitOwner::Qos, &mut qos.limits)?;
        self.associations.add_qos(qos).map_err(wrong)
    }

    fn set_limits(&mut self, row: &ShownRow, owner: LimitOwner, limits: &mut super::Limits) -> Result<(), ConfError> {
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

    fn add_association(&mut self, row: &ShownRow) -> Result<(), ConfError> {
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
    fn parent_of(&mut self, row: &ShownRow) -> String {
        let (raw, named) = (row.raw(&["Account"]), row.cell(&["Par Name", "ParentName"]));
        let indentation = raw.len() - raw.trim_start().len();
        self.above.retain(|(other, _)| *other < indentation);
        let above = self.above.last().map_or(ROOT, |(_, name)| name).to_string();
        self.above.push((indentation, raw.trim().to_string()));
        if named.is_empty() { above } else { named.to_string() }
    }
}
