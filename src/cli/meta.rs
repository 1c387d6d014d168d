//! `sim meta`: distributes one stream of jobs over many sites.

use std::path::Path;
use std::time::Instant;

use clap::{Arg, ArgMatches, Args};

use super::failure::{UsageError, refuse, refuse_program};
use super::log::read_and_clean;
use super::names::NamesOption;
use super::notes::{note_conditions_of_the_log, report_cleaning};
use super::options;
use super::output_options::{OutputFiles, OutputOptions};
use super::plain_arguments::PlainArguments;
use super::progress::Progress;
use super::slurm_conf;
use super::stderr::note;
use super::{CommandForm, is_given, parsed};
use crate::experiment::Options;
use crate::experiment::Section::{Engine, Estimates, Log, Metrics, Reading, Shape};
use crate::meta::{
    DispatchPolicy, MetaRecord, MetaSummary, MetaSystem, PlacedRow, PolicyRow, SCENARIO_DAYS, Scenario, Site,
    SiteMachine, SiteText, SitesFile, placed_jobs, run, site_columns, site_rows, summarize_system, write_placed_jobs,
    write_policies, write_scenarios,
};
use crate::metrics::{JobRow, Measure};
use crate::parallel;
use crate::report::{Cell, counted, swept_cells, write_settings, write_wrapped};
use crate::settings_file;
use crate::spec::{Spec, SpecError, SpecList, parse_list};
use crate::time::readable_duration;
use crate::trace::Source;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "meta",
    about: "Send each job of many sites to one of them, by several policies",
    arguments: |command| {
        let command = options::add_named(MetaArgs::augment_args(command), &["scheduler", "predictor"]);
        let of_sites = |argument: Arg, default: &'static str, what: &str| {
            let help = format!("The {what} of sites that have none of their own");
            argument.default_value(default).help(help).help_heading(None).display_order(0)
        };
        options::add(command, &[Log, Reading, Estimates, Shape, Engine, Metrics])
            .mut_arg("scheduler", |argument| of_sites(argument, "easy", "scheduler"))
            .mut_arg("predictor", |argument| of_sites(argument, "estimate", "runtime predictor"))
    },
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim meta CTC.swf.gz KTH.swf.gz  two sites that have the names of their logs
  sim meta --site CTC=CTC.swf.gz:procs=430 --site KTH=KTH.swf.gz
  sim meta --site A=a.swf \\
    --site B=b.swf:procs=64:scheduler=sjbf:predictor=ruh:window=2 \\
    --policy static,redundant
  sim meta grid.toml --policy least-loaded,k-distributed:k=3 --format csv \\
    --sites-out sites.csv
  sim meta --scenario 1K-equal-I --policy static,least-loaded
  sim meta --scenario all         the 32 scenarios of Kumar and Vadhiyar
  sim list policies               the policies, with their keys

A file has one table per site. Its keys are the options of `sim` that select, change and schedule jobs. The same keys can be
given after colons in --site (predictor= must be the last one):

  [[site]]
  name = \"CTC\"
  log = \"CTC.swf.gz\"
  procs = 430
  first = 77222

Each log begins at time 0. 250,000 jobs at five sites take about a second per policy. The policy least-predicted takes about
five minutes on one core, because it predicts the wait of every job at every site.")]
struct MetaArgs {
    /// A TOML file with sites, or logs: each log is a site with the name of the log
    #[arg(value_name = "FILE", display_order = 0)]
    files: Vec<String>,
    /// The log of a site that has the name of the log; repeat the option for more sites
    #[arg(long, value_name = "FILE", display_order = 0)]
    trace: Vec<String>,
    /// A site: its name, its log, and its own settings, such as procs, scheduler, predictor, first, load; repeat the option for
    /// more sites
    #[arg(long, value_name = "NAME=LOG[:key=value]", value_parser = SiteText::parse, display_order = 0)]
    site: Vec<SiteText>,
    /// Generated jobs instead of logs: all, or SIZE-PARTITIONING-LOAD with * for any (128K-*-II); separate several by commas
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["files", "trace", "site", "jobs_out", "sites_out", "names"], display_order = 0)]
    scenario: Option<String>,
    /// How each job's site is chosen: a list of policies; see `sim list policies` [default: all of them]
    #[arg(long, value_name = "POLICY", value_parser = options::checked_specs("policy", DispatchPolicy::parse_spec))]
    #[arg(display_order = 0)]
    policy: Option<String>,
    /// Allow the programs of `exec` predictors and schedulers that are named in a file of sites
    #[arg(long, display_order = 0)]
    allow_exec: bool,
    /// The number of days in which the jobs of a scenario arrive
    #[arg(long, value_name = "N", default_value_t = SCENARIO_DAYS, value_parser = clap::value_parser!(u32).range(1..=10_000), display_order = 0)]
    days: u32,

    /// Write a CSV with one line per policy and site; - for standard output (the summary then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    sites_out: Option<String>,
    /// Write a CSV with one line per policy and job: the site it was submitted at and the site it ran at; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    #[command(flatten)]
    names: NamesOption,
    #[command(flatten)]
    output: OutputOptions,
}

