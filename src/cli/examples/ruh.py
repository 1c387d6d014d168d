#!/usr/bin/env python3
"""A runtime predictor for shadowtime: the median of the user's last jobs.

    sim --trace LOG.swf.gz --predictor 'exec:command=python3 ruh.py'
    sim --trace LOG.swf.gz --predictor 'exec:command=python3 ruh.py,window=1..5'

The program reads one line of JSON per event and writes one line per event. It needs
nothing but Python's standard library. With the default window it predicts exactly as
the predictor `ruh`. To make your own predictor, change `predict` and `learn`.
"""
import json
import sys


class Predictor:
    def __init__(self, hello):
        # The keys of the predictor that `sim` does not use itself, as texts.
        self.window = int(hello["keys"].get("window", 3))
        self.runtimes = {}  # By user: the runtimes of the jobs that have ended last.
        self.users = {}  # By id: the user of a job that has not ended.

    def predict(self, job):
        """The runtime of a job that arrives, in whole seconds, at least 1."""
        self.users[job["id"]] = job["user"]
        last = sorted(self.runtimes.get(job["user"], []))
        if len(last) < self.window:
            return job["estimate"]
        middle = len(last) // 2
        return last[middle] if len(last) % 2 else (last[middle - 1] + last[middle]) // 2

    def learn(self, id, runtime):
        """A job has ended."""
        last = self.runtimes.setdefault(self.users.pop(id), [])
        last.append(runtime)
        del last[: -self.window]


def main():
    predictor = Predictor(json.loads(sys.stdin.readline()))
    # Events that are not in this list cost nothing. The others are "start", "cancellation" (a
    # waiting job is withdrawn) and "miss" (a job has outlived its prediction; without an answer
    # `sim` raises the prediction). Results that `sim sweep` keeps are computed again if this
    # file or the version changes.
    answer({"name": "recent user history", "version": "1", "events": ["arrival", "termination"]})
    for line in sys.stdin:
        event = json.loads(line)
        if event["event"] == "arrival":
            job = event["job"]
            answer({"predict": {job["id"]: predictor.predict(job)}})
        else:
            predictor.learn(event["id"], event["runtime"])
            answer({})  # Or new predictions for any jobs that wait or run.


def answer(line):
    """Every event is answered by one line, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
