//! What slurmctld's log (debug3, `DebugFlags=Backfill,Priority,TraceJobs`) says of a run on nodes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shadowtime::machine::HostList;

use crate::slurm_record::{leading_number, unix_seconds};

/// The log in the form of a record.
pub struct NodeLog {
    /// `[seconds, kind, ...]`, in the order of the log. Times are seconds after `t0`.
    pub events: Vec<Value>,
    /// By job, its request as slurmctld received it.
    pub requests: BTreeMap<u32, Request>,
}

/// The values of the daemon's description of a job, by name.
pub type Request = BTreeMap<String, String>;

impl NodeLog {
    pub fn read(log: &str, t0: i64) -> NodeLog {
        let mut read = NodeLog { events: Vec::new(), requests: BTreeMap::new() };
        // Of the submission under way.
        let mut request = Request::new();
        for line in log.lines() {
            let Some((time, text)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) else { continue };
            let at = ((unix_seconds(time) - t0 as f64) * 1000.0).round() / 1000.0;
            if text.contains("JobDesc:") {
                request = Request::new();
            } else if let Some(description) = text.strip_prefix("debug3:    ") {
                for (key, value) in description.split_whitespace().filter_map(|word| word.split_once('=')) {
                    request.entry(key.to_string()).or_insert_with(|| value.to_string());
                }
            }
            if let Some(event) = event(text, t0) {
                if event[0] == "sub" {
                    read.requests.insert(event[1].as_u64().unwrap() as u32, request.clone());
                }
                read.events.push(Value::Array([vec![json!(at)], event].concat()));
            }
        }
        read
    }
}

/// The kind of an event and its values, if this line tells one.
fn event(text: &str, t0: i64) -> Option<Vec<Value>> {
    let seconds = |text: &str| json!(unix_seconds(text) as i64 - t0);
    let event = if let Some([job]) = scan(text, "_slurm_rpc_submit_batch_job: JobId={}") {
        json!(["sub", integer(job)])
    } else if text.contains("_attempt_backfill: beginning") {
        json!(["bf"])
    } else if text.contains("Running job scheduler") {
        json!(["main", u8::from(text.contains("full"))])
    } else if text.contains("schedule() returning") {
        json!(["mainskip"])
    } else if text.contains("completed testing") {
        json!(["bfend"])
    } else if let Some([job, partition]) = scan(text, "_start_job: Started JobId={} in {} on ") {
        json!(["sb", integer(job), partition])
    } else if let Some([job, _, partition]) = scan(text, "sched: Allocate JobId={} NodeList={} Partition={}") {
        json!(["sm", integer(job), partition])
    } else if let Some([job]) = scan(text, "_job_complete: JobId={} done") {
        json!(["end", integer(job)])
    } else if let Some([job]) = scan(text, "Time limit exhausted for JobId={}") {
        json!(["end", integer(job)])
    } else if let Some([job]) = scan(text, "cleanup_completing: JobId={}") {
        json!(["epi", integer(job)])
    } else if let Some([job, priority, partition, reservation]) =
        scan(text, "test for JobId={} Prio={} Partition={} Reservation={}")
    {
        let reservation = Some(json!(reservation)).filter(|name| name != "NONE");
        let event = vec![json!("try"), json!(integer(job)), json!(partition), json!(integer(priority))];
        Value::Array(event.into_iter().chain(reservation).collect())
    } else if let Some([job, start, end, nodes, partition]) =
        scan(text, "_dump_job_sched: JobId={} to start at {}, end at {} on nodes {} in partition {}")
    {
        json!(["resv", integer(job), partition, seconds(start), seconds(end), names(nodes)])
    } else if let Some([job, reason, priority, partition]) =
        scan(text, "sched: JobId={} State=PENDING. Reason={}. Priority={}. Partition={}.")
    {
        json!(["fail", integer(job), partition, integer(priority), reason])
    } else if let Some([job, priority]) =
        scan(text, "riority for job {} is now {}").or_else(|| scan(text, "riority for job {} is {}"))
    {
        json!(["prio", integer(job), integer(priority)])
    } else if let Some([job, all]) = scan(text, "JobId={} multi-partition priorities: {}\n") {
        let all = all.split([' ', ',']).filter_map(|one| one.split_once('='));
        json!(["mprio", integer(job), all.map(|(name, one)| (name, integer(one))).collect::<BTreeMap<_, _>>()])
    } else if let Some([job, _, factor]) = scan(text, "Fairshare priority of job {} for user {} is {}") {
        json!(["fs", integer(job), decimal(factor)])
    } else if let Some([name @ ("Age" | "JobSize" | "Partition" | "QOS"), factor]) =
        scan(text, "Weighted {} priority is {}")
    {
        json!(["fac", name, decimal(factor)])
    } else if let Some([seconds, _, factor]) = scan(text, "Decay factor over {} seconds goes from {} -> {}") {
        json!(["decay", integer(seconds), decimal(factor)])
    } else if let Some([added, _, account, user, _, total]) =
        scan(text, "Adding {} new usage to assoc {} ({}/{}/{}) raw usage is now {}")
    {
        json!(["use", account, user, decimal(added), decimal(total)])
    } else if let Some([job, seconds]) = scan(text, "_apply_new_usage: job {} ran for {} seconds") {
        json!(["ran", integer(job), integer(seconds)])
    } else if let Some([name, account, level]) = scan(text, "_ft_debug: {} ({}): {}") {
        json!(["ft", name.trim(), account, level])
    } else if text.contains("delayed for accounting policy") {
        let [job] = scan(text, "JobId={}")?;
        json!(["acctdelay", integer(job)])
    } else if text.contains("blocked by acct_policy") {
        let [job] = scan(text, "JobId={}")?;
        json!(["acctblock", integer(job)])
    } else {
        return event_of_machine(text, t0);
    };
    event.as_array().cloned()
}

