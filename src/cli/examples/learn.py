#!/usr/bin/env python3
"""Learns an order of the queue for shadowtime on one part of a log, and judges it on the rest.

    sim list schedulers --example learn > learn.py
    python3 learn.py KTH.swf.gz                   # about five minutes on two cores
    python3 learn.py KTH.swf.gz --seconds 30      # a quick try

The rule is linear: jobs are tried by the smallest sum of weights times features (`FEATURES`),
in EASY passes. An evolution strategy looks for weights: each candidate schedules the same
windows of the first 60% of the log, from a machine in use, and the mean bounded slowdown
counts. The winner then runs on the whole log beside F1 to F4 and SAF; only the last
40% are measured, six times with submissions moved a little, and the verdict is printed,
whatever it is. Needs nothing but Python's standard library.

The same file is the scheduler, for the rule that it found:

    sim KTH.swf.gz --predictor estimate \\
        --scheduler 'exec:command=python3 learn.py --schedule,rule=0.9/0.8/-0.4/0.1'
"""
import argparse
import csv
import io
import json
import math
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# Of a waiting job: its predicted length, its processors, how long it has waited, and its wait
# relative to its length.
FEATURES = (
    lambda job, now: math.log(job["prediction"]),
    lambda job, now: math.log(job["procs"]),
    lambda job, now: math.log(60 + now - job["submit"]),
    lambda job, now: math.log(1 + (now - job["submit"]) / job["prediction"]),
)
# Shortest area first.
FIRST_RULE = [1.0, 1.0, 0.0, 0.0]
OTHERS = ["f1", "f2", "f3", "f4", "saf"]


class Queue:
    """The waiting jobs of a simulation."""

    def __init__(self, rule):
        self.rule = rule
        self.waiting = {}

    def answer(self, line):
        """The order of the queue after what a line says."""
        for job in line.get("arrived", ()):
            self.waiting[job["id"]] = job
        for id in line.get("started", ()):
            self.waiting.pop(id if isinstance(id, str) else id["id"], None)
        for id in line.get("cancelled", ()):
            self.waiting.pop(id, None)
        for id, prediction in line.get("predicted", {}).items():
            if id in self.waiting:
                self.waiting[id]["prediction"] = prediction
        now = line["pass"]
        score = lambda job: sum(weight * feature(job, now) for weight, feature in zip(self.rule, FEATURES))
        return {"order": [job["id"] for job in sorted(self.waiting.values(), key=score)]}


def introduction(**more):
    return {"name": "linear rule", "version": "1", "wants": ["start", "prediction"], **more}


def schedule():
    """A program of `exec`: one line in, one line out."""
    rule = [float(weight) for weight in json.loads(sys.stdin.readline())["keys"]["rule"].split("/")]
    queue = Queue(rule)
    print(json.dumps(introduction()), flush=True)
    for line in sys.stdin:
        print(json.dumps(queue.answer(json.loads(line))), flush=True)


