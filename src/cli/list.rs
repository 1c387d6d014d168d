//! `sim list`: the values of `--predictor`, `--scheduler`, `--estimates`, `--feedback`, `--strategy`, `--policy` and `--method`, the
//! columns of results, the studies and the pages of the manual.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use super::failure::{UsageError, refuse};
use super::help;
use super::output_options::{PrintOptions, listing};
use super::{CommandForm, parsed};
use crate::compare::{KnownOutput, known_outputs};
use crate::malleable::Strategy;
use crate::meta;
use crate::metrics::ListedColumn;
use crate::model::estimates;
use crate::predict;
use crate::report::{Cell, Output, OutputError, write_columns, write_forms, write_wrapped};
use crate::reproduce::STUDIES;
use crate::schedule;
use crate::similar::did_you_mean;
use crate::spec::Form;
use crate::trace::feedback_forms;
use crate::wait;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "list",
    about: "List predictors, schedulers, models, columns, with their keys",
    arguments: |command| listing(ListArgs::augment_args(command)),
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim list               what can be listed
  sim list predictors
  sim list predictors --format json
      one object per predictor and per key of a predictor
  sim list predictors --example python
      a complete predictor of your own: save it, change it, run it
  sim list schedulers --example python
  sim list columns       the columns of all outputs
  sim list columns wait  those of sim wait
  sim list columns runs --format csv --no-header")]
struct ListArgs {
    /// What to list [default: the lists]
    #[arg(value_enum)]
    what: Option<ListedKind>,
    /// List the columns of this output only, such as runs, jobs or wait [default: of all outputs]
    #[arg(value_name = "OUTPUT")]
    output: Option<String>,
    /// Print the source of a predictor or a scheduler of your own instead; see `sim help predictors`, `sim help schedulers`
    #[arg(long, value_enum, value_name = "EXAMPLE")]
    example: Option<Example>,
    #[command(flatten)]
    print: PrintOptions,
}

/// The examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Example {
    /// A program for exec; standard library only
    Python,
    /// A predictor for exec with boosted trees of scikit-learn, in Python
    Trees,
    /// A scheduler for exec that only orders the queue, in Python
    Order,
    /// A program that calls sim and schedules, in Python
    Caller,
    /// An environment of Gymnasium, in which an agent schedules
    Gymnasium,
    /// A program that learns an order of the queue and judges it on jobs that it has not seen, in Python
    Learn,
    /// A crate that adds a predictor or a scheduler to all commands
    Rust,
}

