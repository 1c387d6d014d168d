//! `sim search`: finds templates that predict the runtimes of a log well.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::{ArgMatches, Args, ValueEnum};

use super::failure::refuse;
use super::interrupt::{self, Interrupted};
use super::log::{LogArgs, read_workload};
use super::options;
use super::output_options::{OutputFiles, OutputOptions};
use super::progress::Progress;
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::experiment::Options;
use crate::experiment::Section::{Estimates, Log, Reading, Shape};
use crate::metrics::{Given, When, cells};
use crate::predict::templates::Template;
use crate::predict::{self, template_file};
use crate::report::{Output, Table, Width, counted, grouped, write_settings, write_wrapped};
use crate::search::{
    COMPARED_PREDICTORS, ComparedPredictor, FoundSet, Genetic, Judge, STEP_COLUMNS, SearchLimits, SearchStep,
    TemplateSpace, compare_predictors, compared_columns, genetic, greedy,
};
use crate::spec::{Spec, SpecError, parse_list};
use crate::text::printable;
use crate::time::{parse_duration, readable_duration};
use crate::trace::{CleaningCause, Workload};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "search",
    about: "Find templates that predict the runtimes of a log well",
    arguments: |command| options::add(SearchArgs::augment_args(command), &[Log, Reading, Estimates, Shape]),
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim search CTC.swf.gz --out ctc.templates
      a genetic search, its result in a file
  sim CTC.swf.gz --predictor smith:templates=@ctc.templates
  sim search CTC.swf.gz --method greedy --format csv
  sim search CTC.swf.gz --rivals kin,'exec:command=python3 my.py'
  sim search CTC.swf.gz --train 0.5 --seed 7
      searched on the first half, evaluated on the second

A set of templates is evaluated on the schedule recorded in the log: the runtime of every job is predicted when the job
starts, from jobs that have ended by then. A genetic search with 50 sets per generation and 50 generations takes about five
seconds on a log of 77,000 jobs with two cores. It keeps up to 512 MB of predictions in memory. Ctrl-C ends the search with
the best set so far.")]
struct SearchArgs {
    #[command(flatten)]
    log: LogArgs,
    /// The search method
    #[arg(long, value_enum, default_value_t = SearchMethod::Genetic, display_order = 0)]
    method: SearchMethod,
    /// Search on this share of the jobs, the first ones, and evaluate on the others, which shows overfitting
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Search")]
    train: Option<f64>,
    /// Also search for the lengths of histories (h=2 to h=65536)
    #[arg(long, help_heading = "Search")]
    histories: bool,
    /// Compare with these predictors too: a list, such as kin,smith:templates=@other.templates
    #[arg(long, value_name = "SPECS", value_parser = options::checked_specs("predictor", parse_rival))]
    #[arg(help_heading = "Search")]
    rivals: Option<String>,
    /// End after this time with the best set so far; the result then depends on the speed of the machine
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Search")]
    time_limit: Option<i64>,
    /// End before more than N sets have been evaluated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    evaluations: Option<u64>,
    /// The number of sets in a generation
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Genetic search")]
    population: u32,
    /// The number of generations
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Genetic search")]
    generations: u32,
    /// The number of best sets that the next generation takes over unchanged
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Genetic search")]
    elite: u32,
    /// The probability that a bit is flipped
    #[arg(long, value_name = "P", default_value_t = 0.001, value_parser = options::number("a probability", (0.0, 1.0), 0.001), help_heading = "Genetic search")]
    mutation: f64,
    /// The largest number of templates in a set
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "Genetic search")]
    templates: u32,
    /// Write the templates to this file, for smith:templates=@FILE; - for standard output (the table then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<String>,
    /// Write a CSV with every step of the search [default: FILE.history.csv, if --out FILE is given]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    history_out: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SearchMethod {
    /// Begin with the template of all jobs; add the best template with one characteristic, then with two, and so on
    Greedy,
    /// Improve sets of templates by crossover and mutation over many generations
    Genetic,
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("a share is a number above 0 and below 1, such as 0.5".to_string()),
    }
}

/// A predictor to compare with. Perfect predictions would compare with nothing.
fn parse_rival(text: &str) -> Result<Spec, SpecError> {
    let spec = predict::catalog::parse(text)?;
    match predict::catalog::is_oracle(&spec) {
        true => Err(SpecError(format!("{spec} uses the actual run times: there is nothing to compare"))),
        false => Ok(spec),
    }
}

