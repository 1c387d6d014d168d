//! Text tables with aligned columns, within a given width.
//!
//! A table that is wider than the width changes its form. The first of these forms that fits is used:
//!
//! 1. The headings are wrapped between words.
//! 2. The table is turned, so that lines become columns, if its maker allows this ([`Table::turnable`]).
//! 3. Texts that are longer than a third of the width are shortened by `...`, as far as necessary. CSV has the full text.
//! 4. The columns are cut into blocks, one below the other. Each block repeats the label columns, and those of
//!    [`Table::repeating`] if there is room for them without shortening. Texts that are longer than half of the width are
//!    shortened.
//!
//! Where colours are wanted, headings are bold, gains green and losses red. Widths are those without the codes of colours.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;

use super::table_cell::{Painter, TableCell};
use super::wrap::{Width, shortened_to, text_width, wrapped};
use crate::metrics::Column;
use crate::text::printable;

/// The space between two columns.
const GAP: &str = "  ";

/// Texts up to this width are not shortened to avoid blocks.
const LEAST_SHORTENED: usize = 24;

/// Label columns are shortened to this width before one of them is no longer repeated.
const LEAST_LABEL: usize = 8;

/// A table. The first columns, the labels, are aligned to the left, the others to the right.
#[derive(Clone, Debug)]
pub struct Table {
    lines: Vec<Vec<TableCell>>,
    has_headings: bool,
    /// How many lines the headings take.
    heading_lines: usize,
    /// Whether the headings are the first column.
    is_turned: bool,
    left: usize,
    /// How many columns every block repeats.
    repeated: usize,
    turnable: bool,
    /// The last column is also aligned to the left.
    text_last: bool,
}

impl Default for Table {
    fn default() -> Self {
        Table::with_left(1)
    }
}

impl Table {
    /// A table with this number of label columns. Blocks repeat them.
    pub fn with_left(left: usize) -> Table {
        let lines = Vec::new();
        Table {
            lines,
            has_headings: false,
            heading_lines: 0,
            is_turned: false,
            left,
            repeated: left,
            turnable: false,
            text_last: false,
        }
    }

    /// As [`Table::with_left`], with a last column of remarks, which is aligned to the left too.
    pub fn with_remarks(left: usize) -> Table {
        Table { text_last: true, ..Table::with_left(left) }
    }

    /// Lets the table be turned if it fits only then: each line becomes a column, and the headings become the labels.
    pub fn turnable(self) -> Table {
        Table { turnable: true, ..self }
    }

    /// Lets every block repeat the first `columns`, instead of the label columns alone, if they fit.
    pub fn repeating(self, columns: usize) -> Table {
        Table { repeated: columns, ..self }
    }