class Trainer:
    """A running `sim` that plays windows of the log under a rule."""

    def __init__(self, run):
        self.child = subprocess.Popen(
            [*run, "--scheduler", "exec:command=-", "--out", "/dev/null", "-q"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        self.line = self.read()
        self.greeting = introduction()

    def read(self):
        line = json.loads(self.child.stdout.readline() or '{"error": "sim has ended"}')
        if "error" in line:
            raise SystemExit(line["error"])
        return line

    def ask(self, answer):
        self.child.stdin.write(json.dumps(answer).encode() + b"\n")
        self.child.stdin.flush()
        return self.read()

    def cost(self, rule, windows, jobs):
        """The mean bounded slowdown over windows of the log: smaller is better."""
        total = 0
        for first in windows:
            episode = {"first_job": first, "jobs": jobs, "warm": True}
            line = self.ask({**self.greeting, "episode": episode})
            self.greeting = {}
            queue = Queue(rule)
            while "end" not in line:
                line = self.ask(queue.answer(line))
            total += line["end"]["bsld_mean"]
        return total / len(windows)


def learn(run, jobs, length, args):
    """Looks for weights in the given time."""
    dice = random.Random(args.seed)
    windows = sorted(dice.randrange(jobs - length) for _ in range(args.windows))
    trainers = [Trainer(run) for _ in range(args.processes)]
    pool = ThreadPoolExecutor(len(trainers))

    def costs(rules):
        """Each trainer takes every N-th rule, so that the result does not depend on their speed."""
        part = lambda at: [trainers[at].cost(rule, windows, length) for rule in rules[at :: len(trainers)]]
        parts = list(pool.map(part, range(len(trainers))))
        return [parts[at % len(trainers)][at // len(trainers)] for at in range(len(rules))]

    mean, spread, generation = FIRST_RULE, 0.5, 0
    best_cost, best = costs([mean])[0], mean
    print(f"{len(windows)} windows of {length} jobs, seed {args.seed}; first rule {text(mean)}: {best_cost:.4f}")
    end = time.time() + args.seconds
    while time.time() < end and (args.generations is None or generation < args.generations):
        rules = [[weight + spread * dice.gauss(0, 1) for weight in mean] for _ in range(12)]
        ranked = sorted(zip(costs(rules), rules))
        mean = [sum(weights) / 4 for weights in zip(*(rule for _, rule in ranked[:4]))]
        if ranked[0][0] < best_cost:
            best_cost, best = ranked[0]
        else:
            spread *= 0.85
        if spread < 0.05:  # Nothing better is near: look around the best again.
            mean, spread = best, 0.5
        generation += 1
        print(f"generation {generation}: best {best_cost:.4f} with {text(best)}", flush=True)
    for trainer in trainers:
        trainer.child.kill()
        trainer.child.communicate()
    return best


def text(rule):
    return "/".join(f"{weight:.3f}" for weight in rule)


def judge(log, rule, first, args):
    """The rule beside others on the rest of the log, with 95% intervals over six runs."""
    command = f"{sys.executable} {sys.argv[0]} --schedule"
    ours = f"exec:command={command},rule={text(rule)}"
    schedulers = [ours, *(f"easy:queue={order}" for order in OTHERS)]
    run = [args.sim, log, "--predictor", args.predictor, "--warmup", str(first), "--replications", "6", "-q"]
    results = []
    for scheduler in schedulers:
        row = subprocess.run(
            [*run, "--scheduler", scheduler, "--format", "csv"], stdout=subprocess.PIPE, check=True, text=True
        ).stdout
        row = next(csv.DictReader(io.StringIO(row)))
        results.append((scheduler, float(row["bsld_mean"]), float(row["bsld_mean_ci95"])))
    print(f"\nmean bounded slowdown of the jobs after the first {first}, six runs")
    for scheduler, mean, half in results:
        name = "the learned rule" if scheduler is ours else scheduler
        print(f"  {name:20}{mean:10.2f} +- {half:.2f}")
    (_, mean, half), *others = results
    scheduler, other, other_half = min(others, key=lambda result: result[1])
    if mean + half < other - other_half:
        print(f"The learned rule is better than {scheduler}, the best of the others: by more than chance.")
    elif mean - half > other + other_half:
        print(f"{scheduler} is better than the learned rule: by more than chance.")
    else:
        print(f"The learned rule and {scheduler}, the best of the others, cannot be told apart.")


def main():
    if "--schedule" in sys.argv:
        return schedule()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--seconds", type=float, default=180, help="how long to learn [180]")
    parser.add_argument("--generations", type=int, help="stop after so many: the same result on every machine")
    parser.add_argument("--windows", type=int, default=24, help="windows on which candidates are compared [24]")
    parser.add_argument("--jobs", type=int, default=512, help="jobs of a window [512]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--predictor", default="estimate")
    parser.add_argument("--sim", default="sim", help="the program [sim]")
    args = parser.parse_args()
    count = [args.sim, args.log, "--scheduler", "fcfs", "--predictor", "estimate", "--format", "json", "-q"]
    jobs = json.loads(subprocess.run(count, stdout=subprocess.PIPE, check=True).stdout)[0]["jobs"]
    first = jobs * 6 // 10
    run = [args.sim, args.log, "--predictor", args.predictor, "--first", str(first)]
    rule = learn(run, first, args.jobs, args)
    judge(args.log, rule, first, args)


if __name__ == "__main__":
    main()
