//! A sweep: a folder, its grid, and what identifies each of its cells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use crate::metrics::LINE_FORMAT;
use crate::parallel;
use crate::report::{Output, OutputError};
use crate::settings_file;
use crate::spec::SpecError;
use crate::trace::{Source, demo, digest};

use super::grid::{Cells, Grid};
use super::store::{CellKey, LogState, Store};

/// Raised whenever any result of the main command changes, so that a sweep never mixes results of two meanings.
pub const RESULTS_REVISION: u32 = 3;

/// A sweep that cannot be begun or resumed.
#[derive(Debug)]
pub enum SweepError {
    /// The folder is not empty and `--resume` was not given.
    NotEmpty {
        folder: PathBuf,
    },
    /// The folder has files in it that are not those of a sweep.
    NotASweep {
        folder: PathBuf,
    },
    /// There is nothing to resume and no grid was given.
    NoGrid {
        folder: PathBuf,
    },
    /// The grid that was given is not the folder's.
    OtherGrid {
        folder: PathBuf,
        differences: String,
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
            SweepError::NoGrid { folder } => {
                write!(f, "there is no sweep in {} to resume: give the lists of a grid", folder.display())
            }
            SweepError::OtherGrid { folder, differences } => write!(
                f,
                "the sweep in {} has another grid: {differences}; leave the lists out to resume it as it is, or use \
                 --change-grid to replace its grid (finished cells are kept)",
                folder.display()
            ),
            SweepError::BadGrid { file, error } => {
                write!(f, "{}: {error}; --change-grid with the lists of a grid replaces it", file.display())
            }
        }
    }
}

impl std::error::Error for SweepError {}

/// What is done with a folder that may have a sweep in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The folder must be new or empty.
    New,
    /// The sweep that is there goes on, if there is one. Its grid is that of the folder.
    Resume,
    /// The same with a grid that replaces the folder's. A finished cell is one whatever grid it was computed for.
    ChangeGrid,
}

/// A grid and the folder where its results are kept.
#[derive(Debug)]
pub struct Sweep {
    pub folder: PathBuf,
    pub grid: Grid,
}

impl Sweep {
    /// Begins a sweep, or resumes the one that is in the folder. Several processes may do so at once, and each may be
    /// killed at any moment: `grid.toml` appears whole, and whoever comes second reads it.
    pub fn begin(folder: &Path, given: Option<Grid>, how: Beginning) -> anyhow::Result<Sweep> {
        let failed = |error| OutputError { name: folder.display().to_string(), error };
        if given.is_none() && !folder.exists() {
            return Err(SweepError::NoGrid { folder: folder.to_path_buf() }.into());
        }
        fs::create_dir_all(folder).map_err(failed)?;
        // The folder may be used from any working folder.
        let given = given.map(Grid::with_absolute_paths).transpose().map_err(failed)?;
        let file = folder.join("grid.toml");
        let grid = match Sweep::read_grid(&file)? {
            None => {
                if !holds_nothing_foreign(folder, how).map_err(failed)? {
                    let folder = folder.to_path_buf();
                    return Err(match how {
                        Beginning::New => SweepError::NotEmpty { folder },
                        _ => SweepError::NotASweep { folder },
                    }
                    .into());
                }
                let grid = given.ok_or_else(|| SweepError::NoGrid { folder: folder.to_path_buf() })?;
                let text = grid.to_toml();
                let is_first =
                    Output::create(&file.to_string_lossy())?.fill_new(|out| out.write_all(text.as_bytes()))?;
                if !is_first {
                    return Sweep::begin(folder, Some(grid), how);
                }
                grid
            }
            Some(_) if how == Beginning::New => {
                return Err(SweepError::NotEmpty { folder: folder.to_path_buf() }.into());
            }
            Some(there) => match (given, there) {
                (None, there) => there?,
                (Some(given), Ok(there)) if given.is_same(&there) => given,
                (Some(given), _) if how == Beginning::ChangeGrid => {
                    let text = given.to_toml();
                    Output::create(&file.to_string_lossy())?.fill(|out| out.write_all(text.as_bytes()))?;
                    given
                }
                (Some(given), there) => {
                    let differences = there?.differences(&given);
                    return Err(SweepError::OtherGrid { folder: folder.to_path_buf(), differences }.into());
                }
            },
        };
        Ok(Sweep { folder: folder.to_path_buf(), grid })
    }

    /// The sweep that is in a folder.
    pub fn open(folder: &Path) -> anyhow::Result<Sweep> {
        match Sweep::read_grid(&folder.join("grid.toml")) {
            Ok(Some(grid)) => Ok(Sweep { folder: folder.to_path_buf(), grid: grid? }),
            Ok(None) | Err(_) => Err(SweepError::NotASweep { folder: folder.to_path_buf() }.into()),
        }
    }

