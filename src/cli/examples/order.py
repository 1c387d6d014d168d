#!/usr/bin/env python3
"""A scheduler for shadowtime that only orders the queue: `sim` backfills in this order.

    sim --trace LOG.swf.gz --scheduler 'exec:command=python3 order.py'
    sim --trace LOG.swf.gz --scheduler 'exec:command=python3 order.py,running=estimate,scan=spf'

In each pass `sim` starts the jobs of the queue while they fit, reserves a start for the
first that does not, and tries the others in the order of the key `scan`, as `easy` does.
Here the users take turns: those who have used least of the machine come first.
"""
import json
import sys


def main():
    json.loads(sys.stdin.readline())  # The log, its machine and your own keys.
    answer({"name": "turns", "version": "1", "wants": ["start"]})
    waiting = {}  # By id, in the order of arrival.
    running = {}
    used = {}  # By user: processors times seconds.
    for line in sys.stdin:
        line = json.loads(line)
        for job in line.get("running", []):
            running[job["id"]] = job
        for job in line.get("arrived", []):
            waiting[job["id"]] = job
        for id in line.get("started", []):
            running[id] = waiting.pop(id)
        for end in line.get("ended", []):
            job = running.pop(end["id"])
            used[job["user"]] = used.get(job["user"], 0) + job["procs"] * end["runtime"]
        for id in line.get("cancelled", []):
            del waiting[id]
        # Python keeps equal jobs in the order of their arrival.
        order = sorted(waiting.values(), key=lambda job: used.get(job["user"], 0))
        answer({"order": [job["id"] for job in order]})


def answer(line):
    """Every line is answered by one line, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
