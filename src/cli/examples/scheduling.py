#!/usr/bin/env python3
"""A Gymnasium environment on shadowtime: an agent schedules windows of a real log.

    sim list schedulers --example gymnasium > scheduling.py
    pip install gymnasium numpy

    from scheduling import SchedulingEnv
    env = SchedulingEnv("KTH.swf.gz", jobs=256)
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(action)

An episode is `jobs` consecutive jobs of the log; `seed` chooses where they begin. With `warm`
the machine is in use then, as under `easy/estimate` on the whole log, and the jobs that are
there already are not measured.

Observation: one row for each of the first `window` waiting jobs, in the order of arrival, with
wait, estimate, prediction (seconds, as ln(1 + s) / 20), share of the machine, and whether it
fits now; the last row has the free share, the waiting jobs (as a share of the window), and the
running jobs likewise. Missing jobs are rows of zeros.

Action: the row of a job, or `window` for "none". `info["action_mask"]` has 1 for each allowed
one; a forbidden one counts as the first that is allowed. In the mode "start" the job starts, and
the next action is about the same instant, until "none" or nothing more fits; instants at which
nothing fits are skipped. In the mode "order" there is one action per pass: the job comes first
in the queue of an EASY pass, and "none" is the order of arrival. "none" is masked when nothing
runs and all jobs have arrived.

Reward: 0, and at the end minus the mean bounded slowdown ("bsld") or minus the mean wait in
seconds ("wait") of the episode's jobs, or what a function of yours makes of the row of results
(a dictionary with the columns of `sim list columns`), which is also `info["row"]`.

The same file is a scheduler for `sim` with a policy that you have trained, see `policy`:

    sim KTH.swf.gz --scheduler 'exec:command=python3 scheduling.py'
"""
import json
import subprocess
import sys

import numpy as np


class Play:
    """What is known of a simulation, and what an agent sees of it. For the environment, and for
    a trained policy that `sim` has started as a program."""

    def __init__(self, hello, window, mode):
        if hello["machine"] and mode == "start":
            raise ValueError('on a machine of nodes use mode="order": sim places the jobs')
        self.procs, self.window, self.mode = hello["procs"], window, mode
        self.begin()

    def begin(self):
        self.waiting = {}  # By id, in the order of arrival: submit, estimate, prediction, procs.
        self.running = set()
        self.arrived = self.jobs = 0
        self.now = self.free = 0

    def learn(self, line):
        """Takes in what has happened since the last line."""
        self.now, self.free = line["pass"], line.get("free", self.procs)
        self.jobs = line.get("jobs", self.jobs)  # The last id, in the first line.
        for job in line.get("running", ()):
            self.running.add(job["id"])
        for job in line.get("arrived", ()):
            self.waiting[job["id"]] = [job["submit"], job["estimate"], job["prediction"], job["procs"]]
            self.arrived = int(job["id"])  # Ids count from 1 in the order of arrival.
        for id, prediction in line.get("predicted", {}).items():
            if id in self.waiting:
                self.waiting[id][2] = prediction
        for job in line.get("ended", ()):
            self.running.discard(job["id"])
        for id in line.get("started", ()):
            # On nodes it is an object with the job's nodes.
            self.start(id if isinstance(id, str) else id["id"])
        for id in line.get("cancelled", ()):
            self.waiting.pop(id, None)

    def start(self, id):
        if self.waiting.pop(id, None) is not None:
            self.running.add(id)

    def see(self):
        """The observation, the mask of actions and the ids of the rows."""
        ids = list(self.waiting)[: self.window]
        seen = np.zeros((self.window + 1, 5), dtype=np.float32)
        mask = np.zeros(self.window + 1, dtype=np.int8)
        if ids:
            values = np.array([self.waiting[id] for id in ids], dtype=np.float64)
            count, procs = len(ids), values[:, 3]
            values[:, 0] = self.now - values[:, 0]
            fits = procs <= self.free if self.mode == "start" else np.ones(count, dtype=bool)
            seen[:count, :3] = np.log1p(values[:, :3]) / 20
            seen[:count, 3] = procs / self.procs
            seen[:count, 4] = fits
            mask[:count] = fits
        seen[-1, :3] = self.free / self.procs, len(self.waiting) / self.window, len(self.running) / self.window
        mask[-1] = self.mode == "order" or bool(self.running) or self.arrived < self.jobs
        return np.clip(seen, 0, 1, out=seen), mask, ids

    def may_act(self):
        """Whether a waiting job of the window could start now."""
        if self.mode == "order":
            return bool(self.waiting)
        rows = zip(range(self.window), self.waiting.values())
        return any(job[3] <= self.free for _, job in rows)

    def take(self, action, mask, ids, starts):
        """Plays an action. Whether the pass is over."""
        if not mask[action]:
            action = int(np.argmax(mask))
        if action == self.window:
            return True
        id = ids[action]
        starts.append(id)
        if self.mode == "order":
            return True
        self.free -= self.waiting[id][3]
        self.start(id)
        return not self.may_act()

    def answer(self, starts):
        return {"order" if self.mode == "order" else "start": starts}


