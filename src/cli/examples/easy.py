#!/usr/bin/env python3
"""A scheduler for shadowtime: EASY backfilling, with an order of the queue of your own.

    sim --trace LOG.swf.gz --predictor estimate --scheduler 'exec:command=python3 easy.py'
    sim --trace LOG.swf.gz --predictor estimate \\
        --scheduler 'exec:command=python3 easy.py,order={fcfs|shortest|smallest}'

The program reads one line of JSON per scheduling pass and writes one line per pass. It
needs nothing but Python's standard library. With the order `fcfs` it schedules exactly as
`easy`. To make your own scheduler, add to `ORDERS`, or change `decide`.
"""
import json
import sys
from bisect import bisect_left, insort

# The smallest comes first; equal jobs are in the order of their arrival. A job has "id",
# "user", "procs", "estimate", "submit", "prediction" and more: see `sim help schedulers`.
ORDERS = {
    "fcfs": None,
    "shortest": lambda job, now: job["prediction"],
    "smallest": lambda job, now: job["prediction"] * job["procs"],
    "slowdown": lambda job, now: -(now - job["submit"]) / job["prediction"],
}


class Scheduler:
    def __init__(self, hello):
        # The keys of the scheduler that `sim` does not use itself, as texts.
        self.order = ORDERS[hello["keys"].get("order", "fcfs")]
        self.inflate = hello["inflate"]
        self.waiting = {}  # By id, in the order of arrival.
        self.running = {}  # By id.
        self.ends = []  # The predicted ends of running jobs with their ids and processors, sorted.

    def decide(self, now, free):
        """The ids of the jobs that start now, on so many free processors."""
        queue = self.waiting.values()
        if self.order:
            queue = sorted(queue, key=lambda job: self.order(job, now))
        starts, head, places = [], None, iter(list(queue))
        # Jobs start in the order of the queue while they fit.
        for job in places:
            if job["procs"] > free:
                head = job
                break
            free -= job["procs"]
            starts.append(job["id"])
            self.run(self.waiting.pop(job["id"]), now)
        if head and free > 0:
            # The first that does not fit has a reservation, when running jobs leave it enough.
            shadow, extra = self.reservation(head["procs"], free)
            for job in places:
                procs = job["procs"]
                if procs > free:
                    continue
                if now + self.length(job) > shadow:
                    if procs > extra:
                        continue
                    extra -= procs
                free -= procs
                starts.append(job["id"])
                self.run(self.waiting.pop(job["id"]), now)
                if free == 0:
                    break
        return starts

    def reservation(self, procs, free):
        """When so many processors will be free, and how many more than that."""
        at = None
        for end, _, freed in self.ends:
            # All jobs that end together are counted.
            if free >= procs and end != at:
                break
            free += freed
            at = end
        return at, free - procs

    def length(self, job):
        """How long a job will run as far as a scheduler knows: see `--inflate`."""
        prediction = job["prediction"]
        return max(prediction, int(prediction * self.inflate + 0.5)) if self.inflate != 1 else prediction

    def run(self, job, start):
        """A job runs from `start` on."""
        job["start"] = start
        job["end"] = (start + self.length(job), job["id"], job["procs"])
        insort(self.ends, job["end"])
        self.running[job["id"]] = job

    def stop(self, id):
        job = self.running.pop(id)
        del self.ends[bisect_left(self.ends, job["end"])]
        return job

    def predict(self, id, prediction):
        """A job that waits or runs has a new prediction."""
        if id in self.waiting:
            self.waiting[id]["prediction"] = prediction
        else:
            job = self.stop(id)
            job["prediction"] = prediction
            self.run(job, job["start"])

    def learn(self, line):
        """What has happened since the last line. Empty lists are left out."""
        for job in line.get("running", ()):  # Before the first line: see `command=-`.
            self.run(job, job["start"])
        for job in line.get("arrived", ()):
            self.waiting[job["id"]] = job
        for job in line.get("ended", ()):  # With "time" and "runtime", to learn from.
            self.stop(job["id"])
        for id in line.get("cancelled", ()):
            del self.waiting[id]
        for id, prediction in line.get("predicted", {}).items():
            self.predict(id, prediction)


def main():
    scheduler = Scheduler(json.loads(sys.stdin.readline()))
    # New predictions are sent only to those who want them. "start" would also send the jobs
    # that `sim` has started. Results that `sim sweep` keeps are computed again if this file or
    # the version changes.
    answer({"name": "easy in Python", "version": "1", "wants": ["prediction"]})
    for line in sys.stdin:
        line = json.loads(line)
        scheduler.learn(line)
        starts = scheduler.decide(line["pass"], line["free"])
        answer({"start": starts} if starts else {})


def answer(line):
    """Every line is answered by one line, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