fn execute(args: &MetaArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let options = options::read(matches)?;
    match &args.scenario {
        None if args.names.is_given() && args.jobs_out.is_none() => {
            refuse("--names has no effect without --jobs-out: the summary names nobody; remove it")
        }
        Some(text) => execute_scenarios(args, text, &options, matches),
        None => execute_sites(args, &options, matches),
    }
}

impl MetaArgs {
    fn policies(&self, file: Option<&str>) -> Result<SpecList<Spec>, SpecError> {
        let default = "static,least-loaded,k-distributed,redundant,least-predicted";
        let list = self.policy.as_deref().or(file).unwrap_or(default);
        parse_list("policy", [list], DispatchPolicy::parse_spec)
    }
}

/// The policies, and `static`, which all others are compared with. If it was not requested, it is the last: it is run, but
/// not printed.
fn with_static(policies: &[Spec]) -> Vec<DispatchPolicy> {
    let mut all: Vec<DispatchPolicy> = policies.iter().map(DispatchPolicy::of).collect();
    if !all.contains(&DispatchPolicy::Static) {
        all.push(DispatchPolicy::Static);
    }
    all
}

/// Runs have the names of policies as they are in their list: with the swept keys.
fn named(policies: &[Spec], mut runs: Vec<MetaSummary>) -> Vec<MetaSummary> {
    runs.iter_mut().zip(policies).for_each(|(run, policy)| run.policy = policy.to_string());
    runs
}

fn execute_sites(args: &MetaArgs, options: &Options, matches: &ArgMatches) -> anyhow::Result<()> {
    let PlainArguments { settings, logs } = PlainArguments::of(&args.files, settings_file::MOST_OF_SITES)?;
    if let (Some(log), false) = (logs.first(), args.trace.is_empty()) {
        return refuse(format!("'{log}' and --trace both name logs: give all of them in one way"));
    }
    let file = match settings {
        None => SitesFile::default(),
        Some(path) => {
            let text = settings_file::read_text(Path::new(path), settings_file::MOST_OF_SITES).map_err(UsageError)?;
            SitesFile::parse(&text).map_err(|error| UsageError(format!("{path}: {error}")))?
        }
    };
    if let (Some(path), false) = (settings, args.allow_exec) {
        refuse_program(&format!("{path}: "), file.program().as_ref())?;
    }
    let logs: Vec<&str> = logs.into_iter().chain(args.trace.iter().map(String::as_str)).collect();
    let logs = SiteText::of_logs(&logs);
    let policies = args.policies(file.policies.as_deref())?;
    let sites: Vec<&SiteText> = file.sites.iter().chain(&logs).chain(&args.site).collect();
    if sites.is_empty() {
        let how = "give a log or --site NAME=LOG for each site, a file with sites, or --scenario (see --help)";
        return refuse(format!("there is no site: {how}"));
    }
    let outputs = [("--jobs-out", &args.jobs_out), ("--sites-out", &args.sites_out)];
    let logs = sites.iter().map(|site| ("--site", site.log.as_str()));
    let inputs: Vec<_> = logs.chain(settings.map(|file| ("FILE", file))).collect();
    let OutputFiles { files: [jobs_out, sites_out], stdout_taken } = OutputFiles::open(outputs, &inputs)?;
    let sites = sites.into_iter().map(|site| read_site(site, options, args.names, matches));
    let system = MetaSystem::new(sites.collect::<anyhow::Result<_>>()?).map_err(UsageError)?;
    if options.measure.jobs(system.arrivals.len()).is_empty() {
        let jobs = counted(system.arrivals.len() as u64, "job");
        return refuse(format!("--warmup and --cooldown leave no job to measure: there are {jobs}"));
    }
    let all = with_static(&policies.items);
    let cost: Vec<Cost> =
        all.iter().map(|policy| Cost::of(policy, system.machines.len(), system.arrivals.len())).collect();
    note_cost(&counted(system.machines.len() as u64, "site"), &cost, args.output.threads());
    let records = run_all(&system, &all, args.output.threads())?;
    let summarize = |(policy, record)| summarize_system(&system, policy, record, &options.measure);
    let summaries = named(&policies.items, all.iter().zip(&records).map(summarize).collect());
    let static_run = summaries.iter().find(|run| run.policy == "static").expect("static was run");
    let shown = &summaries[..policies.items.len()];
    if let Some(out) = sites_out {
        let rows = shown.iter().flat_map(|run| site_rows(static_run, run));
        out.fill(|out| write_settings(out, &site_columns(), [(None, rows)].into_iter()))?;
    }
    if let Some(out) = jobs_out {
        let names: Vec<String> = policies.items.iter().map(Spec::to_string).collect();
        out.fill(|out| write_placed_jobs(out, jobs(&system, &names, &records, &options.measure)))?;
    }
    let row = |(at, run)| {
        let cells = PolicyRow::of(static_run, run).cells().into_iter();
        cells.chain(swept_cells(&policies.keys, at)).collect()
    };
    let rows: Vec<Vec<_>> = shown.iter().enumerate().map(row).collect();
    Ok(args.output.print.print_rows(stdout_taken, &rows, |out, width| write_policies(out, width, static_run, shown))?)
}

