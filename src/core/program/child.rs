//! The process of a program: started in a process group of its own, asked line by line with a time limit, and ended with
//! everything that it has started.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{MOST_OF_A_LINE, Unanswered};

/// How long a program may take to end by itself after the end of its input.
const GRACE: Duration = Duration::from_secs(1);

/// How long it may take to end after a request to end at once: it may have to end programs of its own.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// All programs that run, so that an interrupt can end them.
static RUNNING: Mutex<RunningPrograms> = Mutex::new(RunningPrograms { groups: Vec::new(), is_over: false });

struct RunningPrograms {
    groups: Vec<Pid>,
    /// This process is about to end: no more programs are started.
    is_over: bool,
}

fn running() -> MutexGuard<'static, RunningPrograms> {
    RUNNING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Ends all programs at once, and lets no other start. For the end of this process: threads that still use a program then
/// wait for it.
pub fn end_all() {
    let mut running = running();
    running.is_over = true;
    end_groups(&std::mem::take(&mut running.groups));
}

/// Ends all processes of these groups. A group exists until its first process is waited for.
fn end_groups(groups: &[Pid]) {
    // Errors are ignored: processes may have ended by themselves.
    for &group in groups {
        let _ = kill_process_group(group, Signal::TERM);
    }
    wait_while(LAST_MOMENT, || groups.iter().any(|&group| runs(group)));
    for &group in groups {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Whether a process runs that this one has started. If it has ended it stays a zombie, so that its group still exists.
fn runs(process: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(process), options), Ok(None))
}

/// Waits until something is no longer so, but not longer than this.
fn wait_while(most: Duration, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    let mut pause = Duration::from_micros(100);
    while is_so() && began.elapsed() < most {
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// A program that runs.
pub struct Child {
    process: process::Child,
    group: Pid,
    /// None after the end.
    pipes: Option<(ChildStdin, ChildStdout)>,
    timeout: Duration,
    /// The last line, with its end.
    read: Vec<u8>,
    /// The length of that line; 0 until all of it was read.
    line: usize,
    /// The number of lines that were read.
    lines: u64,
}

impl Child {
    /// Starts a program. `timeout` is how long each answer may take.
    pub fn start(words: &[String], timeout: Duration) -> io::Result<Child> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        // Held until the program is in the list, so that `end_all` misses none.
        let mut running = running();
        if running.is_over {
            drop(running);
            wait_for_exit();
        }
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&process);
        running.groups.push(group);
        drop(running);
        let pipes = process.stdin.take().zip(process.stdout.take());
        let child = Child { process, group, pipes, timeout, read: Vec::new(), line: 0, lines: 0 };
        if let Some((input, _)) = &child.pipes {
            // A program that does not read must not stop this one.
            rustix::io::ioctl_fionbio(input, true)?;
        }
        Ok(child)
    }

    /// The number of lines that the program has written.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The last line that the program has written, without its end.
    pub fn last_line(&self) -> &[u8] {
        let line = self.read[..self.line].strip_suffix(b"\n").unwrap_or(&[]);
        // Also the line end of other systems.
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Sends a line, which ends with a newline, and reads the line that answers it.
    pub fn ask(&mut self, line: &[u8]) -> Result<(), Unanswered> {
        let answer = self.exchange(line);
        // An interrupt has ended the program: there is no error to report.
        if answer.is_err() && running().is_over {
            wait_for_exit();
        }
        answer
    }

    fn exchange(&mut self, line: &[u8]) -> Result<(), Unanswered> {
        self.refuse_unasked()?;
        let deadline = Instant::now() + self.timeout;
        self.read.clear();
        self.line = 0;
        self.send(line, deadline)?;
        while self.line == 0 {
            let before = self.read.len();
            self.receive(deadline)?;
            match memchr::memchr(b'\n', &self.read[before..]) {
                Some(at) => self.line = before + at + 1,
                None if self.read.len() > MOST_OF_A_LINE => return Err(Unanswered::TooLong),
                None => {}
            }
        }
        self.lines += 1;
        match self.line {
            length if length > MOST_OF_A_LINE + 1 => Err(Unanswered::TooLong),
            length if length < self.read.len() => Err(Unanswered::MoreThanALine(self.lines + 1)),
            _ => Ok(()),
        }
    }

    /// Refuses what the program has written since its last answer: it would be taken for the answer to the next line. Before
    /// the first line nothing is refused here, because the answer to the greeting has an error of its own.
    fn refuse_unasked(&mut self) -> Result<(), Unanswered> {
        if self.lines == 0 {
            return Ok(());
        }
        self.read.clear();
        match self.receive(Instant::now()) {
            Err(Unanswered::Silent) => Ok(()),
            Ok(()) if self.read.is_empty() => Ok(()),
            Ok(()) => {
                let line = self.read.split(|byte| *byte == b'\n').next().unwrap_or_default();
                Err(Unanswered::Unasked(self.lines + 1, line.to_vec()))
            }
            Err(ended) => Err(ended),
        }
    }

    fn send(&mut self, mut line: &[u8], deadline: Instant) -> Result<(), Unanswered> {
        while !line.is_empty() {
            let Some((input, _)) = &mut self.pipes else { return Err(self.ended()) };
            match input.write(line) {
                Ok(sent) => line = &line[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait_until_ready(&mut [PollFd::new(input, PollFlags::OUT)], deadline)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.ended()),
                Err(error) => return Err(Unanswered::Failed(error)),
            }
        }
        Ok(())
    }

    /// Reads what there is, at least one byte.
    fn receive(&mut self, deadline: Instant) -> Result<(), Unanswered> {
        let Some((_, output)) = &mut self.pipes else { return Err(self.ended()) };
        wait_until_ready(&mut [PollFd::new(output, PollFlags::IN)], deadline)?;
        let mut some = [0; 4096];
        match output.read(&mut some) {
            Ok(0) => Err(self.ended()),
            Ok(count) => {
                self.read.extend_from_slice(&some[..count]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(Unanswered::Failed(error)),
        }
    }

    /// How the program has ended, or is about to end: its output is closed.
    fn ended(&mut self) -> Unanswered {
        let has_ended = self.close(GRACE);
        Unanswered::Ended(match self.process.try_wait() {
            Ok(Some(status)) if has_ended => status.to_string(),
            _ => "it has closed its output".to_string(),
        })
    }

    /// Ends the program without waiting for it.
    pub fn end_at_once(&mut self) {
        self.close(Duration::ZERO);
    }

    /// Closes the input of the program, gives it some time to end by itself, and ends everything that is left of it. Returns
    /// whether it had ended by itself.
    fn close(&mut self, grace: Duration) -> bool {
        if self.pipes.take().is_none() {
            return false;
        }
        wait_while(grace, || runs(self.group));
        let has_ended = !runs(self.group);
        end_groups(&[self.group]);
        {
            // Once this process has waited for the program, its group may be that of another.
            let mut running = running();
            running.groups.retain(|&group| group != self.group);
        }
        let _ = self.process.wait();
        has_ended
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // A panic must not be delayed.
        self.close(if thread::panicking() { Duration::ZERO } else { GRACE });
    }
}

fn wait_until_ready(pipe: &mut [PollFd<'_>], deadline: Instant) -> Result<(), Unanswered> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(pipe, Some(&left)) {
            Ok(0) => return Err(Unanswered::Silent),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Unanswered::Failed(error.into())),
        }
    }
}

/// Another thread ends this process.
fn wait_for_exit() -> ! {
    loop {
        thread::park();
    }
}