    /// The grid of a folder, if it has one.
    fn read_grid(file: &Path) -> Result<Option<Result<Grid, SweepError>>, OutputError> {
        match fs::symlink_metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(OutputError { name: file.display().to_string(), error }),
            Ok(_) => {}
        }
        let text = settings_file::read_text(file, settings_file::MOST_OF_GRID).map_err(SpecError);
        let grid = text.and_then(|text| Grid::new(&Grid::from_toml(&text)?));
        Ok(Some(grid.map_err(|error| SweepError::BadGrid { file: file.to_path_buf(), error })))
    }

    pub fn results_file(&self) -> PathBuf {
        self.folder.join("results.csv")
    }
}

/// Whether a folder without a grid can become that of a sweep. A process that was killed at once leaves a temporary file
/// at most; one that runs at the same time has one, too. Finished parts without their grid can be resumed.
fn holds_nothing_foreign(folder: &Path, how: Beginning) -> io::Result<bool> {
    const OURS: [&str; 4] = ["parts", "slurm", "results.csv", "results.partial.csv"];
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        // The grid itself: another process has just written it.
        let passes = Output::is_temporary(&name) || name == "grid.toml";
        if !passes && (how == Beginning::New || !OURS.iter().any(|ours| name == *ours)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What identifies cells.
#[derive(Debug)]
pub struct Keys {
    /// None for a cell whose log cannot be read, or of whose log nothing is known.
    pub keys: Vec<Option<CellKey>>,
    /// What is known of the logs.
    pub logs: BTreeMap<Option<String>, LogState>,
}

impl Keys {
    /// Works out what identifies each cell. That takes reading every log once. A log that cannot be read now is taken as
    /// it was: its finished cells stay finished.
    pub fn of(cells: &dyn Cells, store: &Store, threads: usize) -> Keys {
        let logs: Vec<Option<String>> = logs(cells).into_iter().collect();
        let now_or_then = |log: &Option<String>| {
            let then = || log.as_deref().and_then(|name| store.log(name)?.as_ref().ok().copied());
            state(log).or_else(|error| then().ok_or(error))
        };
        let states = parallel::map(&logs, threads, now_or_then, |_| ());
        Keys::with(cells, logs.into_iter().zip(states).collect())
    }

    /// The same by what the parts of a sweep have recorded of its logs, which are not read.
    pub fn recorded(cells: &dyn Cells, store: &Store) -> Keys {
        let known = |log: Option<String>| match &log {
            None => Some((None, state(&None))),
            Some(name) => store.log(name).map(|state| (log.clone(), state.clone())),
        };
        Keys::with(cells, logs(cells).into_iter().filter_map(known).collect())
    }

    fn with(cells: &dyn Cells, logs: BTreeMap<Option<String>, LogState>) -> Keys {
        let key = |at: usize| {
            let cell = cells.cell(at);
            let digest = logs.get(&cell.trace)?.as_ref().ok()?;
            // Not the log's label, which depends on the other logs of a grid: it is added when results are written.
            // With the format of rows, so that a row is only ever read by the code that it was written for.
            let text = format!(
                "shadowtime {} revision {RESULTS_REVISION} rows {LINE_FORMAT}\nlog {digest:032x}\n{}",
                env!("CARGO_PKG_VERSION"),
                cell.options.canonical()
            );
            Some(XxHash3_128::oneshot(text.as_bytes()))
        };
        Keys { keys: (0..cells.count()).map(key).collect(), logs }
    }

    /// Why a cell's log cannot be read, if that is known.
    pub fn error(&self, trace: &Option<String>) -> Option<&str> {
        self.logs.get(trace)?.as_ref().err().map(String::as_str)
    }

    /// The fingerprint of a log.
    pub fn digest(&self, trace: &Option<String>) -> Option<u128> {
        self.logs.get(trace)?.as_ref().ok().copied()
    }
}

fn logs(cells: &dyn Cells) -> BTreeSet<Option<String>> {
    (0..cells.count()).map(|at| cells.cell(at).trace).collect()
}

fn state(log: &Option<String>) -> LogState {
    let source = log.as_deref().map_or_else(demo, Source::from_argument);
    digest(&source).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Options;
    use crate::sweep::GridCell;

    /// Version 0.1.0 wrote rows as CSV under this key: they must not be found.
    #[test]
    fn the_key_of_a_cell_depends_on_the_format_of_rows() {
        let cells = vec![GridCell { trace: None, options: Options::default() }];
        let key = Keys::with(&cells, BTreeMap::from([(None, Ok(7))])).keys[0].unwrap();
        let (version, options) = (env!("CARGO_PKG_VERSION"), Options::default().canonical());
        let rest = format!("\nlog {:032x}\n{options}", 7);
        let of = |begin: String| XxHash3_128::oneshot(format!("{begin}{rest}").as_bytes());
        assert_ne!(key, of(format!("shadowtime {version} revision {RESULTS_REVISION}")));
        assert_eq!(key, of(format!("shadowtime {version} revision {RESULTS_REVISION} rows {LINE_FORMAT}")));
    }
}