impl Example {
    /// Its source for a list. None if there is none.
    fn source(self, what: Option<ListedKind>) -> Option<&'static str> {
        match (what?, self) {
            (ListedKind::Predictors, Example::Python) => Some(include_str!("examples/ruh.py")),
            (ListedKind::Predictors, Example::Trees) => Some(include_str!("examples/trees.py")),
            (ListedKind::Predictors, Example::Rust) => Some(include_str!("examples/half.rs")),
            (ListedKind::Schedulers, Example::Python) => Some(include_str!("examples/easy.py")),
            (ListedKind::Schedulers, Example::Order) => Some(include_str!("examples/order.py")),
            (ListedKind::Schedulers, Example::Caller) => Some(include_str!("examples/caller.py")),
            (ListedKind::Schedulers, Example::Gymnasium) => Some(include_str!("examples/scheduling.py")),
            (ListedKind::Schedulers, Example::Learn) => Some(include_str!("examples/learn.py")),
            (ListedKind::Schedulers, Example::Rust) => Some(include_str!("examples/widest.rs")),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListedKind {
    /// Predictors of runtimes
    Predictors,
    /// Schedulers of one machine
    Schedulers,
    /// Models of user estimates
    Estimates,
    /// How users react to the ends of their jobs
    Feedback,
    /// Strategies of malleable jobs
    Strategies,
    /// Policies of `sim meta`
    Policies,
    /// Methods of `sim wait`
    Methods,
    /// Columns of all outputs
    Columns,
    /// Studies of `sim reproduce`
    Studies,
    /// Pages of the manual
    Topics,
}

/// The forms of a catalog: names, keys and defaults. Empty for lists whose entries are not specs.
pub fn forms(what: ListedKind) -> Vec<&'static Form> {
    match what {
        ListedKind::Predictors => predict::catalog::forms(),
        ListedKind::Schedulers => schedule::catalog::forms(),
        ListedKind::Estimates => estimates::catalog::forms(),
        ListedKind::Feedback => feedback_forms().to_vec(),
        ListedKind::Strategies => Strategy::forms(),
        ListedKind::Policies => meta::dispatch_forms(),
        ListedKind::Methods => wait::WaitMethod::forms().to_vec(),
        ListedKind::Columns | ListedKind::Studies | ListedKind::Topics => Vec::new(),
    }
}

fn execute(args: &ListArgs) -> anyhow::Result<()> {
    if let Some(example) = args.example {
        let Some(source) = example.source(args.what) else {
            let message = "there is no such example: sim list predictors --example python|trees|rust, or \
                           sim list schedulers --example python|order|caller|gymnasium|learn|rust";
            return refuse(message);
        };
        return Ok(Output::stdout().fill(|out| out.write_all(source.as_bytes()))?);
    }
    if let (Some(output), what) = (&args.output, args.what)
        && what != Some(ListedKind::Columns)
    {
        return refuse(format!("'{output}' is an output: sim list columns {output}"));
    }
    let print = args.print.or_table();
    Ok(match args.what {
        None => print_names(&print, &lists()),
        Some(ListedKind::Studies) => {
            print_names(&print, &STUDIES.map(|study| (study.name.to_string(), study.paper.to_string())))
        }
        Some(ListedKind::Topics) => {
            let topics = help::topics().map(|(name, about)| (name.to_string(), about.to_string()));
            print_names(&print, &topics.collect::<Vec<_>>())
        }
        Some(ListedKind::Columns) => {
            let outputs = outputs(args.output.as_deref())?;
            print.print_rows(false, &column_rows(&outputs), |out, width| write_outputs(out, width.columns, &outputs))
        }
        Some(what) => {
            let forms = forms(what);
            print.print_rows(false, &form_rows(&forms), |out, width| write_forms(out, "", width.columns, &forms))
        }
    }?)
}

/// The lists themselves.
fn lists() -> Vec<(String, String)> {
    let values = ListedKind::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values
        .map(|list| (list.get_name().to_string(), list.get_help().map_or(String::new(), ToString::to_string)))
        .collect()
}

/// Prints names and what they are.
fn print_names(print: &PrintOptions, names: &[(String, String)]) -> Result<(), OutputError> {
    let row = |(name, about): &(String, String)| {
        vec![("name", Cell::Text(name.clone())), ("about", Cell::Text(about.clone()))]
    };
    let rows: Vec<_> = names.iter().map(row).collect();
    print.print_rows(false, &rows, |out, width| write_names(out, width.columns, names))
}

fn write_names(out: &mut dyn Write, width: usize, names: &[(String, String)]) -> io::Result<()> {
    let longest = names.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    names.iter().try_for_each(|(name, about)| write_wrapped(out, &format!("{name:<longest$}  "), about, width))
}

/// One row per form, and one per key of a form.
fn form_rows(forms: &[&Form]) -> Vec<Vec<(&'static str, Cell)>> {
    let text = |text: &str| Cell::Text(text.to_string());
    let row = |name: &str, key: Cell, default: Cell, values: Cell, about: &str| {
        vec![("name", text(name)), ("key", key), ("default", default), ("values", values), ("about", text(about))]
    };
    let of_form = |form: &&Form| {
        let own = row(form.name, Cell::None, Cell::None, Cell::None, form.about);
        let keys = form
            .keys
            .iter()
            .map(|key| row(form.name, text(key.name), text(key.default), Cell::Text(key.kind.to_string()), key.about));
        [vec![own], keys.collect()].concat()
    };
    forms.iter().flat_map(of_form).collect()
}

/// Writes a list for a page of the manual: `predictors`, or `columns runs`.
///
/// # Panics
/// If there is no such list.
pub fn write_list(out: &mut dyn Write, indent: &str, width: usize, name: &str) -> io::Result<()> {
    match name.strip_prefix("columns ") {
        Some(output) => {
            let outputs = outputs(Some(output)).expect("a page of ours lists what there is");
            write_columns(out, indent, width, &outputs[0].columns)
        }
        None => {
            let what = ListedKind::from_str(name, false).expect("a page of ours lists what there is");
            write_forms(out, indent, width, &forms(what))
        }
    }
}

/// The output with this name, or all.
fn outputs(name: Option<&str>) -> Result<Vec<KnownOutput>, UsageError> {
    let mut outputs = known_outputs();
    let Some(name) = name else { return Ok(outputs) };
    let names: Vec<&str> = outputs.iter().map(|output| output.name).collect();
    if !names.contains(&name) {
        let meant = did_you_mean(name, names.iter().copied());
        return refuse(format!("there is no output '{name}'{meant}: write one of {}", names.join(", ")));
    }
    outputs.retain(|output| output.name == name);
    Ok(outputs)
}

/// Writes the columns of one output, or of several with headings.
fn write_outputs(out: &mut dyn Write, width: usize, outputs: &[KnownOutput]) -> io::Result<()> {
    if let [output] = outputs {
        return write_columns(out, "", width, &output.columns);
    }
    for (at, output) in outputs.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write_wrapped(out, "", &format!("{} ({})", output.name, output.about), width)?;
        write_columns(out, "  ", width, &output.columns)?;
    }
    Ok(())
}

fn column_rows(outputs: &[KnownOutput]) -> Vec<Vec<(&'static str, Cell)>> {
    let row = |output: &KnownOutput, column: &ListedColumn| {
        vec![
            ("name", Cell::Text(column.name.clone())),
            ("better", column.better.map(|better| Cell::Word(better.name())).into()),
            ("about", Cell::Text(column.about.to_string())),
            ("output", Cell::Word(output.name)),
            ("key", Cell::Count(column.is_key.into())),
            ("only", Cell::Word(column.when.words())),
        ]
    };
    outputs.iter().flat_map(|output| output.columns.iter().map(move |column| row(output, column))).collect()
}