/// The same for what the administrator did, and what became of jobs by it.
fn event_of_machine(text: &str, t0: i64) -> Option<Vec<Value>> {
    let seconds = |text: &str| json!(unix_seconds(text) as i64 - t0);
    let event = if let Some([node, state]) = scan(text, "update_node: node {} state set to {}") {
        json!(["node", node, state])
    } else if let Some([node]) =
        scan(text, "Node {} now responding").or_else(|| scan(text, "node_did_resp: node {} returned to service"))
    {
        json!(["resp", node])
    } else if let Some([job, node]) = scan(text, "requeue job JobId={} due to failure of node {}") {
        json!(["nodefail", integer(job), node, "requeue"])
    } else if let Some([job, node]) = scan(text, "Killing JobId={} on failed node {}") {
        json!(["nodefail", integer(job), node, "kill"])
    } else if text.starts_with("Requeuing JobId=") {
        let [job] = scan(text, "JobId={}")?;
        json!(["requeued", integer(job)])
    } else if let Some([victim, how, job]) =
        scan(text, "preempted JobId={} has been {} to reclaim resources for JobId={}")
    {
        json!(["pre", integer(victim), leading_number(job), how])
    } else if let Some([victim]) = scan(text, "slurm_job_preempt: preempted JobId={} had to be killed") {
        json!(["pre", integer(victim), null, "killed"])
    } else if let Some([name, _, nodes, _, start, end]) =
        scan(text, "sched: Created reservation={} {} nodes={} {} start={} end={}")
    {
        json!(["rnew", name, names(nodes), seconds(start), seconds(end)])
    } else if let Some([name]) = scan(text, "_slurm_rpc_delete_reservation complete for {}")
        .or_else(|| scan(text, "Purging vestigial reservation {}"))
    {
        json!(["rdel", name])
    } else if let Some([job]) = scan(text, "Reservation ended for JobId={}") {
        json!(["rend", integer(job)])
    } else if let Some([job, _]) = scan(text, "Holding JobId={}, {} reservation") {
        json!(["rhold", integer(job)])
    } else if let Some([job]) = scan(text, "JobId={} reservation defer") {
        json!(["rdefer", integer(job)])
    } else {
        return None;
    };
    event.as_array().cloned()
}

/// The texts at the places `{}` of a pattern, which may begin anywhere. Each is as short as possible; one at the end of
/// the pattern is a word, and one before a line break the rest.
fn scan<'t, const COUNT: usize>(text: &'t str, pattern: &str) -> Option<[&'t str; COUNT]> {
    let mut literals = pattern.split("{}");
    let mut rest = text.split_once(literals.next()?)?.1;
    let mut found = [""; COUNT];
    for place in &mut found {
        (*place, rest) = match literals.next()? {
            "\n" => (rest.trim(), ""),
            "" => rest.trim_start().split_once(' ').unwrap_or((rest.trim(), "")),
            literal => rest.split_once(literal)?,
        };
    }
    Some(found)
}

fn integer(text: &str) -> u32 {
    leading_number(text).unwrap_or_else(|| panic!("'{text}' does not begin with a number"))
}

fn decimal(text: &str) -> f64 {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    // Some are at the end of a sentence.
    text[..end].trim_end_matches('.').parse().unwrap_or_else(|_| panic!("'{text}' does not begin with a number"))
}

/// The nodes of a list such as `n[1-3],b1`.
pub fn names(list: &str) -> Vec<String> {
    HostList::parse(list).unwrap_or_else(|| panic!("'{list}' is not a list of nodes")).names()
}
