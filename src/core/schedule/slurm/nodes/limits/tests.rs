//! Each kind of limit, with what it means worked out by hand.

use std::path::Path;

use super::super::{NodeSet, NodesState, SlurmNodes, SlurmParameters, SlurmPass, SlurmSite};
use super::*;
use crate::machine::associations::Associations;
use crate::machine::{NodeGrant, Tres, parse_slurm_conf};
use crate::request::{DeviceAsked, MemoryAsked, Request};
use crate::schedule::catalog;
use crate::time::{HOUR, MINUTE};
use crate::tres::Resource;

/// The partition without a quality of service, and that with `inside`.
const PLAIN: usize = 0;
const WITH_QOS: usize = 1;

struct Site {
    limits: SiteLimits,
    owners: Owners,
    next: u64,
}

impl Site {
    fn new(script: &str) -> Site {
        let conf = "\
NodeName=n[1-4] CPUs=16 RealMemory=64000 Gres=gpu:4
PartitionName=plain Nodes=ALL Default=YES
PartitionName=other Nodes=ALL QOS=inside
";
        let (mut cluster, _) = parse_slurm_conf(conf, Path::new("")).unwrap();
        let associations = Associations::of_commands(script);
        let owners = Owners::new(&associations);
        cluster.associations = associations;
        Site { limits: SiteLimits::new(Arc::new(cluster), &owners), owners, next: 1 }
    }

    /// A job of a user, whose number is in the name, in the default account. It may run for an hour.
    fn job(&mut self, user: &str, qos: &str) -> SlurmJob {
        let cluster = &self.limits.cluster;
        let job = SlurmJob::of(&Request { cpus: 1, ..Request::default() }, vec![PLAIN], cluster);
        let qos = cluster.associations.qos.iter().position(|one| one.name == qos);
        let owner = self.owners.find(user, "");
        self.limits.add_owners(&self.owners);
        self.next += 1;
        SlurmJob { id: self.next, user: user[1..].parse().unwrap(), owner, qos, limit: HOUR, ..job }
    }

    fn start(&mut self, job: &SlurmJob, partition: usize, grant: &NodeGrant) -> RunningJob {
        self.limits.start(QueueEntry { job, partition }, grant);
        RunningJob { end: job.limit, id: job.id, partition, grant: grant.clone(), ..RunningJob::default() }
    }

    /// Starts a job of a user on node 0 at the instant 0.
    fn run(&mut self, user: &str, qos: &str, cpus: u32) -> (SlurmJob, RunningJob) {
        let job = self.job(user, qos);
        let running = self.start(&job, PLAIN, &on(&[0], cpus));
        (job, running)
    }

    fn allows_job(&mut self, user: &str, qos: &str) -> bool {
        let job = self.job(user, qos);
        self.limits.allows_job(QueueEntry { job: &job, partition: PLAIN })
    }

    fn allows(&mut self, user: &str, qos: &str, grant: &NodeGrant) -> bool {
        let job = self.job(user, qos);
        self.limits.allows(QueueEntry { job: &job, partition: PLAIN }, Chosen::Now(grant))
    }

    fn allows_cpus(&mut self, user: &str, qos: &str, cpus: u32) -> bool {
        self.allows(user, qos, &on(&[1], cpus))
    }
}

/// So many CPUs on each of these nodes, each with 1000 MB.
fn on(nodes: &[u32], cpus: u32) -> NodeGrant {
    let what = Tres::on_node(cpus, u64::from(cpus) * 1000);
    nodes.iter().map(|&node| NodeShare::new(node, what)).collect()
}

const TWO_ACCOUNTS: &str =
    "add account a1\nadd account a2 parent=a1\nadd user u1 account=a1\nadd user u2,u3 account=a2\n";

fn with_accounts(lines: &str) -> Site {
    Site::new(&format!("{TWO_ACCOUNTS}{lines}"))
}

#[test]
fn a_site_without_limits_is_empty() {
    let mut site = with_accounts("add qos hi Priority=10");
    assert!(site.limits.is_empty());
    let (job, running) = site.run("u1", "hi", 4);
    assert!(site.allows_cpus("u1", "hi", 16));
    site.limits.end(&job, &running, 10);
    assert_eq!(site.limits.rejects(&job), None);
    assert!(!with_accounts("modify user where name=u3 set MaxJobs=1").limits.is_empty());
}

