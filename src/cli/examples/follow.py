#!/usr/bin/env python3
"""Runs `sim predict`, sends it the events of PBS's accounting log, and answers the hook.

usage: follow.py ACCOUNTING_FOLDER WORK_FOLDER sim predict --state FILE ...

The hook asks at WORK_FOLDER/predict.sock. WORK_FOLDER/position.json says what has been read.
"""
import json
import os
import re
import select
import socket
import subprocess
import sys
import time

NO_WALLTIME = 0  # As in the hook.
POLL = 0.5  # Seconds between two looks at the accounting log.
LINES = 50  # As many lines of the log at once, so that a hook does not wait long.


def seconds(text):
    """The seconds of [[HH:]MM:]SS[.mmm], rounded as PBS does it."""
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(float(part) + 0.5)
    return total


def slots(exec_host):
    """The processors of h/3 (1), h/0*13 (13), h/0-3 (4), h/0,2 (2), joined by +."""
    total = 0
    for host in exec_host.split("+"):
        for piece in host.rpartition("/")[2].split(","):
            first, sign, last = re.match(r"(\d*)([-*]?)(\d*)", piece).groups()
            if sign:
                total += int(last) if sign == "*" else int(last) - int(first) + 1
            else:
                total += 1
    return total


def accounting_events(line):
    """The events that a line of the accounting log stands for.

    S: arrival and start. E: arrival, start and termination, of which the follower sends the
    last one alone if the first two are known. R (the job goes back to its queue): requeue. D
    and A (it was deleted or aborted, running or not): deletion. These two are not sent. Nothing
    for other lines, for the parents of job arrays (their subjobs have lines of their own) and
    for jobs without a walltime.
    """
    parts = line.rstrip("\r\n").split(";", 3)
    if len(parts) < 4 or parts[1] not in ("S", "E", "R", "D", "A") or "[]" in parts[2]:
        return []
    if parts[1] in ("D", "A"):
        return [{"event": "deletion", "time": 0, "id": parts[2]}]
    pairs = re.findall(r"([^\s=]+)=(\"[^\"]*\"|'[^']*'|\S*)", parts[3])
    record = {key: value.strip("\"'") for key, value in pairs}
    start = int(record.get("start") or 0)
    estimate = seconds(record.get("Resource_List.walltime") or "0") or NO_WALLTIME
    if start < 1 or estimate < 1:
        return []
    end = int(record["end"]) if parts[1] != "S" else start
    runtime = max(end - start, 1)
    if parts[1] == "R":
        return [{"event": "requeue", "time": end, "id": parts[2], "runtime": runtime}]
    procs = slots(record["exec_host"]) if record.get("exec_host") else 0
    job = {
        "id": parts[2],
        "user": record.get("user"),
        "group": record.get("group"),
        "executable": record.get("jobname"),
        "queue": record.get("queue"),
        "partition": None,
        "procs": max(procs or int(record.get("Resource_List.ncpus") or 1), 1),
        "estimate": estimate,
        "submit": max(int(record.get("ctime") or start), int(record.get("etime") or 0)),
    }
    events = [
        {"event": "arrival", "time": start, "job": job},
        {"event": "start", "time": start, "id": parts[2]},
    ]
    if parts[1] == "E":
        events.append({"event": "termination", "time": end, "id": parts[2], "runtime": runtime})
    return events


