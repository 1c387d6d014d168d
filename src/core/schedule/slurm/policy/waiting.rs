//! The waiting jobs as the daemon has them: accepted and in the line, refused, or back after they were stopped.

use super::Slurm;
use crate::job::{JobId, Submission};
use crate::machine::Nodes;
use crate::machine::associations::LimitName;
use crate::schedule::machine::Machine;
use crate::schedule::policy::NeverStarts;
use crate::schedule::rules::Counting;
use crate::schedule::slurm::clock::in_whole_minutes;
use crate::schedule::slurm::nodes::SlurmJob;
use crate::schedule::slurm::returning::ReturningJob;
use crate::time::Time;

/// The job as which a place in the line is ranked: of an array the first task, also if that has left.
fn ranked_as(job: &SlurmJob) -> JobId {
    JobId(job.array.unwrap_or(job.id) as u32)
}

impl Slurm {
    /// The job that asks for this, without what is its own.
    fn kind(&mut self, id: JobId, nodes: &Nodes) -> SlurmJob {
        let request = nodes.request(id);
        let number = request.index().unwrap_or(0);
        let (shapes, site) = (&self.shapes, &self.site);
        let kind = self.kinds.entry(number).or_insert_with(|| {
            let places = &shapes.get(request).places;
            let mut partitions: Vec<usize> = places.iter().map(|place| place.partition as usize).collect();
            // Each kind of nodes of its constraint is a place.
            partitions.dedup();
            SlurmJob { kind: number, ..SlurmJob::of(shapes.asked(request), partitions, &site.cluster) }
        });
        kind.clone()
    }

    fn kind_on_pool(&mut self, procs: u32) -> SlurmJob {
        let cluster = &self.site.cluster;
        self.kinds.entry(procs as usize).or_insert_with(|| SlurmJob::of_processors(procs, cluster)).clone()
    }

    /// A waiting job as the daemon has it.
    fn job(&mut self, id: JobId, submission: &Submission, view: &Machine) -> Option<SlurmJob> {
        let waiting = view.waiting.get(id)?;
        let nodes = view.nodes().filter(|_| self.site.pool.is_none());
        let mut job = match nodes {
            Some(nodes) => self.kind(id, nodes),
            None => self.kind_on_pool(submission.procs),
        };
        (job.id, job.user, job.limit) = (id.0.into(), submission.user.into(), in_whole_minutes(submission.estimate));
        (job.submit, job.eligible) = (submission.submit, submission.submit);
        job.reservation = self.reservation_of(id, view);
        job.planned = (self.settings.counting == Counting::Prediction).then_some(waiting.length);
        if let Some(nodes) = nodes {
            self.standing.identify(&mut job, submission.user, nodes.request(id), view.now);
        }
        Some(job)
    }

    /// Newcomers join the line.
    pub(super) fn line_up(&mut self, view: &Machine) {
        for (id, submission) in std::mem::take(&mut self.newcomers) {
            let Some(mut job) = self.job(id, &submission, view) else { continue };
            if !self.may_join(id, &submission, job.reservation, view.now) {
                continue;
            }
            if !self.standing.accepts(&job, false) {
                let by = self.standing.limits.rejects_by(&job).expect("a limit refuses it").limit();
                self.refused.push((id, submission, by));
                continue;
            }
            self.arrays.join(id, &mut job);
            self.join_line(id, &submission, job, &[], view.now);
        }
        for returned in self.returning.take_until(view.now) {
            let ReturningJob { since, begin, id, ref submission, partition, ref priorities } = returned;
            // The task of an array is a job of its own from now on.
            let Some(mut job) = self.job(id, submission, view) else { continue };
            if !self.may_join(id, submission, job.reservation, view.now) {
                continue;
            }
            self.standing.accepts(&job, true);
            job.eligible = begin;
            if self.standing.has_priorities() {
                job.submit = since;
            }
            if let Some(at) = job.partitions.iter().position(|own| Some(*own) == partition) {
                job.partitions[..=at].rotate_right(1);
            }
            // The daemon sees such a job when a pass looks at it.
            self.needs_full = true;
            self.last.forget();
            self.join_line(id, submission, job, priorities, view.now);
        }
    }

    /// A job joins the line; in some partitions with a priority that it has already.
    fn join_line(&mut self, id: JobId, submission: &Submission, job: SlurmJob, has: &[(usize, i64)], now: Time) {
        let (submit, is_ranked, standing) = (job.eligible, job.reservation.is_none(), &mut self.standing);
        let priority = |job: &SlurmJob, partition: usize| match has.iter().find(|(own, _)| *own == partition) {
            Some((_, priority)) => *priority,
            None => standing.priority(job, partition, now),
        };
        let place = self.line.push(job, &self.site, priority);
        self.line_places.insert(id, place);
        if let Some(ranked) = &mut self.ranked {
            let first = self.line.first(place).filter(|first| is_ranked && first.is_alone());
            let ranked_as = first.map(|first| (ranked_as(first), place));
            ranked.get_mut().arrive(id, &Submission { submit, ..*submission }, ranked_as);
        }
    }

    /// A job leaves the line. Also returns the priorities that it had.
    pub(super) fn leave_line(&mut self, id: JobId) -> Option<(SlurmJob, Vec<i64>)> {
        self.newcomers.retain(|(newcomer, _)| *newcomer != id);
        self.refused.retain(|(refused, ..)| *refused != id);
        self.returning.remove(id);
        self.closing.leave_line(id);
        let place = self.line_places.remove(&id)?;
        let (job, priorities) = self.line.remove(place, id.0.into(), &self.site)?;
        self.state.forget_preemptor(job.number());
        if let Some(ranked) = self.ranked.as_mut().filter(|_| self.line.first(place).is_none()) {
            ranked.get_mut().leave_line(ranked_as(&job));
        }
        Some((job, priorities))
    }

    /// A job has left the system: those that were refused are submitted again, before others.
    pub(super) fn submit_again(&mut self, now: Time) {
        self.times.has_event = true;
        let again = self.refused.drain(..).map(|(id, job, _)| (id, Submission { submit: now, ..job }));
        self.newcomers.splice(0..0, again);
    }

    pub(super) fn why_never(
        &mut self,
        id: JobId,
        job: &Submission,
        view: &Machine,
        is_end: bool,
    ) -> Option<NeverStarts> {
        if let Some(held) = self.why_held(id, view).filter(|_| is_end) {
            return Some(held);
        }
        // On a pool the engine drops what is too wide.
        if self.site.pool.is_some() {
            return None;
        }
        let job = self.job(id, job, view)?;
        match is_end {
            false => self.never(&job),
            true => Some(self.stuck(&job)),
        }
    }

    pub(super) fn held_by_limits(&mut self, view: &Machine, held: &mut Vec<(JobId, LimitName)>) {
        if self.standing.limits.is_empty() {
            return;
        }
        let held_by = |id: JobId| match self.line_places.get(&id).and_then(|&place| self.line.job(place, id.0.into())) {
            Some(job) => self.standing.limits.over_now(job).map(|over| over.limit()),
            None => self.refused.iter().find(|(refused, ..)| *refused == id).map(|(.., by)| *by),
        };
        held.extend(view.waiting.iter().filter_map(|job| Some((job.id, held_by(job.id)?))));
    }
}