impl SearchArgs {
    fn rivals(&self) -> Result<Vec<Spec>, SpecError> {
        let list = |text: &String| parse_list("predictor", [text.as_str()], parse_rival).map(|list| list.items);
        self.rivals.as_ref().map_or(Ok(Vec::new()), list)
    }

    /// Opens the files for the templates and for the steps of the search.
    fn outputs(&self) -> anyhow::Result<OutputFiles<2>> {
        let default = self.out.as_ref().filter(|out| !Output::is_stdout(out)).map(|out| format!("{out}.history.csv"));
        let history = self.history_out.clone().or(default);
        let outputs = [("--out", &self.out), ("--history-out", &history)];
        OutputFiles::open(outputs, &self.log.files())
    }
}

fn execute(args: &SearchArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    if args.elite >= args.population {
        return refuse(format!("--elite {} must be less than --population {}", args.elite, args.population));
    }
    let OutputFiles { files: [templates_out, history_out], stdout_taken } = args.outputs()?;
    let options = options::read(matches)?;
    let workload = read_waits(args, options.clone())?;
    let jobs = workload.jobs.len();
    let trained = args.train.map(|share| 0..(jobs as f64 * share) as usize);
    if trained.as_ref().is_some_and(|trained| trained.is_empty()) {
        let jobs = counted(jobs as u64, "job");
        return refuse(format!("--train leaves no job to search on: there are {jobs}"));
    }
    // The search must not use anything about the jobs that it is evaluated on later.
    let searched = trained.clone().unwrap_or(0..jobs);
    let estimates = workload.cleaning.count(CleaningCause::Filled) < workload.cleaning.jobs();
    let space = TemplateSpace::of(&workload.jobs[searched.clone()], estimates, args.histories);
    let judge = Judge::new(&workload.jobs[searched.clone()], searched);
    let threads = args.output.threads();
    let began = Instant::now();
    let seed = options.shaping.seed;
    let found = search(args, &judge, &space, seed, threads)?;
    let sets = found.steps.last().map_or(0, |step| step.evaluations);
    let time = readable_duration(began.elapsed().as_secs_f64());
    note(format_args!("{} of {} evaluated in {time}, seed {seed}", counted(sets, "set"), space.describe()));
    let counted = trained.as_ref().map_or(0..jobs, |trained| trained.end..jobs);
    let compared = {
        let mut predictors = vec![(best_predictor(&found.templates), "best templates".to_string())];
        predictors
            .extend(COMPARED_PREDICTORS.iter().map(|(predictor, name)| (predictor.to_string(), name.to_string())));
        for rival in args.rivals()? {
            predictors.push((rival.to_string(), rival.to_string()));
        }
        let progress = Progress::counting("comparing", "predictors", Some(predictors.len()));
        compare_predictors(&workload, &predictors, counted, trained, threads, |done| progress.set(done))?
    };
    if let Some(out) = templates_out {
        let comments = comments(args, &workload, &found, seed);
        out.fill(|out| out.write_all(template_file(&comments, &found.templates).as_bytes()))?;
    }
    if let Some(out) = history_out {
        out.fill(|out| write_settings(out, STEP_COLUMNS, [(None, found.steps.iter().cloned())].into_iter()))?;
    }
    let seed = (args.method == SearchMethod::Genetic).then_some(seed);
    let given = Given::of([(When::Training, args.train.is_some())]);
    let rows: Vec<_> = compared.iter().map(|one| cells(&compared_columns(), &(one, seed), given)).collect();
    args.output.print.print_rows(stdout_taken, &rows, |out, width| {
        write_comparison(out, width, &workload, &found, &compared, seed)
    })?;
    if interrupt::stop_requested() { Err(Interrupted.into()) } else { Ok(()) }
}

/// The jobs of the log with their recorded waits.
fn read_waits(args: &SearchArgs, mut options: Options) -> anyhow::Result<Workload> {
    options.scheduler = crate::schedule::catalog::parse("replay")?;
    Ok(read_workload(&args.log.source(), &options)?.as_recorded())
}