    /// Adds the line of headings, which must be the first. They may be wrapped between words.
    pub fn headings<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        debug_assert!(self.lines.is_empty(), "the headings are the first line");
        self.has_headings = true;
        self.heading_lines = 1;
        self.push(cells.into_iter().map(Into::<String>::into).collect());
    }

    /// Adds a line, as [`Table::push`].
    pub fn line<const N: usize>(&mut self, cells: [&str; N]) {
        self.push(cells.map(str::to_string).to_vec());
    }

    /// Adds a line. Control characters in cells are escaped, because texts may come from input files.
    pub fn push<C: Into<TableCell>>(&mut self, cells: Vec<C>) {
        let mut cells: Vec<TableCell> = cells.into_iter().map(Into::into).collect();
        for TableCell { text, .. } in &mut cells {
            if let Cow::Owned(shown) = printable(text) {
                *text = shown;
            }
        }
        self.lines.push(cells);
    }

    /// Adds the lines of another table, without its headings.
    pub fn append(&mut self, other: Table) {
        self.lines.extend(other.lines.into_iter().skip(usize::from(other.has_headings)));
    }

    /// Writes the table in lines of at most this width, without trailing blanks.
    pub fn write(&self, out: &mut dyn Write, width: impl Into<Width>) -> io::Result<()> {
        let Width { columns, has_colours } = width.into();
        self.write_within(&mut Painter { out, has_colours }, columns)
    }

    fn write_within(&self, out: &mut Painter<'_>, width: usize) -> io::Result<()> {
        if self.fits(width) {
            return self.write_columns(out, &self.widths(), 0..0, 0..self.columns());
        }
        let mut wrapped = self.clone();
        for height in 2..=self.longest_heading() {
            wrapped = self.with_wrapped_headings(height);
            if wrapped.fits(width) {
                return wrapped.write_columns(out, &wrapped.widths(), 0..0, 0..self.columns());
            }
        }
        if self.turnable && self.has_headings {
            let turned = self.turned();
            if turned.fits(width) {
                return turned.write_columns(out, &turned.widths(), 0..0, 0..turned.columns());
            }
        }
        wrapped.write_blocks(out, width)
    }

    fn columns(&self) -> usize {
        self.lines.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn widths(&self) -> Vec<usize> {
        let cells = |column: usize| self.lines.iter().filter_map(move |line| line.get(column));
        (0..self.columns()).map(|column| cells(column).map(|cell| text_width(&cell.text)).max().unwrap_or(0)).collect()
    }

    fn fits(&self, width: usize) -> bool {
        total(&self.widths()) <= width
    }

    /// The number of words of the longest heading. 0 if there are no headings.
    fn longest_heading(&self) -> usize {
        let headings = self.lines.first().filter(|_| self.has_headings);
        headings.into_iter().flatten().map(|heading| heading.text.split_whitespace().count()).max().unwrap_or(0)
    }

    /// Each heading in at most `height` lines, as narrow as possible, but not narrower than the cells below it.
    fn with_wrapped_headings(&self, height: usize) -> Table {
        let body = Table { lines: self.lines[1..].to_vec(), ..self.clone() };
        let widths = body.widths();
        let pieces = |(column, TableCell { text: heading, .. }): (usize, &TableCell)| {
            let (least, whole) = (widths.get(column).copied().unwrap_or(0), text_width(heading));
            if whole <= least {
                return vec![heading.clone()];
            }
            let lines = (least..whole).map(|width| (width, wrapped(heading, width)));
            let fitting = |(width, lines): &(usize, Vec<String>)| {
                lines.len() <= height && lines.iter().all(|line| text_width(line) <= *width)
            };
            let mut lines = lines.filter(fitting).map(|(_, lines)| lines);
            lines.next().unwrap_or_else(|| vec![heading.clone()])
        };
        let headings: Vec<Vec<String>> = self.lines[0].iter().enumerate().map(pieces).collect();
        let height = headings.iter().map(Vec::len).max().unwrap_or(0);
        // The last line of each heading is directly above the cells.
        let line = |at: usize| {
            let piece = |heading: &Vec<String>| (at + heading.len()).checked_sub(height).map(|at| heading[at].clone());
            headings.iter().map(|heading| piece(heading).unwrap_or_default().into()).collect()
        };
        let lines = (0..height).map(line).chain(body.lines).collect();
        Table { lines, heading_lines: height, ..self.clone() }
    }

    /// Lines become columns.
    fn turned(&self) -> Table {
        let cell = |line: &Vec<TableCell>, column: usize| line.get(column).cloned().unwrap_or(String::new().into());
        let line = |column: usize| self.lines.iter().map(|line| cell(line, column)).collect();
        Table { lines: (0..self.columns()).map(line).collect(), is_turned: true, ..Table::default() }
    }

    /// Writes blocks of columns with an empty line between them.
    fn write_blocks(&self, out: &mut Painter<'_>, width: usize) -> io::Result<()> {
        let (widths, repeated) = self.widths_in_blocks(width);
        let shortened = self.shortened(&widths);
        let mut from = repeated;
        loop {
            let room = width - total(&widths[..repeated]).min(width);
            let until = end_of_block(&widths, from, room);
            if from > repeated {
                writeln!(out.out)?;
            }
            shortened.write_columns(out, &widths, 0..repeated, from..until)?;
            from = until;
            if from >= widths.len() {
                return Ok(());
            }
        }
    }

    /// The widths of columns after shortening, and how many columns each block repeats. The repeated columns and any other one
    /// fit into `width`.
    fn widths_in_blocks(&self, width: usize) -> (Vec<usize>, usize) {
        let most = (width / 3).max(LEAST_SHORTENED).min(width);
        let mut widths = self.widths();
        // The widest texts are shortened first, and only as far as necessary.
        while let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > most) {
            *widest -= 1;
            if total(&widths) <= width {
                return (widths, self.repeated.min(self.columns()));
            }
        }
        // Blocks are necessary, so there is room for longer texts.
        let mut widths: Vec<usize> = self.widths().into_iter().map(|natural| natural.min(width / 2)).collect();
        let mut repeated = self.repeated.min(widths.len());
        loop {
            let widest = widths[repeated..].iter().max().map_or(0, |widest| GAP.len() + widest);
            // Only labels are shortened to be repeated: other columns have figures.
            if repeated > self.left && total(&widths[..repeated]) + widest > width {
                repeated -= 1;
                continue;
            }
            let least: Vec<usize> = widths[..repeated].iter().map(|&label| label.min(LEAST_LABEL)).collect();
            if repeated > 0 && total(&least) + widest > width {
                repeated -= 1;
                continue;
            }
            while total(&widths[..repeated]) + widest > width {
                let labels = &mut widths[..repeated];
                *labels.iter_mut().max().expect("labels take some of the width") -= 1;
            }
            return (widths, repeated);
        }
    }

    /// The table with the texts that are wider than their column shortened. Different texts stay different if they can.
    fn shortened(&self, widths: &[usize]) -> Table {
        const HEAD_SHARES: [f64; 5] = [0.5, 1.0, 0.0, 0.75, 0.25];
        let mut table = self.clone();
        for (column, &width) in widths.iter().enumerate() {
            let cells: BTreeSet<&str> =
                self.lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.text.as_str()).collect();
            if cells.iter().all(|cell| text_width(cell) <= width) {
                continue;
            }
            let different = |share: &&f64| {
                let short: BTreeSet<_> = cells.iter().map(|cell| shortened_to(cell, width, **share)).collect();
                short.len() == cells.len()
            };
            let share = *HEAD_SHARES.iter().find(different).unwrap_or(&HEAD_SHARES[0]);
            for cell in table.lines.iter_mut().filter_map(|line| line.get_mut(column)) {
                cell.text = shortened_to(&cell.text, width, share).into_owned();
            }
        }
        table
    }

    fn write_columns(
        &self,
        out: &mut Painter<'_>,
        widths: &[usize],
        repeated: Range<usize>,
        others: Range<usize>,
    ) -> io::Result<()> {
        let mut is_first = true;
        for (number, line) in self.lines.iter().enumerate() {
            let mut text = String::new();
            for (at, column) in repeated.clone().chain(others.clone()).enumerate() {
                let Some(cell) = line.get(column) else { break };
                text.push_str(if at == 0 { "" } else { GAP });
                // Rust counts characters when it fills a field, so the blanks are added here.
                let blanks = " ".repeat(widths[column] - text_width(&cell.text).min(widths[column]));
                let is_heading = number < self.heading_lines || (self.is_turned && column == 0);
                let cell = out.painted(cell, is_heading);
                match column < self.left || (self.text_last && column + 1 == widths.len()) {
                    true => text.extend([&*cell, &blanks]),
                    false => text.extend([&*blanks, &cell]),
                }
            }
            // The first line of the headings may have words above other columns only.
            let text = text.trim_end();
            if !(is_first && text.is_empty()) {
                is_first = false;
                writeln!(out.out, "{text}")?;
            }
        }
        Ok(())
    }
}

