//! Answers: the predictions that changed, and the answers to events that are sent again.

use std::borrow::Cow;

use super::LiveSystem;
use crate::job::{JobId, Submission};
use crate::predict::Stage;
use crate::production::event::{EventKind, JobArrival, JobEvent, write_text};
use crate::time::Seconds;

impl LiveSystem {
    /// The last event as a line.
    pub(in crate::production) fn last_line(&self) -> &[u8] {
        &self.last.0
    }

    /// The answer to the last event.
    pub(in crate::production) fn last_answer(&self) -> &[u8] {
        &self.last.1
    }

    /// The answer to an event that has already happened, so that a caller that got no answer can send it again. None if the
    /// event is new.
    pub(in crate::production) fn repeated(&mut self, event: &JobEvent<'_>) -> Option<&[u8]> {
        self.line.clear();
        event.write(&mut self.line);
        if self.line == self.last.0 {
            return Some(&self.last.1);
        }
        let &id = self.ids.get(&*event.id)?;
        let (job, stage) = (self.ledger.job(id), self.board.board().stage(id));
        self.other_answer.clear();
        match &event.what {
            EventKind::Arrival(arrival) if self.known_submission(arrival) == Some(job.submission) => {
                write_answer(&mut self.other_answer, [(&*job.name, self.board.board().prediction(id))].into_iter());
            }
            EventKind::Start if stage == (Stage::Running { start: event.time }) => {
                write_answer(&mut self.other_answer, std::iter::empty());
            }
            _ => return None,
        }
        Some(&self.other_answer)
    }

    /// The submission of an arrival. None if it has a name that no job had.
    fn known_submission(&self, arrival: &JobArrival<'_>) -> Option<Submission> {
        let code = |name: &Option<Cow<'_, str>>| match name {
            None => Some(-1),
            Some(name) => self.names.known_code(name),
        };
        let [user, group, executable, queue, partition] = arrival.names.each_ref().map(code);
        let (user, group, executable) = (user?, group?, executable?);
        let (queue, partition) = (queue?, partition?);
        let JobArrival { procs, estimate, submit, .. } = *arrival;
        Some(Submission { submit, estimate, procs, user, group, executable, queue, partition })
    }

    /// Makes all predictions in force part of the next answer.
    pub(in crate::production) fn report_all(&mut self) {
        let present: Vec<JobId> = self.ledger.present().collect();
        for id in present {
            self.live_mut(id).reported = 0;
            self.note_change(id);
        }
    }

    /// Writes the answer to the last event: the predictions that differ from those of earlier answers, in order of arrival.
    pub(super) fn report(&mut self) {
        let (mut changed, mut answer) = (std::mem::take(&mut self.changed), std::mem::take(&mut self.last.1));
        changed.sort_unstable();
        changed.retain(|&id| {
            // The job may have left.
            let Some(place) = self.board.place(id) else { return false };
            let live = &mut self.live[place];
            live.is_changed = false;
            let prediction = self.board.board().prediction(id);
            std::mem::replace(&mut live.reported, prediction) != prediction
        });
        answer.clear();
        let predictions = changed.iter().map(|&id| (&*self.ledger.job(id).name, self.board.board().prediction(id)));
        write_answer(&mut answer, predictions);
        changed.clear();
        (self.changed, self.last.1) = (changed, answer);
    }
}

/// `{"predict":{"ID":seconds,...}}`, or `{}` for no predictions.
fn write_answer<'a>(out: &mut Vec<u8>, predictions: impl Iterator<Item = (&'a str, Seconds)>) {
    let begin = out.len();
    for (name, prediction) in predictions {
        out.extend_from_slice(if out.len() == begin { b"{\"predict\":{" } else { b"," });
        write_text(out, name);
        out.push(b':');
        out.extend_from_slice(itoa::Buffer::new().format(prediction).as_bytes());
    }
    out.extend_from_slice(if out.len() == begin { b"{}" } else { b"}}" });
}
