#!/usr/bin/env python3
"""A caller of shadowtime: it starts `sim` once and plays five episodes, narrow jobs first.

    python3 caller.py

It needs the log `ctc.swf`, and `sim` in the path. See `sim help schedulers`.
"""
import json
import subprocess

command = ["sim", "--quiet", "ctc.swf", "--scheduler", "exec:command=-"]
command += ["--predictor", "estimate", "--out", "episodes.csv"]
sim = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
hello = json.loads(sim.stdout.readline())
answer = {"name": "narrow first"}
for first in range(0, 50, 10):
    # The greeting or the end of the last episode is answered with the next episode.
    answer["episode"] = {"first_job": first, "jobs": 10, "warm": True}
    waiting = {}
    while True:
        print(json.dumps(answer), file=sim.stdin, flush=True)
        line = json.loads(sim.stdout.readline())
        if "end" in line:
            break
        waiting.update({job["id"]: job for job in line.get("arrived", [])})
        starts, free = [], line["free"]
        for job in sorted(waiting.values(), key=lambda job: job["procs"]):
            if job["procs"] <= free:
                free -= job["procs"]
                starts.append(waiting.pop(job["id"])["id"])
        answer = {"start": starts}
    print(first, line["end"]["bsld_mean"])
    answer = {}
sim.stdin.close()
sim.wait()