#[test]
fn jobs_of_a_quality_of_service_are_counted_in_all_by_user_and_by_account() {
    let mut site =
        with_accounts("add qos all GrpJobs=2\nadd qos user MaxJobsPerUser=1\nadd qos account MaxJobsPerAccount=1");
    let (job, running) = site.run("u1", "all", 1);
    assert!(site.allows_job("u2", "all"));
    site.run("u2", "all", 1);
    assert!(!site.allows_job("u3", "all") && site.allows_job("u3", "user"));
    site.limits.end(&job, &running, 60);
    assert!(site.allows_job("u3", "all"));

    site.run("u2", "user", 1);
    assert!(!site.allows_job("u2", "user") && site.allows_job("u3", "user"));

    // Users 2 and 3 are in the same account, user 1 is in the one above it.
    site.run("u2", "account", 1);
    assert!(!site.allows_job("u3", "account") && site.allows_job("u1", "account"));
}

#[test]
fn amounts_of_a_user_and_of_an_account() {
    let mut site =
        with_accounts("add qos user MaxTRESPerUser=cpu=12\nadd qos account MaxTRESPerAccount=cpu=12,mem=10000");
    let (job, running) = site.run("u2", "user", 8);
    assert!(site.allows_cpus("u2", "user", 4) && !site.allows_cpus("u2", "user", 5));
    assert!(site.allows_cpus("u3", "user", 12) && !site.allows_cpus("u3", "user", 13));
    site.limits.end(&job, &running, 60);
    assert!(site.allows_cpus("u2", "user", 12));

    // 8000 of 10000 MB: the memory allows two more CPUs.
    site.run("u2", "account", 8);
    assert!(site.allows_cpus("u3", "account", 2) && !site.allows_cpus("u3", "account", 3));
    assert!(site.allows_cpus("u1", "account", 10));
}

#[test]
fn amounts_of_a_group_hold_up_to_the_root() {
    let mut site = with_accounts(
        "modify account where name=a1 set GrpTRES=cpu=20\nmodify account where name=a2 set GrpTRES=cpu=10\n\
         modify user where name=u3 set GrpTRES=cpu=3\nadd qos other GrpTRES=cpu=16\nadd qos job MaxTRESPerJob=cpu=1000",
    );
    assert!(site.allows_cpus("u3", "", 3) && !site.allows_cpus("u3", "", 4));
    site.run("u2", "", 8);
    assert!(site.allows_cpus("u3", "", 2) && !site.allows_cpus("u3", "", 3));
    // 8 of the 20 CPUs of the upper account.
    assert!(site.allows_cpus("u1", "", 12) && !site.allows_cpus("u1", "", 13));
    site.run("u1", "", 11);
    assert!(site.allows_cpus("u2", "", 1) && !site.allows_cpus("u2", "", 2));
    // A quality of service with a limit of the same kind comes instead of those of the accounts; with one of another kind it does not.
    assert!(site.allows_cpus("u3", "other", 16) && !site.allows_cpus("u3", "other", 17));
    assert!(!site.allows_cpus("u3", "job", 2));
}

#[test]
fn nodes_that_a_group_already_has_are_not_counted_again() {
    let mut site = with_accounts("modify account where name=a2 set GrpTRES=node=2");
    let (job, running) = site.run("u2", "", 1);
    assert!(site.allows("u3", "", &on(&[0, 1], 1)) && !site.allows("u3", "", &on(&[1, 2], 1)));
    // Planned nodes all count.
    let job_of_3 = site.job("u3", "");
    let entry = QueueEntry { job: &job_of_3, partition: PLAIN };
    assert!(!site.limits.allows(entry, Chosen::Later(&on(&[0, 1], 1))));
    let running_of_3 = site.start(&job_of_3, PLAIN, &on(&[0, 1], 1));
    assert!(site.allows("u3", "", &on(&[0, 1], 1)) && !site.allows("u3", "", &on(&[2], 1)));
    // The other job still has node 0.
    site.limits.end(&job, &running, 60);
    assert!(!site.allows("u3", "", &on(&[2], 1)));
    // Then nobody has a node.
    site.limits.end(&job_of_3, &running_of_3, 60);
    assert!(site.allows("u3", "", &on(&[2, 3], 1)));
}

