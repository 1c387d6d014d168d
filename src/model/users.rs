//! Users laid over the jobs of a model, so that those who learn from history have something to learn.
//!
//! A user works in sessions: jobs of one program, all of one size and nearly of one runtime. Who comes next is drawn here;
//! when, is the model's own affair. A program's shape is drawn from the model when it is new, and neither how often it
//! is run nor by whom depends on it: sizes are distributed as the model's, and runtimes too but for the small spread. (A log
//! has fewer programs than jobs, though: what is measured on it varies as on a log of fewer jobs without users.)

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Zipf};

use super::model_job::Shape;

/// A session has ten jobs on average, geometrically distributed.
const LAST_OF_SESSION: f64 = 0.1;

/// How often the one who came last comes again at once.
const SAME_USER_NEXT: f64 = 0.5;

/// Of every so many users one is in a session.
const USERS_A_SESSION: u32 = 10;

/// How often a session is with a program that its user had before, if there was one.
const KNOWN_PROGRAM: f64 = 0.5;

/// How many programs a user remembers.
const PROGRAMS: usize = 4;

/// The standard deviation of the logarithm of runtimes within a session.
const SPREAD: f64 = 0.15;

#[derive(Clone, Copy, Debug)]
struct Program {
    executable: i32,
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    user: usize,
    program: Program,
}

/// The users of a machine and what they are at.
#[derive(Debug)]
pub struct Users {
    rng: ChaCha8Rng,
    popularity: Zipf<f64>,
    spread: LogNormal<f64>,
    longest_runtime: f64,
    /// The programs that each user remembers, the oldest first.
    remembered: Vec<Vec<Program>>,
    in_session: Vec<bool>,
    sessions: Vec<Option<Session>>,
    last: usize,
    next_executable: i32,
    step: i32,
}

impl Users {
    /// So many users, at least one, of jobs that never run longer than this. Programs are numbered from `first` by `step`.
    pub fn new(users: u32, longest_runtime: f64, first: i32, step: i32, rng: ChaCha8Rng) -> Users {
        Users {
            rng,
            // A few users submit most of the jobs: the k-th works 1/k as often as the first.
            popularity: Zipf::new(f64::from(users), 1.0).expect("there are users"),
            // Its mean is 1.
            spread: LogNormal::new(-SPREAD * SPREAD / 2.0, SPREAD).expect("a finite spread"),
            longest_runtime,
            remembered: vec![Vec::new(); users as usize],
            in_session: vec![false; users as usize],
            sessions: vec![None; users.div_ceil(USERS_A_SESSION) as usize],
            last: 0,
            next_executable: first,
            step,
        }
    }

    /// The next job: its user, its executable and its shape. New programs have shapes from `draw`.
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
        // Nobody is in two sessions. There are more users than sessions, but for a single user, whose session is over.
        let user = loop {
            let user = self.popularity.sample(&mut self.rng) as usize - 1;
            if !self.in_session[user] {
                break user;
            }
        };
        let known = self.remembered[user].len();
        let program = if known > 0 && self.rng.random_bool(KNOWN_PROGRAM) {
            self.remembered[user][self.rng.random_range(0..known)]
        } else {
            let program = Program { executable: self.next_executable, shape: draw() };
            self.next_executable = self.next_executable.saturating_add(self.step);
            if known == PROGRAMS {
                self.remembered[user].remove(0);
            }
            self.remembered[user].push(program);
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
