//! Figures as text: a first page that counts how many agree, then one block per table.

use std::io::{self, Write};

use super::figure::{Agreement, Figure};
use crate::report::{Table, Width, counted, counted_as, wrapped, write_wrapped};

/// What is counted on the first page.
const COUNTED: [(Agreement, &str); 6] = [
    (Agreement::Interval, "the published number lies within our 95% interval, or among our runs"),
    (Agreement::TwoPoints, "it differs by at most two points, or two percent"),
    (Agreement::Holds, "a published bound or range holds"),
    (Agreement::Explained, "it differs, and the reason is known"),
    (Agreement::Unexplained, "it differs, and the reason is not known"),
    (Agreement::NotMeasured, "not measured: a log is missing or not public"),
];

/// How many published figures agree with ours in which way. A published number counts once, by the reading that the program
/// has as its default.
pub fn count_agreements(figures: &[Figure]) -> Vec<(Agreement, &'static str, u64)> {
    COUNTED.map(|(agreement, what)| (agreement, what, with_agreement(figures, agreement).count() as u64)).to_vec()
}

/// The figures that agree in this way, without second readings.
fn with_agreement(figures: &[Figure], wanted: Agreement) -> impl Iterator<Item = &Figure> {
    figures.iter().filter(move |figure| !figure.other_reading && figure.agreement() == wanted)
}

/// Prints the first page: how many figures of a study agree with the paper, and which do not for no known reason.
pub fn write_overview(out: &mut dyn Write, width: Width, study: &str, figures: &[Figure]) -> io::Result<()> {
    let counts = count_agreements(figures);
    let published = counted(counts.iter().map(|(_, _, count)| count).sum(), "published figure");
    write_wrapped(out, "", &format!("{study}: {published}, with the units and signs of the paper"), width)?;
    let mut table = Table::default();
    for (_, what, count) in counts {
        table.line([&format!("  {what}"), &count.to_string()]);
    }
    table.write(out, width)?;
    let mut places: Vec<(&str, usize)> = Vec::new();
    for figure in with_agreement(figures, Agreement::Unexplained) {
        let table = figure.table.split(',').next().unwrap_or_default();
        match places.iter_mut().find(|(name, _)| *name == table) {
            Some((_, count)) => *count += 1,
            None => places.push((table, 1)),
        }
    }
    if !places.is_empty() {
        let places: Vec<String> = places.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        write_wrapped(out, "  ", &format!("differences without a known reason: {}", places.join(", ")), width)?;
    }
    let alone = counted_as(
        with_agreement(figures, Agreement::NotPublished).count() as u64,
        "figure that the paper does not print as a number",
        "figures that the paper does not print as numbers",
    );
    let readings = figures.iter().filter(|figure| figure.other_reading).count();
    write_wrapped(out, "  ", &format!("not counted: {alone}, {readings} of other readings"), width)?;
    writeln!(out)
}

