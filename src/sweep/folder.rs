//! A sweep: a folder and its grid.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::report::{Output, OutputError};
use crate::runs::{RunPlan, RunsError};
use crate::settings_file;
use crate::spec::SpecError;

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
    pub grid: RunPlan,
}

impl Sweep {
    /// Starts a sweep, or resumes the one in the folder. Several processes may do this at once, and each may be killed
    /// at any time: `grid.toml` is created atomically, and all but the first process read it.
    ///
    /// # Errors
    ///
    /// If the folder or its grid does not fit, or if a file cannot be read or written.
    pub fn begin(folder: &Path, given: Option<RunPlan>, how: StartMode) -> Result<Sweep, RunsError> {
        let name = folder.display();
        let failed = |error| OutputError { name: name.to_string(), error };
        let no_grid = || RunsError::Folder(format!("there is no sweep in {name} to resume: give the lists of a grid"));
        let not_empty = || RunsError::Folder(format!("{name} is not empty: --resume continues the sweep in it"));
        if given.is_none() && !folder.exists() {
            return Err(no_grid());
        }
        fs::create_dir_all(folder).map_err(failed)?;
        // The folder may be used from any working folder.
        let given = given.map(RunPlan::with_absolute_paths).transpose().map_err(failed)?;
        let file = folder.join("grid.toml");
        let grid = match Sweep::read_grid(&file)? {
            None => {
                if !can_hold_sweep(folder, how).map_err(failed)? {
                    return Err(if how == StartMode::New { not_empty() } else { not_a_sweep(folder) });
                }
                let grid = given.ok_or_else(no_grid)?;
                let text = grid.to_toml();
                let is_first =
                    Output::create(&file.to_string_lossy())?.fill_new(|out| out.write_all(text.as_bytes()))?;
                if !is_first {
                    return Sweep::begin(folder, Some(grid), how);
                }
                grid
            }
            Some(_) if how == StartMode::New => return Err(not_empty()),
            Some(there) => match (given, there) {
                (None, there) => there?,
                (Some(given), Ok(there)) if given.is_same(&there) => given,
                (Some(given), _) if how == StartMode::ChangeGrid => {
                    let text = given.to_toml();
                    Output::create_own(&file.to_string_lossy())?.fill(|out| out.write_all(text.as_bytes()))?;
                    given
                }
                (Some(given), there) => {
                    return Err(RunsError::Folder(format!(
                        "the sweep in {name} has another grid: {}; leave the lists out to resume it as it is, or use \
                         --change-grid to replace its grid (finished cells are kept)",
                        there?.differences(&given)
                    )));
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
    pub fn open(folder: &Path) -> Result<Sweep, RunsError> {
        match Sweep::read_grid(&folder.join("grid.toml")) {
            Ok(Some(grid)) => Ok(Sweep { folder: folder.to_path_buf(), grid: grid? }),
            Ok(None) | Err(_) => Err(not_a_sweep(folder)),
        }
    }

    /// The grid of a folder, if it has one.
    fn read_grid(file: &Path) -> Result<Option<Result<RunPlan, RunsError>>, OutputError> {
        let name = file.display();
        match fs::symlink_metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(OutputError { name: name.to_string(), error }),
            Ok(_) => {}
        }
        let text = settings_file::read_text(file, settings_file::MOST_OF_GRID).map_err(SpecError);
        let grid = text.and_then(|text| RunPlan::new(&RunPlan::from_toml(&text)?));
        let wrong = |error| format!("{name}: {error}; --change-grid with the lists of a grid replaces it");
        Ok(Some(grid.map_err(|error| RunsError::Folder(wrong(error)))))
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

fn not_a_sweep(folder: &Path) -> RunsError {
    RunsError::Folder(format!("{} is not the folder of a sweep: it has no grid.toml", folder.display()))
}
