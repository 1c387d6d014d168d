//! Priorities of Slurm on nodes against records of the daemon: use and fair share follow from starts and ends alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use shadowtime::machine::associations::Associations;
use shadowtime::schedule::catalog;
use shadowtime::schedule::slurm::conf::SlurmConf;
use shadowtime::schedule::slurm::nodes::{
    FairShareRule, Owners, PriorityWeights, RunningUse, SitePriorities, SlurmJob, SlurmSite,
};
use shadowtime::time::Time;

use crate::sacctmgr_commands::dump_of;
use crate::slurm_node_records::{NodeRecord, QOS_OF_Q1};

/// The accounts of the records, as commands of sacctmgr.
const ACCOUNTS_OF_N: &str = "\
add qos Name=normal Priority=0
add qos Name=hi3 Priority=100
add qos Name=lo3 Priority=10
add account name=a1 Fairshare=2
add account name=a2 Fairshare=1
add user name=u1 DefaultAccount=a1 Fairshare=1
add user name=u2 DefaultAccount=a1 Fairshare=1
add user name=u3 DefaultAccount=a1 Fairshare=2
add user name=u4 DefaultAccount=a2 Fairshare=1
add user name=u5 DefaultAccount=a2 Fairshare=3
add user name=u6 DefaultAccount=a2 Fairshare=1
";

/// Those of the micro cluster of UB.
const ACCOUNTS_OF_MICRO: &str = "\
add qos Name=normal Priority=0
add account name=account0 Fairshare=100
add account name=account1 Fairshare=100
add account name=account2 Fairshare=100
add user name=u6 DefaultAccount=account0
add user name=u1 DefaultAccount=account1
add user name=u2 DefaultAccount=account1
add user name=u3 DefaultAccount=account1
add user name=u4 DefaultAccount=account2
add user name=u5 DefaultAccount=account2
";

/// How many recorded priorities are the same.
#[derive(Debug, Default)]
pub(crate) struct PriorityFigures {
    pub priorities: u32,
    /// Within 1.
    pub same: u32,
    pub first_other: Option<String>,
}

/// A recorded run whose priorities are computed again.
struct Judged<'r> {
    record: &'r NodeRecord,
    priorities: SitePriorities,
    weights: PriorityWeights,
    /// By partition: its recorded factor.
    factors: Vec<f64>,
    jobs: BTreeMap<u64, SlurmJob>,
    running: BTreeMap<u64, RunningUse>,
    /// By job: how often it has started.
    started: BTreeMap<u64, usize>,
    /// Running jobs of a recalculation that are not yet counted, in the order of their numbers.
    to_count: Vec<u64>,
    /// The CPUs of the last reservation of jobs that take whole nodes.
    planned: BTreeMap<u64, u32>,
    /// The factors of the next recorded priority.
    recorded: BTreeMap<String, f64>,
    by_partition: Option<(u64, Value)>,
    figures: PriorityFigures,
}