fn search(
    args: &SearchArgs,
    judge: &Judge<'_>,
    space: &TemplateSpace,
    seed: u64,
    threads: usize,
) -> anyhow::Result<FoundSet> {
    interrupt::allow_early_end();
    let limits = SearchLimits {
        evaluations: args.evaluations,
        deadline: args.time_limit.map(|seconds| Instant::now() + Duration::from_secs(seconds as u64)),
        stopped: &interrupt::stop_requested,
        threads,
    };
    let steps = (args.method == SearchMethod::Genetic).then_some(args.generations as usize);
    let progress = Progress::counting("searching", "steps", steps);
    let best = std::cell::Cell::new(f64::INFINITY);
    let done = std::cell::Cell::new(0);
    let on_step = |step: &SearchStep| {
        best.set(best.get().min(step.best));
        done.set(done.get() + 1);
        progress.set_with_text(done.get(), format!("steps, best error {}", in_minutes(best.get())));
    };
    let found = match args.method {
        SearchMethod::Greedy => greedy(judge, space, &limits, &on_step),
        SearchMethod::Genetic => {
            let how = Genetic {
                population: args.population as usize,
                generations: args.generations as usize,
                elite: args.elite as usize,
                mutation: args.mutation,
                templates: args.templates as usize,
                seed,
            };
            genetic(judge, space, &how, &limits, &on_step)
        }
    };
    drop(progress);
    match found {
        Some(found) => Ok(found),
        None if interrupt::stop_requested() => Err(anyhow::anyhow!("interrupted before any set was evaluated")),
        None => refuse("--evaluations or --time-limit ended the search before its first step was evaluated"),
    }
}

/// A duration in minutes, for people.
fn in_minutes(minutes: f64) -> String {
    readable_duration(minutes * 60.0)
}

fn best_predictor(templates: &[Template]) -> String {
    format!("smith:templates={},at=start", Template::print_set(templates))
}

fn comments(args: &SearchArgs, workload: &Workload, found: &FoundSet, seed: u64) -> Vec<String> {
    let method = args.method.to_possible_value().map_or(String::new(), |method| method.get_name().to_string());
    let whole = if found.stopped { ", stopped before it was through" } else { "" };
    let part = args.train.map_or(String::new(), |share| format!(" on the first {share} of the jobs"));
    vec![
        format!("Templates found by a {method} search{part} of {}, seed {seed}{whole}.", workload.label),
        format!(
            "Mean error there: {}, {:.2}% of the mean runtime.",
            in_minutes(found.score.minutes()),
            found.score.percent()
        ),
    ]
}

fn write_comparison(
    out: &mut dyn Write,
    width: Width,
    workload: &Workload,
    found: &FoundSet,
    compared: &[ComparedPredictor],
    seed: Option<u64>,
) -> io::Result<()> {
    let score = &compared[0].score;
    let runtime = in_minutes(score.mean_runtime_minutes());
    let (label, jobs) = (printable(&workload.label), counted(score.jobs as u64, "job"));
    let seed = seed.map_or(String::new(), |seed| format!(", seed {seed}"));
    write_wrapped(out, "", &format!("{label}: {jobs} judged, mean runtime {runtime}{seed}"), width)?;
    writeln!(out, "\nbest templates")?;
    found.templates.iter().try_for_each(|template| writeln!(out, "  {template}"))?;
    writeln!(out)?;
    let mut table = Table::default();
    let mut names = vec!["", "mean error", "of runtime", "answered", "mean error", "within interval"];
    if compared[0].trained.is_some() {
        names.extend(["searched on: mean error", "of runtime"]);
    }
    table.headings(names);
    let percent = |value: f64| format!("{value:.1}%");
    let optional = |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or("-".to_string(), show);
    for ComparedPredictor { name, score, trained, .. } in compared {
        let mut cells = vec![
            name.clone(),
            in_minutes(score.minutes()),
            percent(score.percent()),
            optional(score.minutes_answered(), &|_| grouped(score.answered as u64)),
            optional(score.minutes_answered(), &in_minutes),
            optional(score.inside_percent(), &percent),
        ];
        if let Some(trained) = trained {
            cells.extend([in_minutes(trained.minutes()), percent(trained.percent())]);
        }
        table.push(cells);
    }
    table.write(out, width)
}
