//! Users who react, against a slow twin that follows the definitions event by event, with lists alone.

use shadowtime::job::Job;
use shadowtime::trace::Workload;

/// For each job the jobs after whose last end it is submitted, and how long after. None: at its own time.
pub type PlainLinks = Vec<Option<(Vec<usize>, i64)>>;

/// When a job ended in the log.
fn end(job: &Job) -> Option<i64> {
    Some(job.submission.submit + job.recorded_wait.get()? + job.runtime)
}

fn same_user(a: &Job, b: &Job) -> bool {
    a.submission.user == b.submission.user && a.submission.user != -1
}

/// The preceding job is the job of the user with the latest recorded end that is not after the submission.
pub fn think_links(jobs: &[Job], limit: i64) -> PlainLinks {
    let link = |job: &Job| {
        let submit = job.submission.submit;
        let ended = jobs.iter().enumerate().filter(|(_, other)| same_user(job, other));
        let ended = ended.filter_map(|(at, other)| Some((end(other)?, at))).filter(|&(end, _)| end <= submit);
        let (end, preceding) = ended.max()?;
        (submit - end <= limit).then(|| (vec![preceding], submit - end))
    };
    jobs.iter().map(link).collect()
}

/// A batch follows the batch before it.
pub fn session_links(jobs: &[Job], limit: i64) -> PlainLinks {
    let of_user = |at: usize| -> Vec<usize> {
        let all = (0..jobs.len()).filter(|&other| same_user(&jobs[at], &jobs[other]));
        all.filter(|&other| jobs[other].recorded_wait.get().is_some()).collect()
    };
    let begins = |at: usize| {
        let earlier = of_user(at).into_iter().filter(|&other| other < at);
        earlier.clone().all(|other| end(&jobs[other]).unwrap() <= jobs[at].submission.submit)
    };
    let link = |at: usize| {
        let mine = of_user(at);
        if !mine.contains(&at) {
            return None;
        }
        let first = mine.iter().copied().rfind(|&other| other <= at && begins(other)).unwrap();
        let before = mine.iter().copied().rfind(|&other| other < first && begins(other))?;
        let last_end = mine.iter().filter(|&&other| other < first).map(|&other| end(&jobs[other]).unwrap()).max()?;
        let gap = jobs[first].submission.submit - last_end;
        let batch = mine.into_iter().filter(|&other| (before..first).contains(&other)).collect();
        let distance = jobs[at].submission.submit - jobs[first].submission.submit;
        (gap <= limit).then_some((batch, gap + distance))
    };
    (0..jobs.len()).map(link).collect()
}

/// The links that a log names: (number of the preceding job, think time) by job.
pub fn field_links(jobs: &[Job], fields: &[Option<(i64, i64)>]) -> PlainLinks {
    let link = |(at, field): (usize, &Option<(i64, i64)>)| {
        let (number, think) = (*field)?;
        let before = (0..at).rfind(|&other| jobs[other].number == number)?;
        (think >= 0).then_some((vec![before], think))
    };
    fields.iter().enumerate().map(link).collect()
}

/// What starts jobs in the twin. Lengths are the true runtimes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlainScheduler {
    Fcfs,
    Easy,
    /// After the recorded waits.
    Replay,
    /// At once, whatever is free.
    Zero,
}

/// When each job arrives and starts.
pub fn simulate(workload: &Workload, links: &PlainLinks, scheduler: PlainScheduler) -> Vec<(i64, i64)> {
    let jobs = &workload.jobs;
    let own = |at: usize| links[at].is_none().then_some(jobs[at].submission.submit);
    let mut due: Vec<Option<i64>> = (0..jobs.len()).map(own).collect();
    let mut arrived: Vec<Option<i64>> = vec![None; jobs.len()];
    let mut started: Vec<Option<i64>> = vec![None; jobs.len()];
    let mut ended = vec![false; jobs.len()];
    // In order of arrival.
    let mut queue: Vec<usize> = Vec::new();
    let mut free = i64::from(workload.procs);
    let end = |started: &[Option<i64>], at: usize| started[at].map(|start| start + jobs[at].runtime);
    let procs = |at: usize| i64::from(jobs[at].submission.procs);
    let replayed =
        |arrived: &[Option<i64>], at: usize| arrived[at].unwrap() + jobs[at].recorded_wait.get().unwrap_or(0);
    loop {
        let ends = (0..jobs.len()).filter(|&at| !ended[at]).filter_map(|at| end(&started, at));
        let arrivals = (0..jobs.len()).filter(|&at| arrived[at].is_none()).filter_map(|at| due[at]);
        let starts = queue.iter().filter(|_| scheduler == PlainScheduler::Replay).map(|&at| replayed(&arrived, at));
        let Some(now) = ends.chain(arrivals).chain(starts).min() else { break };
        for at in 0..jobs.len() {
            if !ended[at] && end(&started, at) == Some(now) {
                ended[at] = true;
                free += procs(at);
                for follower in 0..jobs.len() {
                    if let Some((preceding, delay)) = &links[follower]
                        && preceding.contains(&at)
                        && preceding.iter().all(|&other| ended[other])
                    {
                        due[follower] = Some(now + delay);
                    }
                }
            }
        }
        for at in 0..jobs.len() {
            if arrived[at].is_none() && due[at] == Some(now) {
                arrived[at] = Some(now);
                queue.push(at);
            }
        }
        let mut starts = Vec::new();
        match scheduler {
            PlainScheduler::Zero => starts.append(&mut queue),
            PlainScheduler::Replay => starts.extend(queue.iter().filter(|&&at| replayed(&arrived, at) == now)),
            PlainScheduler::Fcfs | PlainScheduler::Easy => {
                let mut room = free;
                while let Some(&head) = queue.get(starts.len()).filter(|&&head| procs(head) <= room) {
                    room -= procs(head);
                    starts.push(head);
                }
                if let Some(&head) = queue.get(starts.len()).filter(|_| scheduler == PlainScheduler::Easy) {
                    let running = (0..jobs.len()).filter(|&at| started[at].is_some() && !ended[at]);
                    let mut ends: Vec<(i64, i64)> = running.map(|at| (end(&started, at).unwrap(), procs(at))).collect();
                    ends.extend(starts.iter().map(|&at| (now + jobs[at].runtime, procs(at))));
                    let free_at =
                        |time: i64| room + ends.iter().filter(|(end, _)| *end <= time).map(|e| e.1).sum::<i64>();
                    let shadow = ends.iter().map(|e| e.0).filter(|&time| free_at(time) >= procs(head)).min().unwrap();
                    let mut extra = free_at(shadow) - procs(head);
                    for &at in &queue[starts.len() + 1..] {
                        let ends_before = now + jobs[at].runtime <= shadow;
                        if procs(at) <= room && (ends_before || procs(at) <= extra) {
                            extra -= if ends_before { 0 } else { procs(at) };
                            room -= procs(at);
                            starts.push(at);
                        }
                    }
                }
            }
        }
        for &at in &starts {
            started[at] = Some(now);
            free -= procs(at);
        }
        queue.retain(|at| !starts.contains(at));
    }
    arrived.into_iter().zip(started).map(|(arrived, started)| (arrived.unwrap(), started.unwrap())).collect()
}
