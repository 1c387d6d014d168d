//! A sweep: a folder, its grid, and what identifies each of its cells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use crate::parallel;
use crate::report::{Output, OutputError};
use crate::spec::SpecError;
use crate::trace::{Source, demo, digest};

use super::grid::{Cells, Grid};
use super::store::CellKey;

/// Raised whenever any result of the main command changes, so that a sweep never mixes results of two meanings.
pub const RESULTS_REVISION: u32 = 2;

/// A sweep that cannot be begun or gone on with.
#[derive(Debug)]
pub enum SweepError {
    /// The folder has files in it, and nobody said that they are to be used.
    NotEmpty {
        folder: PathBuf,
    },
    /// The folder has files in it, but is none of a sweep.
    NotASweep {
        folder: PathBuf,
    },
    BadGrid {
        file: PathBuf,
        error: SpecError,
    },
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepError::NotEmpty { folder } => {
                write!(f, "{} is not empty: --resume goes on with the sweep that is there", folder.display())
            }
            SweepError::NotASweep { folder } => {
                write!(f, "{} is not the folder of a sweep: it has no grid.toml", folder.display())
            }
            SweepError::BadGrid { file, error } => write!(f, "{}: {error}", file.display()),
        }
    }
}

impl std::error::Error for SweepError {}

/// A grid and the folder where its results are kept.
#[derive(Debug)]
pub struct Sweep {
    pub folder: PathBuf,
    pub grid: Grid,
}

impl Sweep {
    /// Begins a sweep in a new or empty folder, or goes on with the one that is there, whose grid may be another now:
    /// a cell is a cell, whatever grid it was computed for.
    pub fn begin(folder: &Path, grid: Grid, resume: bool) -> anyhow::Result<Sweep> {
        let failed = |error| OutputError { name: folder.display().to_string(), error };
        fs::create_dir_all(folder).map_err(failed)?;
        let empty = fs::read_dir(folder).map_err(failed)?.next().is_none();
        if !empty && !resume {
            return Err(SweepError::NotEmpty { folder: folder.to_path_buf() }.into());
        }
        let file = folder.join("grid.toml");
        if !empty && !file.exists() {
            return Err(SweepError::NotASweep { folder: folder.to_path_buf() }.into());
        }
        // Left alone where it says the same: another process may be reading it.
        let text = grid.to_toml();
        if fs::read_to_string(&file).ok().as_deref() != Some(&text) {
            Output::create(&file.to_string_lossy())?.fill(|out| out.write_all(text.as_bytes()))?;
        }
        Ok(Sweep { folder: folder.to_path_buf(), grid })
    }

    /// The sweep that is in a folder.
    pub fn open(folder: &Path) -> anyhow::Result<Sweep> {
        let file = folder.join("grid.toml");
        let Ok(text) = fs::read_to_string(&file) else {
            return Err(SweepError::NotASweep { folder: folder.to_path_buf() }.into());
        };
        let grid = Grid::from_toml(&text).and_then(|lists| Grid::new(&lists));
        let grid = grid.map_err(|error| SweepError::BadGrid { file, error })?;
        Ok(Sweep { folder: folder.to_path_buf(), grid })
    }

    pub fn results_file(&self) -> PathBuf {
        self.folder.join("results.csv")
    }
}

/// What identifies cells.
#[derive(Debug)]
pub struct Keys {
    /// None for a cell whose log cannot be read.
    pub keys: Vec<Option<CellKey>>,
    /// The fingerprints of the logs that can.
    pub digests: BTreeMap<Option<String>, u128>,
    /// Why not.
    pub errors: BTreeMap<Option<String>, String>,
}

impl Keys {
    /// Works out what identifies each cell. That takes reading every log once.
    pub fn of(cells: &dyn Cells, threads: usize) -> Keys {
        let logs: BTreeSet<Option<String>> = (0..cells.count()).map(|at| cells.cell(at).trace).collect();
        let digests = digest_all(&logs.into_iter().collect::<Vec<_>>(), threads);
        let key = |at: usize| {
            let cell = cells.cell(at);
            let (label, digest) = digests[&cell.trace].as_ref().ok()?;
            let text = format!(
                "shadowtime {} revision {RESULTS_REVISION}\nlog {digest:032x} {label}\n{}",
                env!("CARGO_PKG_VERSION"),
                cell.options.canonical()
            );
            Some(XxHash3_128::oneshot(text.as_bytes()))
        };
        let keys = (0..cells.count()).map(key).collect();
        let mut all = Keys { keys, digests: BTreeMap::new(), errors: BTreeMap::new() };
        for (trace, digest) in digests {
            match digest {
                Ok((_, digest)) => drop(all.digests.insert(trace, digest)),
                Err(error) => drop(all.errors.insert(trace, error)),
            }
        }
        all
    }
}

type Digest = Result<(String, u128), String>;

fn digest_all(logs: &[Option<String>], threads: usize) -> BTreeMap<Option<String>, Digest> {
    let digest = |log: &Option<String>| {
        let source = log.as_deref().map_or_else(demo, Source::from_argument);
        digest(&source).map(|digest| (source.label(), digest)).map_err(|error| error.to_string())
    };
    logs.iter().cloned().zip(parallel::map(logs, threads, digest, |_| ())).collect()
}