#[test]
fn limits_of_single_jobs() {
    let mut site = with_accounts(
        "add qos wall MaxWall=30\nadd qos job MaxTRESPerJob=cpu=10\nadd qos node MaxTRESPerNode=cpu=4\n\
         add qos minutes MaxTRESMinsPerJob=cpu=120\nmodify account where name=a1 set MaxWall=50 MaxTRES=cpu=5",
    );
    // The user has the limits of the account above, the quality of service comes before them.
    let mut job = site.job("u2", "");
    for (minutes, qos, is_allowed) in [(50, "", true), (51, "", false), (30, "wall", true), (31, "wall", false)] {
        job.limit = minutes * MINUTE;
        job.qos = site.job("u2", qos).qos;
        assert_eq!(site.limits.allows_job(QueueEntry { job: &job, partition: PLAIN }), is_allowed, "{minutes} {qos}");
    }
    assert!(site.allows_cpus("u2", "", 5) && !site.allows_cpus("u2", "", 6));
    assert!(site.allows_cpus("u2", "job", 10) && !site.allows_cpus("u2", "job", 11));
    // The mean of the nodes counts, rounded down: 9 CPUs on two nodes are 4 on each.
    let uneven = [on(&[0], 5), on(&[1], 4)].concat();
    assert!(!site.allows("u2", "node", &uneven), "more than the 5 of the account");
    let mut site = Site::new("add qos node MaxTRESPerNode=cpu=4\nadd qos minutes MaxTRESMinsPerJob=cpu=120");
    assert!(site.allows("u2", "node", &uneven) && !site.allows("u2", "node", &on(&[0, 1], 5)));
    // An hour of two CPUs is 120 minutes.
    assert!(site.allows_cpus("u1", "minutes", 2) && !site.allows_cpus("u1", "minutes", 3));
    // A second more is a minute more: 61 minutes of two CPUs are 122.
    let longer = SlurmJob { limit: HOUR + 1, ..site.job("u1", "minutes") };
    assert!(!site.limits.allows(QueueEntry { job: &longer, partition: PLAIN }, Chosen::Now(&on(&[1], 2))));
}

#[test]
fn running_jobs_of_a_user_in_an_account() {
    let mut site = with_accounts(
        "modify account where name=a1 set GrpJobs=3\nmodify account where name=a2 set MaxJobs=1\n\
         add qos account MaxJobsPerAccount=5\nadd qos group GrpJobs=9",
    );
    site.run("u2", "", 1);
    assert!(!site.allows_job("u2", "") && site.allows_job("u3", ""));
    // A limit of numbers of jobs of each account comes instead of that of the user; one of all jobs does not.
    assert!(site.allows_job("u2", "account") && !site.allows_job("u2", "group"));
    site.run("u1", "", 1);
    site.run("u3", "", 1);
    assert!(!site.allows_job("u1", ""), "three jobs of the upper account");
    assert!(site.allows_job("u1", "group"));
}

#[test]
fn minutes_that_running_jobs_may_still_need() {
    let mut site = Site::new("add qos run GrpTRESRunMins=cpu=300\nadd qos half GrpTRESRunMins=cpu=300 UsageFactor=0.5");
    // 3 CPUs for 60 minutes leave 120 minutes: 2 CPUs for an hour.
    let (job, running) = site.run("u1", "run", 3);
    assert!(site.allows_cpus("u2", "run", 2) && !site.allows_cpus("u2", "run", 3));
    // After 20 minutes 3 x 40 = 120 are left to come: 3 CPUs for an hour.
    site.limits.recalculate(20 * MINUTE, [(&job, &running)]);
    assert!(site.allows_cpus("u2", "run", 3) && !site.allows_cpus("u2", "run", 4));
    // A job that ends early does not need the rest.
    site.limits.end(&job, &running, 25 * MINUTE);
    assert!(site.allows_cpus("u2", "run", 5) && !site.allows_cpus("u2", "run", 6));
    // 4 CPUs count as 120 minutes, what is asked for counts in full.
    site.run("u1", "half", 4);
    assert!(site.allows_cpus("u1", "half", 3) && !site.allows_cpus("u1", "half", 4));
}

