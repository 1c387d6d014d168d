#!/usr/bin/env python3
"""A predictor for shadowtime: boosted trees of scikit-learn, trained anew after every thousand jobs.

    sim --trace LOG.swf.gz --predictor 'exec:command=python3 trees.py'

It needs scikit-learn, and takes about 2 milliseconds per job, most of it in scikit-learn.
"""
import json
import math
import sys

from sklearn.ensemble import HistGradientBoostingRegressor

NEW_MODEL_EVERY = 1000  # jobs that have ended


class Predictor:
    def __init__(self):
        self.arrived, self.last, self.rows, self.runtimes, self.model = {}, {}, [], [], None

    def predict(self, job, time):
        last = self.last.get(job["user"], [])
        recent = (last + [math.nan, math.nan])[:2]  # A missing value is fine for these trees.
        row = [job["procs"], math.log(job["estimate"]), time // 3600 % 24, *recent]
        self.arrived[job["id"]] = (job["user"], row)
        if self.model is None:
            return job["estimate"]
        seconds = round(math.exp(self.model.predict([row])[0]))
        return min(max(seconds, 1), job["estimate"])

    def learn(self, id, runtime):
        user, row = self.arrived.pop(id)
        self.last[user] = ([math.log(runtime)] + self.last.get(user, []))[:2]
        self.rows.append(row)
        self.runtimes.append(math.log(runtime))
        if len(self.rows) % NEW_MODEL_EVERY == 0:
            self.model = HistGradientBoostingRegressor(random_state=1)
            self.model.fit(self.rows[-20000:], self.runtimes[-20000:])


sys.stdin.readline()
predictor = Predictor()
print(json.dumps({"name": "trees", "events": ["arrival", "termination"]}), flush=True)
for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "arrival":
        job = event["job"]
        seconds = predictor.predict(job, event["time"])
        print(json.dumps({"predict": {job["id"]: seconds}}), flush=True)
    else:
        predictor.learn(event["id"], event["runtime"])
        print("{}", flush=True)