fn jobs<'a>(
    system: &'a MetaSystem,
    policies: &'a [String],
    records: &'a [MetaRecord],
    measure: &'a Measure,
) -> impl Iterator<Item = PlacedRow<'a>> {
    policies.iter().zip(records).flat_map(move |(policy, record)| {
        let name = |site: usize| system.machines[site].name.as_str();
        placed_jobs(system, record, measure).map(move |placed| {
            let SiteMachine { wide, names, ids, .. } = &system.machines[placed.origin];
            let (origin, site) = (name(placed.origin), name(placed.site));
            PlacedRow { policy, origin, site, job: JobRow::of(placed.job, wide, names, ids) }
        })
    })
}

fn read_site(text: &SiteText, defaults: &Options, names: NamesOption, matches: &ArgMatches) -> anyhow::Result<Site> {
    // Warmup and cooldown apply to the whole stream, not to the jobs of one site.
    let mut options = Options { measure: Measure::default(), ..text.options(defaults) };
    if !["machine", "procs"].iter().any(|name| text.says(name) || is_given(matches, name)) {
        let scheduler = options.scheduler.clone();
        slurm_conf::set_one_machine(matches, None, &mut options, [&scheduler].into_iter())?;
    }
    let (workload, log) = read_and_clean(&Source::from_argument(&text.log), &options)?;
    report_cleaning(&log, &workload);
    let workload = names.show(&log, options.shape(workload)?);
    note_conditions_of_the_log(&log.name, &workload);
    let workload = workload.as_recorded();
    Ok(Site { name: text.name.clone(), workload, setting: options.setting() }.from_time_zero())
}

/// Runs a system under every policy.
fn run_all(system: &MetaSystem, policies: &[DispatchPolicy], threads: usize) -> anyhow::Result<Vec<MetaRecord>> {
    let progress = Progress::counting("simulating", "jobs", Some(system.arrivals.len() * policies.len()));
    let one = |policy: &DispatchPolicy| {
        let mut before = 0;
        run(system, policy, &mut |arrived| {
            progress.add(arrived - std::mem::replace(&mut before, arrived));
        })
    };
    Ok(parallel::map(policies, threads, one, |_| ()).into_iter().collect::<Result<_, _>>()?)
}