#[test]
fn minutes_of_the_past() {
    let mut site =
        with_accounts("modify account where name=a2 set GrpTRESMins=cpu=60\nmodify user where name=u1 set GrpWall=30");
    let (job, running) = site.run("u2", "", 4);
    site.limits.recalculate(10 * MINUTE, [(&job, &running)]);
    assert!(site.allows_cpus("u3", "", 16), "40 minutes");
    site.limits.end(&job, &running, 15 * MINUTE);
    assert!(!site.allows_cpus("u3", "", 1) && site.allows_cpus("u1", "", 1), "60 minutes");
    // Half of it is left after another 10 minutes.
    site.limits.set_decay(0.5f64.powf(1.0 / 600.0));
    site.limits.recalculate(20 * MINUTE, []);
    assert!(site.allows_cpus("u3", "", 1));

    let mut site = with_accounts("modify user where name=u1 set GrpWall=30");
    let (job, running) = site.run("u1", "", 4);
    site.limits.recalculate(29 * MINUTE, [(&job, &running)]);
    assert!(site.allows_job("u1", ""));
    site.limits.recalculate(30 * MINUTE, [(&job, &running)]);
    assert!(!site.allows_job("u1", "") && site.allows_job("u2", ""));
    // What was used decays, a number of jobs does not.
    assert!(site.limits.over_now(&job).is_some_and(|over| over.is_of_the_past()));
    let mut site = with_accounts("modify user where name=u1 set GrpJobs=1");
    let (job, _) = site.run("u1", "", 4);
    assert!(site.limits.over_now(&job).is_some_and(|over| !over.is_of_the_past()));
}

#[test]
fn the_quality_of_service_of_the_partition_comes_first() {
    let mut site =
        Site::new("add qos inside MaxTRESPerUser=cpu=4 GrpJobs=2\nadd qos own MaxTRESPerUser=cpu=8,mem=5000 GrpJobs=1");
    let job = site.job("u1", "own");
    let allows = |site: &mut Site, partition, cpus| {
        site.limits.allows(QueueEntry { job: &job, partition }, Chosen::Now(&on(&[1], cpus)))
    };
    assert!(allows(&mut site, WITH_QOS, 4) && !allows(&mut site, WITH_QOS, 5));
    // In the other partition only its own limits hold: 5000 MB.
    assert!(allows(&mut site, PLAIN, 5) && !allows(&mut site, PLAIN, 6));
    // A job counts in both, whichever limit holds.
    site.start(&job, WITH_QOS, &on(&[0], 2));
    assert!(allows(&mut site, WITH_QOS, 2) && !allows(&mut site, WITH_QOS, 3));
    assert!(allows(&mut site, PLAIN, 3) && !allows(&mut site, PLAIN, 4), "2000 of 5000 MB");
    let next = site.job("u2", "own");
    assert!(site.limits.allows_job(QueueEntry { job: &next, partition: WITH_QOS }));
    assert!(!site.limits.allows_job(QueueEntry { job: &next, partition: PLAIN }));
}

#[test]
fn what_was_planned_is_remembered() {
    let mut site = Site::new("add qos few MaxTRESPerJob=cpu=4,mem=6000,gres/gpu=2");
    let mut job = site.job("u1", "few");
    job.min_cpus = 3;
    let allows = |site: &mut Site, job: &SlurmJob, chosen: Chosen<'_>| {
        site.limits.allows(QueueEntry { job, partition: PLAIN }, chosen)
    };
    assert!(allows(&mut site, &job, Chosen::Nothing), "3 CPUs are asked for");
    assert!(!allows(&mut site, &job, Chosen::Later(&on(&[0], 8))));
    assert!(!allows(&mut site, &job, Chosen::Nothing), "8 CPUs were planned");
    assert!(allows(&mut site, &job, Chosen::Later(&on(&[0], 4))));
    assert!(allows(&mut site, &job, Chosen::Nothing));

    // Memory and GPUs are those of the request until a job starts: 4 x 1500 MB, 2 GPUs.
    let request = Request {
        cpus: 4,
        memory: MemoryAsked::PerCpu(1500),
        devices: DeviceAsked::PerNode(2).of(Resource::Gpus),
        ..Request::default()
    };
    let SlurmJob { id, owner, user, qos, limit, .. } = job;
    let mut job = SlurmJob { id, owner, user, qos, limit, ..SlurmJob::of(&request, vec![PLAIN], &site.limits.cluster) };
    assert!(allows(&mut site, &job, Chosen::Nothing));
    job.memory = 1501;
    assert!(!allows(&mut site, &job, Chosen::Nothing));
    (job.memory, job.gpus_per_node) = (1500, 3);
    assert!(!allows(&mut site, &job, Chosen::Nothing));
}

