//! What is needed to build a system again: the events of some of its jobs, and what they do not have.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::LiveSystem;
use crate::job::JobId;
use crate::production::error::Rejection;
use crate::production::event::JobEvent;
use crate::text::shortened;
use crate::time::{Seconds, Time};

/// What a system that is built again from kept events does not get from them.
#[derive(Debug, Deserialize, Serialize)]
pub struct Snapshot<'a> {
    /// The time of the last event.
    time: Time,
    /// Each job in the system with its prediction in force and the number of its missed deadlines.
    jobs: Vec<(Cow<'a, str>, Seconds, u32)>,
    /// The last event and the answer to it.
    last: (Cow<'a, str>, Cow<'a, str>),
}

impl LiveSystem {
    /// The events from which the system can be built again: those of the jobs in the system and of the last `keep` ended ones.
    pub(in crate::production) fn kept(&self, keep: usize) -> impl Iterator<Item = JobEvent<'_>> {
        self.ledger.kept(keep, &self.names)
    }

    /// What the kept events do not have.
    pub(in crate::production) fn snapshot(&self) -> Snapshot<'_> {
        let board = self.board.board();
        let job = |id: JobId| (Cow::Borrowed(&*self.ledger.job(id).name), board.prediction(id), board.misses(id));
        let text = |bytes| String::from_utf8_lossy(bytes);
        Snapshot {
            time: self.last_time,
            jobs: self.ledger.present().map(job).collect(),
            last: (text(&self.last.0), text(&self.last.1)),
        }
    }

    /// Restores what the kept events do not have. `with_predictions` is false if the predictor is another one: predictions in
    /// force are then those of a replay.
    pub(in crate::production) fn restore(
        &mut self,
        snapshot: &Snapshot<'_>,
        with_predictions: bool,
    ) -> Result<(), Rejection> {
        if snapshot.time > self.last_time {
            self.advance_to(snapshot.time, false).map_err(Rejection::Broken)?;
            self.last_time = snapshot.time;
        }
        for (name, prediction, misses) in &snapshot.jobs {
            let unknown = || Rejection::Refused(format!("job '{}' is not in the system", shortened(name)));
            let &id = self.ids.get(&**name).ok_or_else(unknown)?;
            if with_predictions {
                if *prediction < 1 || *prediction < self.board.board().elapsed(id) {
                    return Err(Rejection::Refused(format!(
                        "job '{}' has run longer than {prediction} s",
                        shortened(name)
                    )));
                }
                self.board.restore(id, *prediction, *misses);
                self.queue_deadline(id);
            }
            let prediction = self.board.board().prediction(id);
            self.live_mut(id).reported = prediction;
        }
        self.last = (snapshot.last.0.as_bytes().to_vec(), snapshot.last.1.as_bytes().to_vec());
        self.restored = self.ledger.len();
        Ok(())
    }
}
