//! Assigns users to the jobs of a model, so that predictors can use the history of users.
//!
//! A user works in sessions: jobs of one program, all of one size and with similar runtimes. This module draws the user of
//! the next job; the model draws the submit time. The shape of a new program is drawn from the model, and how often and by
//! which user it is run does not depend on the shape. So sizes are distributed as in the model, and runtimes too except for
//! a small spread. (A log has fewer programs than jobs, so its statistics vary as those of a shorter log without users.)

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Zipf};

use super::model_job::Shape;

/// A session has ten jobs on average, geometrically distributed.
const LAST_OF_SESSION: f64 = 0.1;

/// The probability that the next job is from the same session as the last one.
const SAME_USER_NEXT: f64 = 0.5;

/// The number of users per active session.
const USERS_PER_SESSION: u32 = 10;

/// The probability that a session uses one of the user's latest programs, if there are any.
const KNOWN_PROGRAM: f64 = 0.5;

/// The number of latest programs per user.
const PROGRAMS: usize = 4;

/// The standard deviation of the logarithm of runtimes within a session.
const SPREAD: f64 = 0.15;

#[derive(Clone, Copy, Debug)]
struct UserProgram {
    executable: i32,
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    user: usize,
    program: UserProgram,
}

/// The users of a machine and their sessions.
#[derive(Debug)]
pub struct Users {
    rng: ChaCha8Rng,
    popularity: Zipf<f64>,
    spread: LogNormal<f64>,
    longest_runtime: f64,
    /// The latest programs of each user, the oldest first.
    programs: Vec<Vec<UserProgram>>,
    in_session: Vec<bool>,
    sessions: Vec<Option<Session>>,
    last: usize,
    next_executable: i32,
    step: i32,
}

impl Users {
    /// `users` is at least 1. No job runs longer than `longest_runtime`, in seconds. Programs have the numbers `first`,
    /// `first + step` and so on.
    pub fn new(users: u32, longest_runtime: f64, first: i32, step: i32, rng: ChaCha8Rng) -> Users {
        Users {
            rng,
            // A few users submit most of the jobs: the k-th user has 1/k as many sessions as the first.
            popularity: Zipf::new(f64::from(users), 1.0).expect("there are users"),
            // Its mean is 1.
            spread: LogNormal::new(-SPREAD * SPREAD / 2.0, SPREAD).expect("a finite spread"),
            longest_runtime,
            programs: vec![Vec::new(); users as usize],
            in_session: vec![false; users as usize],
            sessions: vec![None; users.div_ceil(USERS_PER_SESSION) as usize],
            last: 0,
            next_executable: first,
            step,
        }
    }

    /// Draws the next job: its user, its executable and its shape. `draw` gives the shapes of new programs.
    pub fn submit(&mut self, draw: &mut dyn FnMut() -> Shape) -> (i32, i32, Shape) {
        if !self.rng.random_bool(SAME_USER_NEXT) {
            self.last = self.rng.random_range(0..self.sessions.len());
        }
        let Session { user, program } = match self.sessions[self.last] {
            Some(session) => session,
            None => self.begin_session(draw),
        };
        let ends = self.rng.random_bool(LAST_OF_SESSION);
        self.in_session[user] = !ends;
        self.sessions[self.last] = (!ends).then_some(Session { user, program });
        (user as i32 + 1, program.executable, self.vary(program.shape))
    }

    fn begin_session(&mut self, draw: &mut dyn FnMut() -> Shape) -> Session {
        // No user is in two sessions. This loop ends: there are more users than sessions, or one user whose session is over.
        let user = loop {
            let user = self.popularity.sample(&mut self.rng) as usize - 1;
            if !self.in_session[user] {
                break user;
            }
        };
        let known = self.programs[user].len();
        let program = if known > 0 && self.rng.random_bool(KNOWN_PROGRAM) {
            self.programs[user][self.rng.random_range(0..known)]
        } else {
            let program = UserProgram { executable: self.next_executable, shape: draw() };
            self.next_executable = self.next_executable.saturating_add(self.step);
            if known == PROGRAMS {
                self.programs[user].remove(0);
            }
            self.programs[user].push(program);
            program
        };
        Session { user, program }
    }

    fn vary(&mut self, shape: Shape) -> Shape {
        loop {
            let runtime = shape.runtime * self.spread.sample(&mut self.rng);
            if runtime <= self.longest_runtime {
                return Shape { runtime, ..shape };
            }
        }
    }
}