impl Judged<'_> {
    fn new<'r>(record: &'r NodeRecord, accounts: &str) -> Judged<'r> {
        let conf = SlurmConf::parse(&record.conf, Path::new("")).unwrap();
        let weights = PriorityWeights::of(&catalog::parse(&conf.spec()).unwrap());
        let (associations, _) = Associations::parse(&dump_of("test", accounts)).unwrap();
        let mut site: SlurmSite = record.site.clone();
        Arc::make_mut(&mut site.cluster).associations = associations.clone();
        let mut priorities = SitePriorities::new(weights.clone(), &site, Owners::new(&associations));
        let job = |(&id, job): (&u64, &crate::slurm_node_records::RecordedJob)| {
            let qos = associations.qos.iter().position(|qos| qos.name == job.qos);
            (id, SlurmJob { owner: priorities.owner(&job.user, ""), qos, ..job.job.clone() })
        };
        let jobs = record.jobs.iter().map(job).collect();
        let all = &site.cluster.partitions;
        let largest = all.iter().map(|partition| partition.priority_job_factor).max().unwrap();
        Judged {
            record,
            priorities,
            weights,
            factors: all.iter().map(|one| f64::from(one.priority_job_factor) / f64::from(largest)).collect(),
            jobs,
            running: BTreeMap::new(),
            started: BTreeMap::new(),
            to_count: Vec::new(),
            planned: BTreeMap::new(),
            recorded: BTreeMap::new(),
            by_partition: None,
            figures: PriorityFigures::default(),
        }
    }

    /// Counts running jobs of a recalculation up to a number.
    fn count_below(&mut self, id: u64) {
        while self.to_count.first().is_some_and(|&next| next < id) {
            let next = self.to_count.remove(0);
            self.priorities.count(&self.running[&next]);
            if self.to_count.is_empty() {
                self.priorities.finish();
            }
        }
    }

    fn see(&mut self, event: &[Value]) {
        let (now, kind) = (event[0].as_f64().unwrap().floor() as Time, event[1].as_str().unwrap());
        let id = event.get(2).and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "sub" | "main" | "bf" | "end" | "sm" | "sb" => self.count_below(u64::MAX),
            // With the classic formula the daemon looks at running and waiting jobs in the order of their numbers.
            "fs" => self.count_below(id),
            _ => {}
        }
        match (kind, self.record.jobs.get(&id)) {
            ("sm" | "sb", Some(job)) => {
                let at = self.started.entry(id).or_default();
                let (start, ref grant) = job.runs[*at];
                *at += 1;
                let cpus = grant.iter().map(|share| f64::from(share.what.cpus())).sum();
                let owner = self.jobs[&id].owner;
                self.running.insert(id, RunningUse { owner, cpus, start, factor: 1.0 });
            }
            ("end" | "pre" | "nodefail" | "rend", Some(_)) => {
                if let Some(job) = self.running.remove(&id) {
                    self.priorities.on_end(&job, now);
                }
            }
            ("decay", _) => {
                self.priorities.begin(now);
                self.to_count = self.running.keys().copied().collect();
                match (self.weights.rule, self.to_count.is_empty()) {
                    (FairShareRule::Classic { .. }, false) => {}
                    (_, false) => self.count_below(u64::MAX),
                    (_, true) => self.priorities.finish(),
                }
            }
            ("resv", Some(job)) if job.job.is_whole => {
                let nodes = &self.record.site.cluster.nodes;
                let cpus = |name: &Value| nodes.iter().find(|node| name == &node.name).unwrap().has.cpus();
                self.planned.insert(id, event[6].as_array().unwrap().iter().map(cpus).sum());
            }
            ("fac", _) => {
                self.recorded.insert(event[2].as_str().unwrap().to_string(), event[3].as_f64().unwrap());
            }
            ("mprio", _) => self.by_partition = Some((id, event[3].clone())),
            ("prio", Some(_)) => self.judge(id, event[3].as_i64().unwrap(), now),
            _ => {}
        }
    }

    /// Compares a recorded priority, and those in each partition of a job in several. The age is the recorded one, in whole seconds: the
    /// daemon writes an event up to a second after it took the time. Of a job in several partitions it is not recorded for which of
    /// them the priority is: that with the recorded factor.
    fn judge(&mut self, id: u64, priority: i64, now: Time) {
        let job = SlurmJob { nice: self.record.jobs[&id].nice as i32, ..self.jobs[&id].clone() };
        let age = (self.recorded["Age"] * self.weights.max_age as f64).round() as Time;
        let recorded = self.recorded["Partition"];
        let is_this = |&&partition: &&usize| (self.factors[partition] - recorded).abs() < 1e-5;
        let named = |name: &str| self.record.site.cluster.partition(name).unwrap();
        let mut expected: Vec<(usize, i64)> = Vec::new();
        let this = job.partitions.iter().find(is_this).unwrap_or(&job.partitions[0]);
        expected.push((*this, priority));
        if let Some((_, list)) = self.by_partition.take().filter(|(of, _)| *of == id) {
            let all = list.as_object().unwrap().iter();
            expected.extend(all.map(|(name, priority)| (named(name), priority.as_i64().unwrap())));
        }
        for (partition, priority) in expected {
            let planned = self.planned.get(&id).copied();
            let found = self.priorities.of(&job, partition, now - age, planned, now);
            self.figures.priorities += 1;
            if (found - priority).abs() <= 1 {
                self.figures.same += 1;
            } else {
                let other = || format!("job {id} at {now}: {found}, recorded {priority}; {:?}", self.recorded);
                self.figures.first_other.get_or_insert_with(other);
            }
        }
    }
}

/// How many priorities of a record are the same, if they are not in order of arrival. The accounts are those of its kind of record.
pub(crate) fn judged_priorities(name: &str, record: &NodeRecord) -> Option<PriorityFigures> {
    if record.is_basic {
        return None;
    }
    let accounts = if name.starts_with("MC") { ACCOUNTS_OF_MICRO } else { ACCOUNTS_OF_N };
    let qos = if name.starts_with('Q') { QOS_OF_Q1 } else { "" };
    let mut judged = Judged::new(record, &format!("{qos}{accounts}"));
    record.events.iter().for_each(|event| judged.see(event.as_array().unwrap()));
    Some(judged.figures)
}