class Follower:
    def __init__(self, accounting, work, command):
        self.accounting, self.path = accounting, os.path.join(work, "position.json")
        pipe = subprocess.PIPE
        self.predictor = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        try:
            with open(self.path) as file:
                self.at = json.load(file)
        except FileNotFoundError:  # The first start: what is there now was --learn-from's.
            name = (self.days() or [time.strftime("%Y%m%d")])[-1]
            path = os.path.join(accounting, name)
            size = os.path.getsize(path) if os.path.exists(path) else 0
            self.at = {"file": name, "offset": size, "time": 0, "asked": 0}
        # A question that was cut off by a crash. This also waits until the predictor is ready.
        self.send({"event": "cancellation", "time": 0, "id": "asked.%d" % self.at["asked"]})
        self.save()

    def days(self):
        return sorted(name for name in os.listdir(self.accounting) if re.match(r"\d{8}$", name))

    def save(self):
        with open(self.path + ".new", "w") as file:
            json.dump(self.at, file)
        os.replace(self.path + ".new", self.path)

    def send(self, event):
        """The predictor's answer. Time never goes back: log and hook are not in step."""
        event["time"] = self.at["time"] = max(event["time"], self.at["time"])
        try:
            self.predictor.stdin.write(json.dumps(event).encode() + b"\n")
            self.predictor.stdin.flush()
            return json.loads(self.predictor.stdout.readline().decode())
        except (BrokenPipeError, ValueError) as error:
            sys.exit("follow.py: the predictor has ended or does not answer: %r" % error)

    def question(self, arrival):
        """The answer for a job that has no id yet. The predictor forgets it at once."""
        name = arrival["job"]["id"]
        self.at["asked"] += 1
        self.at["time"] = max(arrival["time"], self.at["time"])
        self.save()
        arrival["job"]["id"] = job = "asked.%d" % self.at["asked"]
        answer = self.send(arrival)
        self.send({"event": "cancellation", "time": arrival["time"], "id": job})
        predicted = answer.get("predict", {}).get(job)
        return {"predict": {name: predicted}} if predicted else answer

    def serve(self, listener, wait):
        """Answers one hook, if one asks within this time."""
        if not select.select([listener], [], [], wait)[0]:
            return
        try:
            link = listener.accept()[0]
            with link:
                link.settimeout(0.5)
                line = b""
                while not line.endswith(b"\n") and len(line) < 65536:
                    part = link.recv(65536)
                    if not part:
                        return
                    line += part
                answer = self.question(json.loads(line.decode()))
                link.sendall(json.dumps(answer).encode() + b"\n")
        except (OSError, ValueError, KeyError, TypeError) as error:
            print("follow.py: question: %r" % error, file=sys.stderr)

    def read(self):
        """Sends the events of the next lines of the log. False if there were none."""
        later = [name for name in self.days() if name > self.at["file"]]  # Before reading.
        lines = []
        try:
            with open(os.path.join(self.accounting, self.at["file"]), "rb") as file:
                file.seek(self.at["offset"])
                for line in file:
                    if len(lines) == LINES or not line.endswith(b"\n"):
                        break
                    lines.append(line)
        except FileNotFoundError:
            pass
        for line in lines:
            try:
                self.report(accounting_events(line.decode("utf-8", "replace")))
            except (ValueError, KeyError, AttributeError) as error:
                print("follow.py: %r: %r" % (error, line), file=sys.stderr)
            self.at["offset"] += len(line)
            self.save()
        if not lines and later:
            self.at.update(file=later[0], offset=0)
            self.save()
        return bool(lines or later)

    def report(self, events):
        """A job that was requeued runs on for the predictor, until it ends or is deleted."""
        kind, job = (events[-1]["event"], events[-1]["id"]) if events else (None, None)
        requeued = self.at.setdefault("requeued", {})
        if kind == "requeue":
            requeued[job] = events[-1]["runtime"]
        elif kind == "deletion" and job in requeued:
            runtime = requeued.pop(job)
            self.send({"event": "termination", "time": 0, "id": job, "runtime": runtime})
        elif kind == "start" and requeued.pop(job, None):
            return  # It has started again.
        elif kind == "termination":
            requeued.pop(job, None)
            if "error" not in self.send(dict(events[-1])):
                return  # Else its start was not seen: all three.
        if kind in ("start", "termination"):
            for event in events:
                answer = self.send(event)
                if "error" in answer:
                    print("follow.py: %s: %s" % (event, answer["error"]), file=sys.stderr)

    def run(self, path):
        if os.path.exists(path):
            os.unlink(path)
        os.umask(0o077)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(path)
            listener.listen(128)
            more = False
            while self.predictor.poll() is None:
                self.serve(listener, 0 if more else POLL)
                more = self.read()
        sys.exit("follow.py: the predictor has ended with %s" % self.predictor.returncode)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    follower = Follower(sys.argv[1], sys.argv[2], sys.argv[3:])
    follower.run(os.path.join(sys.argv[2], "predict.sock"))
