//! What has happened since the last line, and that line.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::protocol::Introduction;
use crate::job::{ArrivalNumber, InLog, Submission};
use crate::machine::{Cluster, NodeShare, OutageLedger, Resource, Tres};
use crate::program::json::{push_fields, push_id, push_number};
use crate::schedule::machine::Machine;
use crate::time::{Seconds, Time};
use crate::trace::RunFacts;

/// What the program does not know yet. It knows jobs by their places in the order of arrival.
#[derive(Default)]
pub struct News {
    pub run: RunFacts,
    /// What the program wants to know.
    pub wants_starts: bool,
    pub wants_predictions: bool,
    /// How many jobs will arrive, for the first line to a caller, who knows it from the episode. None after that line.
    pub jobs: Option<usize>,
    /// In order of arrival.
    arrived: Vec<UntoldJob>,
    /// The lists of these as JSON, without brackets.
    ended: Vec<u8>,
    cancelled: Vec<u8>,
    /// Jobs that an outage has stopped, so that they wait again.
    requeued: Vec<u8>,
    started: Vec<u8>,
    /// Predictions of jobs that the program knows, in the order in which they were made.
    predicted: Vec<(ArrivalNumber, Seconds)>,
    /// The jobs that have left since the last line.
    gone: Vec<ArrivalNumber>,
    /// The known outages that the program was told last.
    outages: Vec<u32>,
    /// The free resources of each node as the program knows them. Empty: it knows none.
    free: Vec<Tres>,
    /// When running jobs have started.
    starts: FxHashMap<ArrivalNumber, Time>,
    /// In order of arrival: the numbers of all jobs in the log, for messages.
    numbers: Vec<i64>,
}

/// A job that the program has not been told of.
struct UntoldJob {
    id: ArrivalNumber,
    job: Submission,
    in_log: InLog,
    prediction: Seconds,
    /// If it ran before the first line.
    start: Option<Time>,
}

/// What the program may use.
pub enum Free<'a> {
    Processors(i64),
    Nodes(&'a Cluster, &'a [Tres]),
}

impl News {
    pub fn new(run: RunFacts) -> News {
        News { run, ..News::default() }
    }

    pub fn set_wants(&mut self, introduction: &Introduction) {
        (self.wants_starts, self.wants_predictions) = (introduction.wants_starts(), introduction.wants_predictions());
    }

    /// Whether a job has arrived.
    pub fn has_arrived(&self, id: ArrivalNumber) -> bool {
        (id.0 as usize) < self.numbers.len()
    }

    /// A job in words.
    pub fn in_words(&self, id: ArrivalNumber) -> String {
        let number = self.numbers.get(id.0 as usize).copied().unwrap_or(-1);
        format!("job {number} (id {})", crate::program::json::id(id))
    }

    pub fn on_arrival(&mut self, id: ArrivalNumber, job: &Submission, in_log: InLog) {
        self.numbers.resize(id.0 as usize + 1, -1);
        self.numbers[id.0 as usize] = in_log.number;
        self.arrived.push(UntoldJob { id, job: *job, in_log, prediction: 0, start: None });
    }

    pub fn on_prediction(&mut self, id: ArrivalNumber, prediction: Seconds) {
        match self.untold(id) {
            Some(at) => self.arrived[at].prediction = prediction,
            None if self.wants_predictions => self.predicted.push((id, prediction)),
            None => {}
        }
    }

    fn untold(&self, id: ArrivalNumber) -> Option<usize> {
        // Most predictions are for the job that has just arrived.
        match self.arrived.last() {
            Some(last) if last.id == id => Some(self.arrived.len() - 1),
            _ => self.arrived.binary_search_by_key(&id, |job| job.id).ok(),
        }
    }

    /// A job starts, on nodes with this grant.
    pub fn on_start(&mut self, id: ArrivalNumber, now: Time, grant: Option<(&Cluster, &[NodeShare])>) {
        self.starts.insert(id, now);
        if let Some(at) = self.untold(id) {
            self.arrived[at].start = Some(now);
        } else if self.wants_starts {
            let started = &mut self.started;
            separate(started);
            match grant {
                None => push_id(started, id),
                Some((cluster, grant)) => {
                    started.extend_from_slice(b"{\"id\":");
                    push_id(started, id);
                    started.extend_from_slice(b",\"nodes\":");
                    push_nodes(started, cluster, grant.iter().map(|share| (share.node as usize, share.what)));
                    started.push(b'}');
                }
            }
        }
    }

    pub fn on_end(&mut self, id: ArrivalNumber, now: Time) {
        let Some(start) = self.starts.remove(&id) else { return };
        // The program has never known it.
        if let Some(at) = self.untold(id) {
            self.arrived.remove(at);
            return;
        }
        self.gone.push(id);
        separate(&mut self.ended);
        self.ended.extend_from_slice(b"{\"id\":");
        push_id(&mut self.ended, id);
        push_fields(&mut self.ended, &[("time", now), ("runtime", now - start)]);
        self.ended.push(b'}');
    }

    pub fn on_cancellation(&mut self, id: ArrivalNumber) {
        self.gone.push(id);
        separate(&mut self.cancelled);
        push_id(&mut self.cancelled, id);
    }

    pub fn on_requeue(&mut self, id: ArrivalNumber) {
        self.starts.remove(&id);
        if let Some(at) = self.untold(id) {
            self.arrived[at].start = None;
            return;
        }
        separate(&mut self.requeued);
        push_id(&mut self.requeued, id);
    }