fn execute_scenarios(args: &MetaArgs, text: &str, options: &Options, matches: &ArgMatches) -> anyhow::Result<()> {
    refuse_options_of_logs(matches)?;
    let policies = args.policies(None)?;
    let mut scenarios = Vec::new();
    for scenario in text.split(',').map(Scenario::parse).collect::<Result<Vec<_>, _>>()?.concat() {
        if !scenarios.contains(&scenario) {
            scenarios.push(scenario);
        }
    }
    let all = with_static(&policies.items);
    let cells: Vec<(Scenario, &DispatchPolicy)> =
        scenarios.iter().flat_map(|&scenario| all.iter().map(move |policy| (scenario, policy))).collect();
    let cost: Vec<Cost> =
        cells.iter().map(|(scenario, policy)| Cost::of(policy, 4, scenario.jobs(args.days))).collect();
    note_cost(&counted(scenarios.len() as u64, "scenario"), &cost, args.output.threads());
    let (setting, seed) = (options.setting(), options.shaping.seed);
    let began = Instant::now();
    let summaries = {
        let progress = Progress::counting("simulating", "runs", Some(cells.len()));
        let one = |(scenario, policy): &(Scenario, &DispatchPolicy)| -> anyhow::Result<MetaSummary> {
            let system = scenario.system(&setting, args.days, seed).map_err(UsageError)?;
            let record = run(&system, policy, &mut |_| ())?;
            Ok(summarize_system(&system, policy, &record, &options.measure))
        };
        parallel::map(&cells, args.output.threads(), one, |done| progress.set(done))
    };
    let summaries = summaries.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let time = readable_duration(began.elapsed().as_secs_f64());
    note(format_args!("{} in {time}, seed {seed}", counted(cells.len() as u64, "run")));
    let runs = summaries.chunks(all.len()).map(|runs| named(&policies.items, runs.to_vec()));
    let scenarios: Vec<(String, Vec<MetaSummary>)> = scenarios.iter().map(Scenario::to_string).zip(runs).collect();
    let row = |(name, runs): &(String, Vec<MetaSummary>)| {
        let static_run = runs.iter().find(|run| run.policy == "static").expect("static was run");
        let with_name = |(at, run)| {
            let name = [("scenario".to_string(), Cell::Text(name.clone()))];
            let seed = [("seed".to_string(), Cell::Count(seed))];
            let swept = swept_cells(&policies.keys, at);
            name.into_iter().chain(PolicyRow::of(static_run, run).cells()).chain(swept).chain(seed).collect::<Vec<_>>()
        };
        runs[..policies.items.len()].iter().enumerate().map(with_name).collect::<Vec<_>>()
    };
    let rows: Vec<_> = scenarios.iter().flat_map(row).collect();
    let shown: Vec<_> =
        scenarios.iter().map(|(name, runs)| (name.clone(), runs[..policies.items.len()].to_vec())).collect();
    Ok(args.output.print.print_rows(false, &rows, |out, width| {
        write_wrapped(out, "", &format!("{}, seed {seed}", counted(u64::from(args.days), "day")), width)?;
        writeln!(out)?;
        write_scenarios(out, width, &shown)
    })?)
}

/// A scenario has no log, so options that change a log would have no effect.
fn refuse_options_of_logs(matches: &ArgMatches) -> Result<(), UsageError> {
    let of_logs = crate::experiment::OPTIONS.iter().filter(|option| {
        let of_log = matches!(option.section, Log | Reading | Estimates | Shape);
        of_log && option.name != "seed"
    });
    for option in of_logs {
        if is_given(matches, option.name) {
            return refuse(format!("--{} is for logs: a scenario generates its own jobs", option.name));
        }
    }
    Ok(())
}

/// The expected cost of a run, which is printed before the run starts.
#[derive(Clone, Copy)]
struct Cost {
    jobs: usize,
    seconds: f64,
}

/// Seconds per job and site without a prediction of the wait, measured on a slow core.
const STEP_SECONDS: f64 = 1.2e-6;
/// Seconds per job and site if the wait is predicted, measured on a slow core.
const PREDICTION_SECONDS: f64 = 250e-6;

impl Cost {
    fn of(policy: &DispatchPolicy, sites: usize, jobs: usize) -> Cost {
        let each = if policy.needs_waits() { PREDICTION_SECONDS } else { STEP_SECONDS };
        Cost { jobs, seconds: each * (sites * jobs) as f64 }
    }
}

fn note_cost(what: &str, costs: &[Cost], threads: usize) {
    let jobs: usize = costs.iter().map(|cost| cost.jobs).sum();
    let all: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let longest = costs.iter().map(|cost| cost.seconds).fold(0.0, f64::max);
    let (runs, jobs) = (counted(costs.len() as u64, "run"), counted(jobs as u64, "job"));
    let time = readable_duration((all / threads as f64).max(longest).max(1.0).round());
    let threads = counted(threads as u64, "thread");
    note(format_args!("{what}: {runs}, {jobs} in all, about {time} on {threads}"));
}