/// A table of the columns that tables show: one line per row, with the name of the row in the first column.
pub fn named_rows<'a, R: 'a>(
    corner: &str,
    columns: &[&Column<R>],
    rows: impl Iterator<Item = (&'a str, &'a R)>,
) -> Table {
    let mut table = Table::default();
    table.headings([corner].into_iter().chain(columns.iter().map(|column| column.heading)));
    for (name, row) in rows {
        let cells = columns.iter().map(|column| TableCell::of(column, row));
        table.push([name.to_string().into()].into_iter().chain(cells).collect());
    }
    table
}

/// The end of the block that begins with the column `from`: at least one column.
fn end_of_block(widths: &[usize], from: usize, room: usize) -> usize {
    let needed = |until: usize| widths[from..until].iter().map(|width| GAP.len() + width).sum::<usize>();
    let fitting = (from..=widths.len()).rev().find(|&until| needed(until) <= room);
    fitting.unwrap_or(from).max(from + 1).min(widths.len())
}

/// The width of columns with the gaps between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(table: &Table, width: usize) -> String {
        let mut out = Vec::new();
        table.write(&mut out, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn table_of(table: Table, lines: &[&[&str]]) -> Table {
        let mut table = table;
        table.headings(lines[0].iter().copied());
        for line in &lines[1..] {
            table.push(line.iter().map(|cell| cell.to_string()).collect());
        }
        table
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.line(["", "a", "long"]);
        table.line(["name", "12.5", "x"]);
        table.line(["n"]);
        assert_eq!(written(&table, 100), "         a  long\nname  12.5     x\nn\n");
    }

    #[test]
    fn headings_are_bold_gains_green_and_losses_red() {
        let mut table = Table::default();
        table.headings(["", "mean wait", "gain"]);
        table.push(vec!["  a".to_string().into(), "1h".to_string().into(), TableCell::gain(Some(5.0))]);
        table.push(vec!["b".to_string().into(), "2h".to_string().into(), TableCell::gain(Some(-5.0))]);
        table.push(vec!["c".to_string().into(), "3h".to_string().into(), TableCell::gain(Some(0.01))]);
        table.push(vec!["d".to_string().into(), "4h".to_string().into(), TableCell::gain(None)]);
        let coloured = |columns| {
            let mut out = Vec::new();
            table.write(&mut out, Width { columns, has_colours: true }).unwrap();
            String::from_utf8(out).unwrap()
        };
        let whole = "     \x1b[1mmean wait\x1b[0m   \x1b[1mgain\x1b[0m\n  a         1h  \x1b[32m+5.0%\x1b[0m\n\
            b           2h  \x1b[31m-5.0%\x1b[0m\nc           3h   0.0%\nd           4h      -\n";
        assert_eq!(coloured(40), whole);
        // Widths are those without the codes, whatever the form of the table is.
        for columns in [8, 10, 15, 16, 40] {
            let plain = ["\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[0m"]
                .iter()
                .fold(coloured(columns), |text, code| text.replace(code, ""));
            assert_eq!(plain, written(&table, columns));
        }
        assert!(
            coloured(16).starts_with("     \x1b[1mmean\x1b[0m\n     \x1b[1mwait\x1b[0m   \x1b[1mgain\x1b[0m\n"),
            "{}",
            coloured(16)
        );
    }

    #[test]
    fn text_from_outside_cannot_control_the_terminal() {
        let mut table = Table::default();
        table.line(["a\u{1b}[2J", "\u{202e}1"]);
        table.push(vec!["b\nc".to_string(), "2".to_string()]);
        assert_eq!(written(&table, 100), "a\\u{1b}[2J  \\u{202e}1\nb\\nc                2\n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::default();
        table.line(["計算", "1"]);
        table.line(["e\u{301}", "12"]);
        assert_eq!(written(&table, 100), "計算   1\ne\u{301}     12\n");
    }

    #[test]
    fn headings_wrap_first() {
        let lines: &[&[&str]] = &[&["", "rebels who lose", "of all"], &["avg", "12", "3.5%"]];
        let table = table_of(Table::default(), lines);
        assert_eq!(written(&table, 28), "     rebels who lose  of all\navg               12    3.5%\n");
        // In as few lines as possible.
        let two = "       rebels    of\n     who lose   all\navg        12  3.5%\n";
        assert_eq!([written(&table, 27), written(&table, 19)], [two, two]);
        assert_eq!(written(&table, 18), "     rebels\n        who    of\n       lose   all\navg      12  3.5%\n");
    }

    #[test]
    fn a_table_is_turned_if_it_fits_only_then() {
        let lines: &[&[&str]] = &[&["name", "first", "second", "third"], &["a", "1", "2", "3"], &["b", "4", "5", "6"]];
        let (turnable, fixed) = (table_of(Table::default().turnable(), lines), table_of(Table::default(), lines));
        let whole = "name  first  second  third\na         1       2      3\nb         4       5      6\n";
        assert_eq!(written(&turnable, 26), whole);
        assert_eq!(written(&turnable, 25), "name    a  b\nfirst   1  4\nsecond  2  5\nthird   3  6\n");
        let blocks = "name  first  second\na         1       2\nb         4       5\n\n\
                      name  third\na         3\nb         6\n";
        assert_eq!(written(&fixed, 25), blocks);
    }

    #[test]
    fn blocks_repeat_columns_that_need_not_be_shortened() {
        let lines: &[&[&str]] = &[
            &["", "base", "setting-1", "setting-2", "setting-3"],
            &["wait", "10", "1", "2", "3"],
            &["heading"],
            &["slow", "20", "7", "8", "9"],
        ];
        let table = table_of(Table::default().repeating(2), lines);
        let expected = [
            "         base  setting-1  setting-2",
            "wait       10          1          2",
            "heading",
            "slow       20          7          8",
            "",
            "         base  setting-3",
            "wait       10          3",
            "heading",
            "slow       20          9",
        ];
        assert_eq!(written(&table, 40).lines().collect::<Vec<_>>(), expected);
        let expected = ["         base  setting-1", "wait       10          1", "heading", "slow       20          7"];
        assert_eq!(written(&table, 24).lines().take(4).collect::<Vec<_>>(), expected);
        // One column less: the labels alone are repeated.
        let expected = ["         base", "wait       10", "heading", "slow       20", "", "         setting-1"];
        assert_eq!(written(&table, 23).lines().take(6).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn long_texts_are_shortened_as_far_as_necessary_and_stay_different() {
        let [one, two] = ["smith:templates=u.e.n.q.a.s.t,at=start", "smith:templates=u.e.n.q.a.s.t,at=end"];
        let lines: &[&[&str]] = &[&["predictor", "wait"], &[one, "1"], &[two, "2"]];
        let short = written(&table_of(Table::default(), lines), 40);
        assert!(short.lines().all(|line| text_width(line) <= 40), "{short}");
        assert!(short.contains("at=start ") && short.contains("at=end "), "{short}");
        // Here only the ends differ.
        let lines: &[&[&str]] =
            &[&["p", "wait", "other"], &[&"a".repeat(60), "1", "3"], &[&format!("{}b", "a".repeat(60)), "2", "4"]];
        let short = written(&table_of(Table::default(), lines), 40);
        assert!(short.contains("aaa...") && short.contains("aab"), "{short}");
    }

    #[test]
    fn every_line_fits_whatever_the_table() {
        // Labels that leave no room, long headings, long cells, many columns: at every width from 40 on.
        for (left, columns, length) in [(1, 3, 100), (3, 12, 20), (10, 11, 30), (4, 4, 90), (0, 2, 300), (6, 40, 9)] {
            let mut table = Table::with_left(left);
            table.headings((0..columns).map(|at| format!("heading-{at} of {}", "x".repeat(length / 2))));
            for line in 0..3 {
                table.push((0..columns).map(|at| format!("{line}{at}{}", "y".repeat(length * at / columns))).collect());
            }
            for width in 40..200 {
                let text = written(&table, width);
                let longest = text.lines().map(text_width).max().unwrap();
                assert!(longest <= width, "{left} {columns} {length}: {longest} > {width}\n{text}");
            }
        }
    }
}