    /// Appends the line of a pass. From then on the program knows everything.
    pub fn push(&mut self, line: &mut Vec<u8>, machine: &Machine, free: &Free<'_>, is_woken: bool) {
        let now = machine.now;
        line.extend_from_slice(b"{\"pass\":");
        push_number(line, now);
        match free {
            Free::Processors(free) => push_fields(line, &[("free", *free)]),
            Free::Nodes(cluster, free) => self.push_free(line, cluster, free),
        }
        if let Some(jobs) = self.jobs.take() {
            push_fields(line, &[("jobs", jobs as i64)]);
        }
        self.push_jobs(line, "running", true);
        self.push_jobs(line, "arrived", false);
        self.arrived.clear();
        for (name, list) in [
            ("ended", &mut self.ended),
            ("cancelled", &mut self.cancelled),
            ("started", &mut self.started),
            // After the starts: a job can have started and been stopped since the last line, but not the other way round.
            ("requeued", &mut self.requeued),
        ] {
            if !list.is_empty() {
                push_name(line, name);
                line.push(b'[');
                line.append(list);
                line.push(b']');
            }
        }
        self.push_predictions(line);
        if let Some(ledger) = &machine.outages {
            self.push_outages(line, ledger, machine.nodes().map(|nodes| nodes.cluster()));
        }
        self.gone.clear();
        if is_woken {
            line.extend_from_slice(b",\"woken\":true");
        }
        line.extend_from_slice(b"}\n");
    }

    /// Appends the nodes whose free resources have changed.
    fn push_free(&mut self, line: &mut Vec<u8>, cluster: &Cluster, free: &[Tres]) {
        let known = &self.free;
        let changed = |(at, free): &(usize, &Tres)| known.get(*at) != Some(*free);
        let mut changed = free.iter().enumerate().filter(changed).peekable();
        if changed.peek().is_some() {
            push_name(line, "nodes");
            push_nodes(line, cluster, changed.map(|(at, free)| (at, *free)));
            self.free.clear();
            self.free.extend_from_slice(free);
        }
    }

    /// Appends all outages that are known and not over, if they are others than those of the last line.
    fn push_outages(&mut self, line: &mut Vec<u8>, ledger: &OutageLedger, cluster: Option<&Cluster>) {
        let known: Vec<u32> = ledger.known().map(|(at, _)| at).collect();
        if known == self.outages {
            return;
        }
        self.outages = known;
        let outages = ledger.known().map(|(_, outage)| {
            let mut told = json!({ "kind": outage.kind.name(), "start": outage.start });
            match cluster {
                None => told["procs"] = outage.procs.into(),
                Some(cluster) => {
                    told["nodes"] =
                        outage.nodes.iter().map(|&node| cluster.nodes[node as usize].name.as_str()).collect();
                }
            }
            if outage.known_end() < Time::MAX {
                told["end"] = outage.known_end().into();
            }
            if !outage.name.is_empty() {
                told["name"] = outage.name.as_str().into();
            }
            told
        });
        push_name(line, "outages");
        serde_json::to_writer(&mut *line, &outages.collect::<Vec<Value>>()).expect("a vector takes every line");
    }

    /// Appends the jobs that the program has not been told of: those that run, or those that do not.
    fn push_jobs(&self, line: &mut Vec<u8>, name: &str, run: bool) {
        let mut jobs = self.arrived.iter().filter(|job| job.start.is_some() == run).peekable();
        if jobs.peek().is_none() {
            return;
        }
        push_name(line, name);
        line.push(b'[');
        for UntoldJob { id, job, in_log, prediction, start } in jobs {
            separate(line);
            self.run.push_job(line, *id, job, *in_log);
            push_fields(line, &[("prediction", *prediction)]);
            start.iter().for_each(|start| push_fields(line, &[("start", *start)]));
            if self.has_nodes() {
                self.run.push_request(line, in_log.request);
            }
            line.push(b'}');
        }
        line.push(b']');
    }

    fn has_nodes(&self) -> bool {
        !self.free.is_empty()
    }

    /// Appends the latest prediction of each job that is still there.
    fn push_predictions(&mut self, line: &mut Vec<u8>) {
        if self.predicted.is_empty() {
            return;
        }
        // The order of the predictions of one job stays.
        self.predicted.sort_by_key(|(id, _)| *id);
        self.gone.sort_unstable();
        let begin = line.len();
        for of_job in self.predicted.chunk_by(|a, b| a.0 == b.0) {
            let (id, prediction) = of_job[of_job.len() - 1];
            if self.gone.binary_search(&id).is_err() {
                line.push(b',');
                push_id(line, id);
                line.push(b':');
                push_number(line, prediction);
            }
        }
        self.predicted.clear();
        if line.len() > begin {
            // The first comma becomes the beginning.
            line.splice(begin..=begin, *b",\"predicted\":{");
            line.push(b'}');
        }
    }
}

/// Appends a comma, unless a list begins.
fn separate(list: &mut Vec<u8>) {
    if !matches!(list.last(), None | Some(b'[')) {
        list.push(b',');
    }
}

fn push_name(line: &mut Vec<u8>, name: &str) {
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
}

/// Appends resources by the names of nodes.
fn push_nodes(line: &mut Vec<u8>, cluster: &Cluster, nodes: impl Iterator<Item = (usize, Tres)>) {
    line.push(b'{');
    for (count, (node, free)) in nodes.enumerate() {
        if count > 0 {
            line.push(b',');
        }
        serde_json::to_writer(&mut *line, &cluster.nodes[node].name).expect("a vector takes every line");
        line.extend_from_slice(b":[");
        for (at, kind) in Resource::OF_NODES.into_iter().enumerate() {
            if at > 0 {
                line.push(b',');
            }
            push_number(line, i64::try_from(free[kind]).unwrap_or(i64::MAX));
        }
        line.push(b']');
    }
    line.push(b'}');
}
