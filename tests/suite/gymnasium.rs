//! Agents that schedule: the environment of Gymnasium, and the example that learns an order of the queue.

use std::process::Stdio;

use crate::support::{Folder, command, demo_text, first_jobs, has_python, impossible, left_to_ci, sim_ok};

const SIM: &str = env!("CARGO_BIN_EXE_sim");

/// A folder with both examples. None if there is no Python.
fn examples(test: &str) -> Option<Folder> {
    if !has_python(test) {
        return None;
    }
    let folder = Folder::new();
    for (example, file) in [("gymnasium", "scheduling.py"), ("learn", "learn.py")] {
        folder.write(file, sim_ok(&["list", "schedulers", "--example", example]));
    }
    Some(folder)
}

/// Runs a program in Python beside the examples, and returns what it prints.
fn python(folder: &Folder, program: &str, arguments: &[&str]) -> String {
    let file = folder.write("program.py", program);
    let ran = command("python3").arg(file).arg(SIM).args(arguments).current_dir(folder.path("")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    out.into_owned()
}

fn has_gymnasium(test: &str) -> bool {
    let found = command("python3").args(["-c", "import gymnasium, numpy"]).stderr(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        impossible(test, "there is no gymnasium with numpy");
    }
    found
}

/// Gymnasium's own check; episodes that are left and begun again; the same seed gives the same episode; two environments at once.
const CHECKS: &str = r#"
import sys
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv
from scheduling import SchedulingEnv

sim, log = sys.argv[1:3]
make = lambda **keys: SchedulingEnv(log, sim=sim, jobs=40, options=["--predictor", "estimate"], **keys)

def play(env, seed):
    dice = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    steps, over = 0, False
    while not over:
        action = dice.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, over, _, info = env.step(action)
        assert env.observation_space.contains(observation)
        assert over or reward == 0
        steps += 1
    assert reward == -info["row"]["bsld_mean"] and info["row"]["jobs"] == 40
    return steps, reward

if __name__ == "__main__":
    for mode in "start", "order":
        for warm in False, True:
            env = make(mode=mode, warm=warm)
            check_env(env, skip_render_check=True)
            once = play(env, 5)
            env.reset(seed=6)
            env.step(env.window)
            assert play(env, 5) == once and play(env, 7) != once
            env.close()
    env = make(reward=lambda row: row["wait_mean"])
    env.reset(seed=1)
    over = False
    while not over:
        _, reward, over, _, info = env.step(10_000 % (env.window + 1))
    assert reward == info["row"]["wait_mean"]
    env.close()
    both = AsyncVectorEnv([make, make])
    both.reset(seed=1)
    for _ in range(60):
        observations, rewards, over, _, infos = both.step(np.zeros(2, dtype=int))
    assert observations.shape == (2, 129, 5)
    both.close()
    print("checked")
"#;

/// Blocking orders: the first job by an order starts if it fits, otherwise nobody does. Also a random choice, to see that both differ.
const ORDERS: &str = r#"
import math
import sys
from scheduling import SchedulingEnv

sim, log = sys.argv[1:3]
# A job is submit, estimate, prediction, procs.
KEYS = {
    "fcfs": lambda job: 0,
    "spf": lambda job: job[2],
    "saf": lambda job: job[2] * job[3],
    "f1": lambda job: math.log10(max(job[2], 1)) * job[3] + 870 * math.log10(max(job[0], 1)),
}
for name, key in KEYS.items():
    env = SchedulingEnv(log, sim=sim, jobs=900, window=1000, warm=False, options=["--predictor", "estimate"])
    _, info = env.reset(options={"first_job": 0})
    over = False
    while not over:
        jobs = [env.play.waiting[id] for id in env.ids]
        first = min(range(len(jobs)), key=lambda at: (key(jobs[at]), at))
        _, _, over, _, info = env.step(first if info["action_mask"][first] else env.window)
    print(name, info["row"]["wait_mean"], info["row"]["bsld_mean"])
    env.close()
"#;

#[test]
fn the_environment_passes_the_check_of_gymnasium() {
    const TEST: &str = "the_environment_passes_the_check_of_gymnasium";
    let Some(folder) = examples(TEST).filter(|_| has_gymnasium(TEST)) else { return };
    let log = folder.write("demo.swf", demo_text());
    assert!(python(&folder, CHECKS, &[&log]).ends_with("checked\n"));
}

#[test]
fn policies_through_the_environment_are_orders_of_fcfs() {
    const TEST: &str = "policies_through_the_environment_are_orders_of_fcfs";
    let Some(folder) = examples(TEST).filter(|_| has_gymnasium(TEST)) else { return };
    let log = folder.write("demo.swf", demo_text());
    let played = python(&folder, ORDERS, &[&log]);
    assert_eq!(played.lines().count(), 4, "{played}");
    for line in played.lines() {
        let [name, wait, slowdown] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let scheduler = format!("fcfs:queue={name}");
        let row = sim_ok(&[
            "--trace",
            &log,
            "--first",
            "900",
            "--scheduler",
            &scheduler,
            "--predictor",
            "estimate",
            "--format",
            "json",
        ]);
        let row: serde_json::Value = serde_json::from_str(&row).unwrap();
        assert_eq!(
            (row[0]["wait_mean"].as_f64(), row[0]["bsld_mean"].as_f64()),
            (wait.parse().ok(), slowdown.parse().ok()),
            "{name}"
        );
    }
}

/// The same file is a scheduler. Its policy takes the shortest job that fits, which no order of `fcfs` is.
#[test]
fn the_example_learns_and_judges() {
    const TEST: &str = "the_example_learns_and_judges";
    if left_to_ci("the_example_learns_and_judges") {
        return;
    }
    let Some(folder) = examples(TEST) else { return };
    // 2,000 jobs, of which the last 800 judge.
    let log = folder.write("demo.swf", first_jobs(2000));
    let learn = |seed: &str| {
        let arguments = ["--sim", SIM, "--generations", "1", "--windows", "2", "--jobs", "60", "--seed", seed];
        let ran = command("python3").arg(folder.path("learn.py")).arg(&log).args(arguments).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let text = learn("1");
    assert!(text.contains("2 windows of 60 jobs, seed 1; first rule 1.000/1.000/0.000/0.000"), "{text}");
    assert!(text.contains("the learned rule") && text.contains("easy:queue=f4"), "{text}");
    // What it says of the others is what the main command says.
    let f1 = sim_ok(&[
        "--trace",
        &log,
        "--scheduler",
        "easy:queue=f1",
        "--predictor",
        "estimate",
        "--warmup",
        "1200",
        "--replications",
        "6",
        "--format",
        "json",
    ]);
    let f1: serde_json::Value = serde_json::from_str(&f1).unwrap();
    let line = text.lines().find(|line| line.contains("easy:queue=f1")).unwrap();
    assert!(line.contains(&format!("{:.2} +-", f1[0]["bsld_mean"].as_f64().unwrap())), "{line}: {f1}");
    assert_eq!(learn("1"), text, "the same seed, another result");
}