#[test]
fn jobs_are_refused_when_they_are_submitted() {
    let mut site = with_accounts(
        "add qos deny MaxTRESPerUser=cpu=4 MaxWall=2:00:00 Flags=DenyOnLimit\nadd qos wait MaxTRESPerUser=cpu=4\n\
         add qos inside MaxSubmitJobsPerUser=2\nmodify account where name=a2 set MaxSubmitJobs=1",
    );
    let mut job = site.job("u1", "deny");
    assert_eq!(site.limits.rejects(&job), None);
    job.limit = 3 * HOUR;
    assert_eq!(site.limits.rejects(&job), Some(Rejected::Never));
    (job.limit, job.min_cpus) = (HOUR, 5);
    assert_eq!(site.limits.rejects(&job), Some(Rejected::Never));
    job.qos = site.job("u1", "wait").qos;
    assert_eq!(site.limits.rejects(&job), None, "it waits for ever");

    let first = site.job("u2", "");
    site.limits.submit(&first);
    let second = site.job("u2", "");
    assert_eq!(site.limits.rejects(&second), Some(Rejected::TooMany));
    let running = site.start(&first, PLAIN, &on(&[0], 1));
    assert_eq!(site.limits.rejects(&second), Some(Rejected::TooMany), "running jobs count too");
    site.limits.end(&first, &running, 60);
    assert_eq!(site.limits.rejects(&second), None);

    // A job in two partitions counts in the limits of both until it starts in one.
    let both = |site: &mut Site| SlurmJob { partitions: vec![PLAIN, WITH_QOS], ..site.job("u1", "") };
    let jobs = [both(&mut site), both(&mut site), both(&mut site), both(&mut site)];
    jobs[..2].iter().for_each(|job| site.limits.submit(job));
    assert_eq!(site.limits.rejects(&jobs[2]), Some(Rejected::TooMany));
    site.start(&jobs[0], PLAIN, &on(&[0], 1));
    assert_eq!(site.limits.rejects(&jobs[2]), None);
    site.limits.submit(&jobs[2]);
    assert_eq!(site.limits.rejects(&jobs[3]), Some(Rejected::TooMany));
    site.limits.withdraw(&jobs[1]);
    assert_eq!(site.limits.rejects(&jobs[3]), None);
}

#[test]
fn a_job_over_a_limit_is_passed_over_or_blocks() {
    // Of two jobs with one CPU the first is over its limit.
    let pass_of = |limits_block: bool, is_backfill: bool| {
        let mut site = Site::new("add qos none GrpJobs=0");
        let jobs = [site.job("u1", "none"), site.job("u2", "")];
        let queue = jobs.each_ref().map(|job| QueueEntry { job, partition: PLAIN });
        let machine = SlurmSite::new(
            site.limits.cluster.clone(),
            SlurmParameters { limits_block, ..SlurmParameters::of(&catalog::parse("slurm").unwrap()) },
        );
        let mut state = NodesState::new(&machine);
        let completing = NodeSet::none(machine.len());
        let mut pass = SlurmPass {
            nodes: SlurmNodes { site: &machine, state: &mut state, completing },
            reserves_all: true,
            limits: &mut site.limits,
            now: 0,
            unix_start: 0,
            started: Vec::new(),
            reserved: Vec::new(),
        };
        match is_backfill {
            true => pass.backfill(|number| queue.get(number).copied()),
            false => _ = pass.main(|number| queue.get(number).copied(), true),
        }
        let place = |id: u64| jobs.iter().position(|job| job.id == id).unwrap();
        let started: Vec<_> = pass.started.iter().map(|start| (place(start.id), start.grant[0].node)).collect();
        let reserved: Vec<_> = pass.reserved.iter().map(|plan| (place(plan.id), plan.start)).collect();
        (started, reserved)
    };
    assert_eq!(pass_of(false, false), (vec![(1, 0)], vec![]));
    assert_eq!(pass_of(false, true), (vec![(1, 0)], vec![]));
    assert_eq!(pass_of(true, false), (vec![], vec![]));
    // The backfill pass reserves the first node for it, after 500 seconds since no other time is known.
    assert_eq!(pass_of(true, true), (vec![(1, 1)], vec![(0, 500)]));
}
