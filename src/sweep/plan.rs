//! A sweep: a folder, its grid, and the keys of its cells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use crate::metrics::LINE_FORMAT;
use crate::parallel;
use crate::predict::catalog::digest_of_program;
use crate::report::{Output, OutputError};
use crate::settings_file;
use crate::spec::{Spec, SpecError};
use crate::trace::{Source, demo, digest};

use super::grid::{Cells, Grid, GridCell};
use super::store::{CellKey, LogState, Store};

/// Increased whenever any result of the main command changes, so that a sweep never mixes results of two revisions.
pub const RESULTS_REVISION: u32 = 6;

/// Why a sweep cannot be started or resumed.
#[derive(Debug)]
pub enum SweepError {
    /// The folder is not empty and `--resume` was not given.
    NotEmpty {
        /// The folder of `--out`.
        folder: PathBuf,
    },
    /// The folder has files that are not those of a sweep.
    NotASweep {
        /// The folder of `--out`.
        folder: PathBuf,
    },
    /// There is no sweep to resume, and no grid was given.
    NoGrid {
        /// The folder of `--out`.
        folder: PathBuf,
    },
    /// The given grid differs from that of the folder.
    OtherGrid {
        /// The folder of `--out`.
        folder: PathBuf,
        /// In words, see [`Grid::differences`].
        differences: String,
    },
    /// The grid of the folder cannot be read.
    BadGrid {
        /// The path of `grid.toml`.
        file: PathBuf,
        /// What is wrong with it.
        error: SpecError,
    },
    /// A file of the folder cannot be read or written.
    File(OutputError),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepError::NotEmpty { folder } => {
                write!(f, "{} is not empty: --resume continues the sweep in it", folder.display())
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
            SweepError::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SweepError {}

impl From<OutputError> for SweepError {
    fn from(error: OutputError) -> Self {
        SweepError::File(error)
    }
}

/// What to do with a folder that may contain a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    /// The folder must be new or empty.
    New,
    /// Resumes the sweep in the folder, or starts one. The grid of the folder must not change.
    Resume,
    /// The same, but a given grid replaces that of the folder. Finished cells are kept: their keys do not depend on the
    /// grid.
    ChangeGrid,
}

/// A grid and the folder of its results.
#[derive(Debug)]
pub struct Sweep {
    /// With `grid.toml`, the folder `parts` and the results.
    pub folder: PathBuf,
    /// With absolute paths of logs.
    pub grid: Grid,
}

impl Sweep {
    /// Starts a sweep, or resumes the one in the folder. Several processes may do this at once, and each may be killed
    /// at any time: `grid.toml` is created atomically, and all but the first process read it.
    ///
    /// # Errors
    ///
    /// If the folder or its grid does not fit, or if a file cannot be read or written.
    pub fn begin(folder: &Path, given: Option<Grid>, how: StartMode) -> Result<Sweep, SweepError> {
        let failed = |error| OutputError { name: folder.display().to_string(), error };
        if given.is_none() && !folder.exists() {
            return Err(SweepError::NoGrid { folder: folder.to_path_buf() });
        }
        fs::create_dir_all(folder).map_err(failed)?;
        // The folder may be used from any working folder.
        let given = given.map(Grid::with_absolute_paths).transpose().map_err(failed)?;
        let file = folder.join("grid.toml");
        let grid = match Sweep::read_grid(&file)? {
            None => {
                if !can_hold_sweep(folder, how).map_err(failed)? {
                    let folder = folder.to_path_buf();
                    return Err(match how {
                        StartMode::New => SweepError::NotEmpty { folder },
                        _ => SweepError::NotASweep { folder },
                    });
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
            Some(_) if how == StartMode::New => {
                return Err(SweepError::NotEmpty { folder: folder.to_path_buf() });
            }
            Some(there) => match (given, there) {
                (None, there) => there?,
                (Some(given), Ok(there)) if given.is_same(&there) => given,
                (Some(given), _) if how == StartMode::ChangeGrid => {
                    let text = given.to_toml();
                    Output::create_own(&file.to_string_lossy())?.fill(|out| out.write_all(text.as_bytes()))?;
                    given
                }
                (Some(given), there) => {
                    let differences = there?.differences(&given);
                    return Err(SweepError::OtherGrid { folder: folder.to_path_buf(), differences });
                }
            },
        };
        Ok(Sweep { folder: folder.to_path_buf(), grid })
    }

    /// The sweep in a folder.
    ///
    /// # Errors
    ///
    /// If the folder has no readable `grid.toml`.
    pub fn open(folder: &Path) -> Result<Sweep, SweepError> {
        match Sweep::read_grid(&folder.join("grid.toml")) {
            Ok(Some(grid)) => Ok(Sweep { folder: folder.to_path_buf(), grid: grid? }),
            Ok(None) | Err(_) => Err(SweepError::NotASweep { folder: folder.to_path_buf() }),
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

    /// Where the results are written when all cells are finished.
    pub fn results_file(&self) -> PathBuf {
        self.folder.join("results.csv")
    }
}

/// Whether a folder without a grid can become that of a sweep. A process that was killed early leaves at most a
/// temporary file, and so does one that is running. Finished parts without a grid can be resumed.
fn can_hold_sweep(folder: &Path, how: StartMode) -> io::Result<bool> {
    const OURS: [&str; 4] = ["parts", "slurm", "results.csv", "results.partial.csv"];
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        // The grid may be there now: another process has just written it.
        let is_allowed = Output::is_temporary(&name) || name == "grid.toml";
        if !is_allowed && (how == StartMode::New || !OURS.iter().any(|ours| name == *ours)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The keys of cells.
#[derive(Debug)]
pub struct Keys {
    /// One per cell. None if the cell's log cannot be read, or if its content is not known.
    pub keys: Vec<Option<CellKey>>,
    /// The state of each log; the key None is the embedded log.
    pub logs: BTreeMap<Option<String>, LogState>,
    /// The hash of each program that predicts, by the spec in full, or why there is none.
    pub programs: BTreeMap<String, Result<u128, String>>,
}

impl Keys {
    /// Computes the key of each cell, which takes reading every log once, and starting every program that predicts once. For
    /// a log that cannot be read now, the recorded content is used, so that its finished cells stay finished; likewise for a
    /// program that cannot be started.
    pub fn of(cells: &dyn Cells, store: &Store, threads: usize) -> Keys {
        let Inputs { logs, programs } = Inputs::of(cells);
        let logs: Vec<Option<String>> = logs.into_iter().collect();
        let now_or_then = |log: &Option<String>| {
            let then = || log.as_deref().and_then(|name| store.log(name)?.as_ref().ok().copied());
            state(log).or_else(|error| then().ok_or(error))
        };
        let states = parallel::map(&logs, threads, now_or_then, |_| ());
        let programs: Vec<(String, Spec)> = programs.into_iter().collect();
        let now_or_then =
            |(name, spec): &(String, Spec)| digest_of_program(spec).or_else(|error| store.program(name).ok_or(error));
        let digests = parallel::map(&programs, threads, now_or_then, |_| ());
        let programs = programs.into_iter().map(|(name, _)| name).zip(digests).collect();
        Keys::with(cells, logs.into_iter().zip(states).collect(), programs)
    }

    /// The same from what the parts of the sweep have recorded, without reading the logs and without starting programs.
    pub fn recorded(cells: &dyn Cells, store: &Store) -> Keys {
        let known = |log: Option<String>| match &log {
            None => Some((None, state(&None))),
            Some(name) => store.log(name).map(|state| (log.clone(), state.clone())),
        };
        let Inputs { logs, programs } = Inputs::of(cells);
        let digest = |name: String| store.program(&name).map(|digest| (name, Ok(digest)));
        let programs = programs.into_keys().filter_map(digest).collect();
        Keys::with(cells, logs.into_iter().filter_map(known).collect(), programs)
    }

    fn with(
        cells: &dyn Cells,
        logs: BTreeMap<Option<String>, LogState>,
        programs: BTreeMap<String, Result<u128, String>>,
    ) -> Keys {
        let key = |at: usize| {
            let cell = cells.cell(at);
            let digest = logs.get(&cell.trace)?.as_ref().ok()?;
            // The key does not contain the log's label, which depends on the other logs of the grid: it is added when
            // results are written. It contains the format of rows, so that a row is only read by code with the same
            // format.
            let mut text = format!(
                "shadowtime {} revision {RESULTS_REVISION} rows {LINE_FORMAT}\nlog {digest:032x}\n{}",
                env!("CARGO_PKG_VERSION"),
                cell.options.canonical()
            );
            // The options have its command; this is what the command does not say.
            for spec in cell.options.programs() {
                let _ = write!(text, "\nprogram {:032x}", programs.get(&spec.in_full())?.as_ref().ok()?);
            }
            Some(XxHash3_128::oneshot(text.as_bytes()))
        };
        Keys { keys: (0..cells.count()).map(key).collect(), logs, programs }
    }

    /// Why the log of a cell cannot be read, or its program cannot be used; None if they can, or if that is not known.
    pub fn error(&self, cell: &GridCell) -> Option<&str> {
        let log = self.logs.get(&cell.trace).and_then(|state| state.as_ref().err());
        let mut programs = cell.options.programs();
        let of_program = || programs.find_map(|spec| self.programs.get(&spec.in_full())?.as_ref().err());
        log.or_else(of_program).map(String::as_str)
    }

    /// The hash of a log's content; None if it is not known.
    pub fn digest(&self, trace: &Option<String>) -> Option<u128> {
        self.logs.get(trace)?.as_ref().ok().copied()
    }
}

/// What the results of cells depend on beside their options.
#[derive(Default)]
struct Inputs {
    logs: BTreeSet<Option<String>>,
    /// The specs of programs that predict, by the spec in full: a version may depend on the keys.
    programs: BTreeMap<String, Spec>,
}

impl Inputs {
    fn of(cells: &dyn Cells) -> Inputs {
        let mut inputs = Inputs::default();
        for at in 0..cells.count() {
            let cell = cells.cell(at);
            for spec in cell.options.programs() {
                inputs.programs.entry(spec.in_full()).or_insert_with(|| spec.clone());
            }
            inputs.logs.insert(cell.trace);
        }
        inputs
    }
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
        let key = Keys::with(&cells, BTreeMap::from([(None, Ok(7))]), BTreeMap::new()).keys[0].unwrap();
        let (version, options) = (env!("CARGO_PKG_VERSION"), Options::default().canonical());
        let rest = format!("\nlog {:032x}\n{options}", 7);
        let of = |begin: String| XxHash3_128::oneshot(format!("{begin}{rest}").as_bytes());
        assert_ne!(key, of(format!("shadowtime {version} revision {RESULTS_REVISION}")));
        assert_eq!(key, of(format!("shadowtime {version} revision {RESULTS_REVISION} rows {LINE_FORMAT}")));
    }
}