class Simulator:
    """A running `sim` whose scheduler is this process."""

    def __init__(self, log, scheduler, options, sim):
        run = [sim, str(log), *options, "-q"]
        count = [*run, "--scheduler", "easy", "--format", "json"]
        found = subprocess.run(count, stdout=subprocess.PIPE, check=True)
        self.jobs = json.loads(found.stdout)[0]["jobs"]
        keys = "".join(f",{key}={value}" for key, value in scheduler.items())
        self.child = subprocess.Popen(
            [*run, "--scheduler", f"exec:command=-{keys}", "--out", "/dev/null"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )

    def read(self):
        line = json.loads(self.child.stdout.readline() or '{"error": "sim has ended"}')
        if "error" in line:
            raise RuntimeError(line["error"])
        return line

    def ask(self, line):
        self.child.stdin.write(json.dumps(line).encode() + b"\n")
        self.child.stdin.flush()
        return self.read()

    def close(self):
        self.child.kill()
        self.child.communicate()


try:
    import gymnasium
except ImportError:  # A trained policy does not need it.
    gymnasium = None

if gymnasium:

    class SchedulingEnv(gymnasium.Env):
        metadata = {"render_modes": []}

        def __init__(self, log, scheduler=None, window=128, jobs=256, reward="bsld", mode="start", warm=True,
                     options=(), sim="sim"):
            """`scheduler` has keys of `exec`, such as {"scan": "spf"} in the mode "order"; `options`
            are further options of `sim`, such as ["--predictor", "kin"]."""
            if mode not in ("start", "order"):
                raise ValueError(f'mode is "start" or "order", not {mode!r}')
            columns = {"bsld": "bsld_mean", "wait": "wait_mean"}
            self.reward = reward if callable(reward) else lambda row: -row[columns[reward]]
            self.jobs, self.warm, self.window = jobs, warm, window
            self.simulator = Simulator(log, scheduler or {}, options, sim)
            if not 1 <= jobs <= self.simulator.jobs:
                raise ValueError(f"the log has {self.simulator.jobs} jobs, an episode {jobs}")
            self.play = Play(self.simulator.read(), window, mode)
            self.is_greeted = self.is_over = False
            self.observation_space = gymnasium.spaces.Box(0, 1, (window + 1, 5), np.float32)
            self.action_space = gymnasium.spaces.Discrete(window + 1)

        def reset(self, seed=None, options=None):
            """`options={"first_job": i}` chooses the window instead of the seed."""
            super().reset(seed=seed)
            first = (options or {}).get("first_job")
            if first is None:
                first = int(self.np_random.integers(self.simulator.jobs - self.jobs + 1))
            episode = {"first_job": first, "jobs": self.jobs, "warm": self.warm}
            if not self.is_greeted:
                wants = ["prediction", "start"] if self.play.mode == "order" else ["prediction"]
                line = self.simulator.ask({"name": "gymnasium", "wants": wants, "episode": episode})
            else:
                self.finish()
                line = self.simulator.ask({"episode": episode})
            self.is_greeted, self.is_over = True, False
            self.play.begin()
            self.starts = []
            self.advance(line)
            return self.observe()

        def step(self, action):
            if self.play.take(int(action), self.mask, self.ids, self.starts):
                self.advance(self.simulator.ask(self.play.answer(self.starts)))
            observation, info = self.observe()
            return observation, self.reward(self.row) if self.is_over else 0.0, self.is_over, False, info

        def advance(self, line):
            """Goes on until there is something to decide, or the episode is over."""
            self.starts = []
            while "end" not in line:
                self.play.learn(line)
                if self.play.may_act():
                    return
                line = self.simulator.ask({})
            self.is_over, self.row = True, line["end"]

        def observe(self):
            observation, self.mask, self.ids = self.play.see()
            info = {"action_mask": self.mask}
            if self.is_over:
                info["row"] = self.row
            return observation, info

        def finish(self):
            """Plays an episode that was left to its end: first come, first served."""
            while not self.is_over:
                fits = next((at for at in range(len(self.ids)) if self.mask[at]), self.window)
                self.step(fits)

        def close(self):
            self.simulator.close()


def policy(observation, mask):
    """Put a trained policy here: the action for an observation. This one takes the shortest job
    that fits by its prediction."""
    rows = np.flatnonzero(mask[:-1])
    return rows[np.argmin(observation[rows, 2])] if len(rows) else len(mask) - 1


def main():
    """A trained policy as a program of `exec`. It decides passes as the environment does."""
    hello = json.loads(sys.stdin.readline())
    mode = "order" if hello["machine"] else "start"
    play = Play(hello, window=128, mode=mode)
    print(json.dumps({"name": "trained", "version": "1", "wants": ["prediction", "start"][: 1 + (mode == "order")]}), flush=True)
    for line in sys.stdin:
        play.learn(json.loads(line))
        starts, is_over = [], not play.may_act()
        while not is_over:
            observation, mask, ids = play.see()
            is_over = play.take(int(policy(observation, mask)), mask, ids, starts)
        print(json.dumps(play.answer(starts)), flush=True)


if __name__ == "__main__":
    main()
