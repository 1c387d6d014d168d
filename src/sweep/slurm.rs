//! A sweep on a cluster: a Slurm array job with one task per shard, and a merge job that runs after it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::runs::{Shard, quoted};
use crate::text::counted;

use super::folder::Sweep;

/// The submitted jobs.
#[derive(Debug)]
pub struct Submitted {
    /// The number of the array job.
    pub array: String,
    /// The task numbers, as Slurm writes them: `1-8`, `3,5`.
    pub tasks: String,
    /// The number of the merge job.
    pub merge: String,
}

/// Submits the shards, out of `shards`, that contain the `missing` cells, and a merge job that runs when they have
/// ended, successfully or not. `program` is the path of this program; `options` are passed on to `sbatch`.
///
/// # Errors
///
/// If a Slurm command fails, if earlier tasks have not ended, or if a file cannot be written.
pub fn submit(
    sweep: &Sweep,
    missing: &[usize],
    shards: usize,
    program: &Path,
    options: &[String],
) -> Result<Submitted, String> {
    if let Some((job, tasks)) = active_job(sweep)? {
        return Err(format!(
            "job {job} still has {} in the queue: wait for its end (`sim sweep status`), or end it (`scancel {job}`)",
            counted(tasks as u64, "task")
        ));
    }
    let logs = sweep.folder.join("slurm");
    let failed = |error: io::Error| format!("cannot write {}: {error}", logs.display());
    fs::create_dir_all(&logs).map_err(failed)?;
    let folder = fs::canonicalize(&sweep.folder).map_err(failed)?;
    let word = |path: &Path| quoted(&path.to_string_lossy());
    let mut tasks: Vec<usize> = missing.iter().map(|&cell| Shard::of_run(cell, shards)).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let tasks = print_tasks(&tasks);

    // The tasks read the grid from its folder. Whoever submits them has allowed its programs.
    let allowed = if sweep.grid.programs().is_empty() { "" } else { " --allow-exec" };
    let shard = format!(
        "exec {} sweep --out {} --shard $SLURM_ARRAY_TASK_ID/{shards} --threads ${{SLURM_CPUS_PER_TASK:-1}} --quiet{allowed}",
        word(program),
        word(&folder)
    );
    let array = sbatch(
        &[
            "--job-name=sim-sweep".to_string(),
            format!("--array={tasks}"),
            format!("--output={}", folder.join("slurm/%A_%a.log").display()),
        ],
        options,
        &shard,
    )?;
    // Written before anything else can fail, so that a second call finds this job.
    fs::write(jobs_file(sweep), &array).map_err(failed)?;
    // `afterany`: with a failed task the merge must still run, and report what is missing.
    let merge = sbatch(
        &[
            "--job-name=sim-merge".to_string(),
            format!("--dependency=afterany:{array}"),
            format!("--output={}", folder.join("slurm/%j_merge.log").display()),
        ],
        options,
        &format!("exec {} sweep merge {} --quiet", word(program), word(&folder)),
    )?;
    fs::write(jobs_file(sweep), format!("{array},{merge}")).map_err(failed)?;
    Ok(Submitted { array, tasks, merge })
}

fn jobs_file(sweep: &Sweep) -> PathBuf {
    sweep.folder.join("slurm/jobs")
}

/// The jobs of an earlier call that are not over, and how many tasks of them are queued or running.
///
/// # Errors
///
/// If Slurm's command fails.
pub fn active_job(sweep: &Sweep) -> Result<Option<(String, usize)>, String> {
    let Ok(job) = fs::read_to_string(jobs_file(sweep)) else { return Ok(None) };
    let job = job.trim().to_string();
    match call(
        "squeue",
        Command::new("squeue").args(["--noheader", "--array", "--format=%i"]).arg(format!("--jobs={job}")),
    ) {
        Ok(tasks) => Ok(Some(tasks.lines().count()).filter(|&tasks| tasks > 0).map(|tasks| (job, tasks))),
        // Slurm removes the record of a job some minutes after its end.
        Err(why) if why.contains("Invalid job id") => Ok(None),
        Err(error) => Err(error),
    }
}

fn sbatch(own: &[String], options: &[String], script: &str) -> Result<String, String> {
    let mut command = Command::new("sbatch");
    let out = call("sbatch", command.arg("--parsable").args(own).args(options).args(["--wrap", script]))?;
    // `12`, or `12;cluster`.
    match out.trim().split(';').next() {
        Some(job) if !job.is_empty() && job.bytes().all(|b| b.is_ascii_digit()) => Ok(job.to_string()),
        _ => {
            let printed = out.trim();
            Err(format!("sbatch failed: it printed '{printed}' where the number of the submitted job was expected"))
        }
    }
}

fn call(program: &str, command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "--slurm needs Slurm's command '{program}', which is not on the path of this machine; without Slurm, \
             --shard I/N runs a part anywhere and `sim sweep merge` joins them"
        ),
        _ => format!("{program} failed: {error}"),
    })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Task numbers as Slurm reads them, with consecutive ones as ranges: `1-3,7`.
fn print_tasks(tasks: &[usize]) -> String {
    let runs = tasks.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::print_tasks;

    #[test]
    fn tasks_as_slurm_reads_them() {
        assert_eq!(print_tasks(&[1, 2, 3, 4, 5, 6, 7, 8]), "1-8");
        assert_eq!(print_tasks(&[3]), "3");
        assert_eq!(print_tasks(&[1, 2, 5, 7, 8]), "1-2,5,7-8");
    }
}
