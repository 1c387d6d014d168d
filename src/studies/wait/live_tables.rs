//! Live answers as text for people.

use std::io::{self, Write};

use super::live::{FEW_ANSWERS, LiveWait};
use super::live_report::{LiveJob, LiveReport, duration};
use super::reliability::{FEWEST_DRAWS, Reliability, SHOWN};
use crate::job::Submission;
use crate::report::{Table, Width, counted, grouped, write_paragraph, write_wrapped};
use crate::text::{counted_as, printable};
use crate::time::{Seconds, readable_duration};

/// Jobs that wait, as a table for people.
pub struct LiveListing {
    /// The number of columns with names, which come first.
    pub names: usize,
    /// Of all columns.
    pub headings: Vec<&'static str>,
    /// Each cell as a text, with the number by which rows can be sorted.
    pub rows: Vec<Vec<(String, Option<f64>)>>,
}

impl LiveReport<'_> {
    /// Writes the answer as text. Its first line says how far it can be relied on.
    pub fn write(&self, out: &mut dyn Write, width: Width) -> io::Result<()> {
        write_wrapped(out, "", &printable(&self.answer_line()), width)?;
        write_paragraph(out, &printable(&self.title), width)?;
        write_wrapped(out, "", &self.present(), width)?;
        match self.asked {
            true => self.write_asked(out, width)?,
            false => self.write_queue(out, width)?,
        }
        for paragraph in self.records().iter().chain([&self.how]) {
            write_paragraph(out, paragraph, width)?;
        }
        Ok(())
    }

    fn write_asked(&self, out: &mut dyn Write, width: Width) -> io::Result<()> {
        for job in self.jobs {
            let (Some(answer), Some(reliability)) = (self.wait(job), self.reliability(job)) else { continue };
            writeln!(out)?;
            if let Some(waits) = reliability.waits(answer) {
                let what = match reliability {
                    Reliability::Held => "it has started with probability",
                    _ => "of such past jobs had started",
                };
                let mut table = Table::default();
                table.headings([what, "within", "by"]);
                for ((_, name), wait) in SHOWN.iter().zip(waits) {
                    table.push(vec![name.to_string(), duration(wait), self.by(wait)]);
                }
                table.write(out, width)?;
            }
            if reliability != Reliability::Held {
                let simulated = match answer.simulated {
                    0 => "at once".to_string(),
                    wait => format!("after {}", duration(wait)),
                };
                let text = format!("in half of the simulations of the queue it starts {simulated}, or earlier");
                write_wrapped(out, "", &text, width)?;
            }
        }
        if let Some(actual) = self.actual {
            writeln!(out)?;
            writeln!(out, "it waited {}", readable_duration(actual as f64))?;
        }
        Ok(())
    }

    fn write_queue(&self, out: &mut dyn Write, width: Width) -> io::Result<()> {
        let listing = self.listing();
        if !listing.rows.is_empty() {
            writeln!(out)?;
            let mut table = Table::default();
            table.headings(listing.headings.iter().copied());
            for row in listing.rows {
                table.push(row.into_iter().map(|(text, _)| text).collect());
            }
            table.write(out, width)?;
        }
        let held: Vec<String> =
            self.held().map(|(job, reason)| format!("{} ({})", printable(&job.name), printable(reason))).collect();
        if !held.is_empty() {
            let (count, jobs) = (counted(held.len() as u64, "job"), held.join(", "));
            write_paragraph(out, &format!("{count} held, not waiting for processors: {jobs}"), width)?;
        }
        Ok(())
    }

    /// The jobs that wait, as a table for people.
    pub fn listing(&self) -> LiveListing {
        let answered: Vec<(&LiveJob, &LiveWait, Reliability)> =
            self.jobs.iter().filter_map(|job| Some((job, self.wait(job)?, self.reliability(job)?))).collect();
        let name = |name: &Option<String>| (printable(name.as_deref().unwrap_or("-")).into_owned(), None);
        let has = |has: &dyn Fn(&LiveJob) -> bool| answered.iter().any(|(job, _, _)| has(job));
        let shows_user = has(&|job| job.names.user.is_some());
        let shows_queue = has(&|job| job.names.queue.is_some());
        let shows_partition = has(&|job| job.names.partition.is_some());
        let expects = has(&|job| job.expected.is_some());
        let simulates = answered.iter().any(|(_, _, reliability)| *reliability != Reliability::Held);
        let mut headings = vec!["job"];
        headings.extend(shows_user.then_some("user"));
        headings.extend(shows_queue.then_some("queue"));
        headings.extend(shows_partition.then_some("partition"));
        let names = headings.len();
        headings.extend(["processors", "estimate", "has waited", "50%: by", "80%: by", "95%: by", "reliable"]);
        headings.extend(simulates.then_some("simulated"));
        let is_after = answered.iter().any(|(_, answer, _)| answer.closed.after().is_some());
        headings.extend(is_after.then_some("after"));
        headings.extend(expects.then_some("site expects"));
        let row = |(job, answer, reliability): &(&LiveJob, &LiveWait, Reliability)| {
            let seconds = |text: String, value: Seconds| (text, Some(value as f64));
            let mut row = vec![(printable(&job.name).into_owned(), None)];
            row.extend(shows_user.then(|| name(&job.names.user)));
            row.extend(shows_queue.then(|| name(&job.names.queue)));
            row.extend(shows_partition.then(|| name(&job.names.partition)));
            let Submission { procs, estimate, .. } = job.submission;
            row.push((grouped(u64::from(procs)), Some(f64::from(procs))));
            row.push(seconds(duration(estimate), estimate));
            row.push(seconds(duration(self.age(job)), self.age(job)));
            match reliability.waits(answer) {
                Some(waits) => row.extend(waits.map(|wait| seconds(self.by(wait), wait))),
                None => row.extend([const { "-" }; 3].map(|none| (none.to_string(), None))),
            }
            row.push((reliability.word().to_string(), None));
            row.extend(simulates.then(|| seconds(self.by(answer.simulated), answer.simulated)));
            row.extend(is_after.then(|| (self.after(answer).unwrap_or("-".to_string()), None)));
            if expects {
                let expected = job.expected.map(|time| (time - self.now).max(0));
                row.push(expected.map_or(("-".to_string(), None), |wait| seconds(self.by(wait), wait)));
            }
            row
        };
        LiveListing { names, headings, rows: answered.iter().map(row).collect() }
    }

    /// For how many of these jobs the answer is recalibrated.
    pub fn recalibrated(&self) -> usize {
        self.jobs.iter().filter_map(|job| self.wait(job)).filter(|answer| answer.recalibrated).count()
    }

    /// Why the answer may be worth little, in sentences.
    pub fn weaknesses(&self) -> Vec<String> {
        let (mut weak, recalibrated) = (Vec::new(), self.recalibrate);
        if !recalibrated && self.answer.draws < FEWEST_DRAWS {
            let draws = counted(self.answer.draws as u64, "simulation");
            weak.push(format!("{draws} cannot tell a time for 95%: at least {FEWEST_DRAWS} are needed (see --draws)"));
        }
        let simulated =
            self.jobs.len() - self.recalibrated() - self.jobs.iter().filter(|job| job.place.is_none()).count();
        if recalibrated && simulated > 0 {
            let jobs = counted_as(simulated as u64, "job", "jobs");
            weak.push(format!(
                "too few past jobs waited as long as {jobs}: the times of these are as simulated, not recalibrated"
            ));
        }
        if recalibrated && self.answer.past < FEW_ANSWERS {
            let past = counted_as(self.answer.past as u64, "past answer", "past answers");
            weak.push(format!("the ranges come from only {past}: at least {FEW_ANSWERS} are needed to trust them"));
        }
        let (widest, longest) = self.answer.largest;
        let answered = || self.jobs.iter().filter(|job| job.place.is_some()).map(|job| &job.submission);
        let wider = answered().filter(|job| job.procs > widest).count();
        let longer = answered().filter(|job| job.estimate > longest).count();
        let unlike = |count: usize, what: &str, limit: String| {
            let jobs = counted_as(count as u64, "job asks", "jobs ask");
            format!("{jobs} for {what} than any past job that was looked at ({limit}): that answer is a guess")
        };
        if recalibrated && self.answer.past > 0 {
            if wider > 0 {
                weak.push(unlike(wider, "more processors", counted(u64::from(widest), "processor")));
            }
            if longer > 0 {
                weak.push(unlike(longer, "a longer time", duration(longest)));
            }
        }
        weak
    }
}
