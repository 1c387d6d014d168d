//! `exec:command=-`: the caller of `sim` is the scheduler, and plays one simulation after another.

use std::io::Write;

use clap::ArgMatches;

use super::SimulateArgs;
use crate::cli::failure::{UsageError, refuse};
use crate::cli::is_given;
use crate::cli::log::read_workload;
use crate::experiment::{EpisodeRun, Episodes, Options, Setting};
use crate::metrics::{Measure, Portion, RunRow, summarize};
use crate::program::Program;
use crate::report::{Output, json_line, write_csv};
use crate::schedule::{EndAnswer, Episode, Exec, Introduction, LogFacts, Scheduler};
use crate::text::printable;
use crate::trace::{RunFacts, Workload};

pub fn execute(args: &SimulateArgs, matches: &ArgMatches, settings: Vec<Options>) -> anyhow::Result<()> {
    let out = args.caller_out(matches, &settings)?;
    let [options] = <[Options; 1]>::try_from(settings).expect("one setting was checked");
    let options = Options { baseline: None, ..options };
    let out = Output::create(out)?;
    let workload = read_workload(&args.log.source(), &options)?;
    // The rows of the episodes that have ended are kept.
    let mut played = Ok(());
    out.fill(|out| {
        played = Game::new(&workload, &options).play(out);
        Ok(())
    })?;
    if let Err(why) = &played {
        // The caller may be gone.
        let _ = Program::tell_caller(format!("{}\n", serde_json::json!({ "error": why })).as_bytes());
    }
    played.map_err(|why| anyhow::anyhow!(printable(&why).into_owned()))
}

impl SimulateArgs {
    /// The file of the rows. Everything is refused that needs more than one simulation, or that has another meaning.
    fn caller_out(&self, matches: &ArgMatches, settings: &[Options]) -> Result<&str, UsageError> {
        let given: &[(&str, bool)] = &[
            ("several values of an option", settings.len() > 1),
            ("--baseline", is_given(matches, "baseline")),
            ("--replications", self.replications.is_some()),
            ("--by", !self.groups.keys().is_empty() || self.groups.by_out.is_some()),
            ("--reasons", self.reasons),
            ("--keep", self.keep.folder.is_some()),
            ("--html", self.html.is_some()),
            ("--jobs-out", self.jobs_out.is_some()),
            ("--swf-out", self.swf_out.is_some()),
            ("--series-out", self.series_out.is_some()),
            ("--names-out", self.names_out.is_some()),
            ("--predictions-out", self.predictions_out.is_some()),
            ("a log on standard input", self.log.given() == Some("-")),
        ];
        if let Some((what, _)) = given.iter().find(|(_, is_given)| *is_given) {
            return refuse(format!("exec:command=- plays one simulation at a time, without {what}"));
        }
        let out = self.out.as_deref().filter(|out| !Output::is_stdout(out));
        out.ok_or_else(|| {
            let why = "exec:command=- talks over standard input and output: --out FILE gets one row per episode";
            UsageError(why.to_string())
        })
    }
}

/// Simulations that the caller plays.
struct Game<'a> {
    workload: &'a Workload,
    options: &'a Options,
    setting: Setting,
    episodes: Episodes<'a>,
}

impl<'a> Game<'a> {
    fn new(workload: &'a Workload, options: &'a Options) -> Game<'a> {
        let mut setting = options.setting();
        setting.engine.first_submission = Some(workload.first_submit());
        Game { workload, options, setting, episodes: Episodes::new(workload) }
    }

    fn play(&mut self, out: &mut dyn Write) -> Result<(), String> {
        let mut caller = Program::caller();
        let greeting = self.scheduler(self.workload).greeting(self.setting.engine.inflate);
        let introduction = caller.greet(&greeting, Introduction::parse)?;
        let (mut episode, mut rows) = (introduction.episode, 0u64);
        loop {
            let row = self.play_one(&introduction, episode.as_ref())?.cells();
            write_csv(out, std::slice::from_ref(&row), rows == 0).map_err(|error| error.to_string())?;
            rows += 1;
            let line = format!("{{\"end\":{}}}\n", json_line(&row));
            let asked = || format!("the end of episode {rows}");
            let Some(answer) = caller.ask_last(line.as_bytes(), &asked)? else { return Ok(()) };
            match EndAnswer::parse(answer) {
                Ok(EndAnswer { episode: None }) => return Ok(()),
                Ok(EndAnswer { episode: next }) => episode = next,
                Err(why) => return Err(caller.bad_answer(&asked(), &format!(": {why}"))),
            }
        }
    }

    /// Plays one episode, or the whole workload.
    fn play_one(&mut self, introduction: &Introduction, episode: Option<&Episode>) -> Result<RunRow, String> {
        let Some(episode) = episode else {
            let scheduler = self.scheduler(self.workload).of_caller(introduction, None);
            return self.simulate(scheduler, self.workload, &self.options.measure);
        };
        let EpisodeRun { workload, others, warm } = self.episodes.run(episode)?;
        let scheduler = self.scheduler(&workload).of_caller(introduction, warm);
        let (warmup, cooldown) = (Portion::Jobs(others), Portion::Jobs(0));
        self.simulate(scheduler, &workload, &Measure { warmup, cooldown, ..self.options.measure })
    }

    fn scheduler(&self, workload: &Workload) -> Exec {
        let facts = RunFacts::of(self.workload);
        let log = LogFacts::of_jobs(&workload.jobs, &workload.wide).on(workload.shapes.as_ref()).of_run(&facts);
        let log = log.amid_outages(workload.outages.is_some());
        Exec::new(&self.setting.scheduler, &log)
    }

    fn simulate(&self, scheduler: Exec, workload: &Workload, measure: &Measure) -> Result<RunRow, String> {
        let scheduler = Scheduler::from(scheduler).named(self.setting.scheduler.to_string());
        let record =
            self.setting.run_under(scheduler, workload, None, &mut |_| ()).map_err(|error| error.to_string())?;
        let summary = summarize(workload, &record, measure);
        let mut label = self.options.label(workload);
        label.dropped += record.never.count();
        Ok(RunRow { label, summary, baseline: None })
    }
}