/// Prints figures, one block per table. Each remark is printed once, below its block.
pub fn write_figures(out: &mut dyn Write, width: Width, figures: &[Figure]) -> io::Result<()> {
    for block in figures.chunk_by(|a, b| a.table == b.table) {
        write_block(out, width, block)?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_block(out: &mut dyn Write, width: Width, block: &[Figure]) -> io::Result<()> {
    write_wrapped(out, "", &block[0].table, width)?;
    let mut remarks: Vec<String> = Vec::new();
    let lines: Vec<FigureLine> = block.iter().map(|figure| FigureLine::of(figure, &mut remarks)).collect();
    // The numbers get the width that they need; the names share the rest.
    let widest = |of: &dyn Fn(&FigureLine) -> usize, least: usize| lines.iter().map(of).max().unwrap_or(0).max(least);
    let number = |at: usize| widest(&|line| line.numbers[at].len(), HEADINGS[at].len());
    let numbers = 8 + 3 * 2 + 9 + number(2) + 9 + number(4) + 10;
    let rows = widest(&|line| line.row.chars().count(), 3);
    let columns = widest(&|line| line.column.chars().count(), 6);
    let free = width.columns.saturating_sub(numbers);
    let row_width = rows.min(free.saturating_sub(columns).max(free / 2)).max(12);
    let column_width = columns.min(free.saturating_sub(row_width)).max(12);
    let mut table = Table::with_remarks(2);
    table.headings(["  row", "column"].into_iter().chain(HEADINGS));
    for row in lines.chunk_by(|a, b| a.row == b.row) {
        // A long name of a row is wrapped beside its figures, and continues below them if there are too few.
        let mut names = wrapped(row[0].row, row_width).into_iter();
        let mut push = |column: &str, numbers: &[String]| {
            let name = format!("  {}", names.next().unwrap_or_default());
            table.push([&[name, column.to_string()], numbers].concat());
            names.len()
        };
        let mut left = 0;
        for line in row {
            for (at, column) in wrapped(line.column, column_width).iter().enumerate() {
                left = push(column, if at == 0 { &line.numbers } else { &[] });
            }
        }
        while left > 0 {
            left = push("", &[]);
        }
    }
    table.write(out, width)?;
    for (at, remark) in remarks.iter().enumerate() {
        write_wrapped(out, &format!("  [{}] ", at + 1), remark, width)?;
    }
    Ok(())
}

/// What a line of a block has after the row and the column.
const HEADINGS: [&str; 5] = ["published", "measured", "95% interval", "agrees", ""];

/// A figure as it is printed.
struct FigureLine<'a> {
    row: &'a str,
    column: &'a str,
    /// Under [`HEADINGS`]. The last is the number of a remark, `[1]`, or nothing.
    numbers: [String; HEADINGS.len()],
}

impl<'a> FigureLine<'a> {
    /// A remark that the block does not have yet is added to `remarks`.
    fn of(figure: &'a Figure, remarks: &mut Vec<String>) -> FigureLine<'a> {
        // One digit more than the paper prints.
        let decimals = figure.published.split_once('.').map_or(1, |_| 2);
        let number = |number: f64| format!("{number:.decimals$}");
        let remark = figure.remark();
        let place = remarks.iter().position(|other| *other == remark);
        let remark = match place {
            // A picture in the paper: the empty place of the published number says it.
            _ if remark.is_empty() || remark == "figure" => String::new(),
            Some(at) => format!("[{}]", at + 1),
            None => {
                remarks.push(remark);
                format!("[{}]", remarks.len())
            }
        };
        let numbers = [
            figure.published.clone(),
            figure.measured.map_or(String::new(), number),
            figure.interval.map_or(String::new(), |(low, high)| format!("{} to {}", number(low), number(high))),
            figure.agreement().word().to_string(),
            remark,
        ];
        FigureLine { row: &figure.row, column: &figure.column, numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_remarks_stand_once() {
        let long = "a row whose name is much longer than any that a table of the paper has, and goes on";
        let mut figures: Vec<Figure> = ["22", "", ">90", "3"]
            .iter()
            .map(|published| Figure::new(("Table 1", long, long), published, 21.0).noted(&"a long remark ".repeat(20)))
            .collect();
        figures[0].interval = Some((1234567.0, 1234568.0));
        let written = |width: usize| {
            let mut out = Vec::new();
            write_overview(&mut out, width.into(), "study", &figures).unwrap();
            write_figures(&mut out, width.into(), &figures).unwrap();
            String::from_utf8(out).unwrap()
        };
        for width in [40, 60, 80, 100, 160] {
            let text = written(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
        let text = written(100);
        assert!(text.contains("study: 3 published figures"), "{text}");
        assert_eq!(text.matches("[1] a long remark").count(), 1, "{text}");
        assert_eq!(
            text.matches("a row whose name").count(),
            1 + 4,
            "the name of a row is printed once, that of a column each time"
        );
        let first_page = text.split("\n\n").next().unwrap();
        assert!(first_page.lines().count() <= 10, "{first_page}");
    }
}
