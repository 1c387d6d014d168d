"""PBS hook of Shadowtime: sets soft_walltime of a new job to its predicted runtime.

Events: queuejob and modifyjob. Whatever goes wrong, the job goes on without a prediction.
"""
import grp
import json
import pwd
import re
import socket
import time

try:
    import pbs
except ImportError:  # Outside of PBS, for tests.
    pbs = None

SOCKET = "/var/spool/shadowtime/predict.sock"  # The one of follow.py.
TIMEOUT = 0.5  # Seconds. The PBS server does nothing else while its hook waits.
NO_WALLTIME = 0  # Seconds to assume for a job without any walltime; 0: no prediction.

RESOURCES = ["walltime", "soft_walltime", "min_walltime", "max_walltime"]
RESOURCES += ["select", "nodes", "ncpus"]
# What PBS looks up after this hook, in its order, each at the queue and then at the server.
DEFAULTS = [
    ("job.Resource_List[%s]" % key, "resources_default", key)
    for key in ["walltime", "min_walltime", "max_walltime", "select", "nodes"]
]
DEFAULTS += [("job.Resource_List[walltime]", "resources_max", "walltime")]
DEFAULTS += [("default_ncpus", "resources_default", "ncpus")]
DEFAULTS += [("default_chunk", "default_chunk", "ncpus")]


def seconds(text):
    """The seconds of [[HH:]MM:]SS[.mmm], rounded as PBS does it."""
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(float(part) + 0.5)
    return total


def processors(spec, keys, default):
    """The processors of a select or nodes request, such as 2:ncpus=8:mpiprocs=8+1:ncpus=4."""
    total = 0
    for chunk in re.sub(r"\"[^\"]*\"|'[^']*'|#.*", "", spec).lower().split("+"):
        words = chunk.split(":")
        of_chunk = int(words[0]) if words[0].isdigit() else 1
        pairs = (word.partition("=") for word in words)
        for number in [int(value) for key, _, value in pairs if key in keys] or [default]:
            of_chunk *= number
        total += of_chunk
    return total


def first_name(names):
    """The name in NAME[@HOST],...: one without a host if there is one."""
    return min(names.split(","), key=lambda name: "@" in name).partition("@")[0] or None


def job_event(attributes, now):
    """The arrival event of a job, or None if the job is not to be predicted.

    The attributes are named as in PBS's own records of hook input (hook_*.in) without
    "pbs.event().", such as "job.Resource_List[select]". All values are text.
    """
    wanted = {key: attributes.get("job.Resource_List[%s]" % key) for key in RESOURCES}
    if wanted["soft_walltime"] or wanted["min_walltime"] or wanted["max_walltime"]:
        return None  # Somebody has set it, or the job shrinks to fit: PBS allows no other.
    estimate = seconds(wanted["walltime"] or "0")
    if not (estimate or NO_WALLTIME):
        return None
    if wanted["select"]:
        procs = processors(wanted["select"], ["ncpus"], int(attributes.get("default_chunk", 1)))
    else:
        procs = processors(wanted["nodes"] or "1", ["ppn", "cpp", "ncpus"], 1)
        procs = max(procs, int(wanted["ncpus"] or 1))
    job = {
        "id": attributes.get("job.id") or "new",  # A job has no id before it is queued.
        "user": first_name(attributes.get("job.User_List") or attributes["requestor"]),
        "group": first_name(attributes.get("job.group_list") or attributes.get("group", "")),
        "executable": attributes.get("job.Job_Name"),
        "queue": attributes.get("job.queue", "").partition("@")[0] or None,
        "partition": None,
        "procs": max(procs, 1),
        "estimate": estimate or NO_WALLTIME,
    }
    return {"event": "arrival", "time": int(now), "job": job}


def attributes_of(event):
    """What job_event needs, with the defaults that PBS applies only after this hook."""
    found = {"requestor": event.requestor}
    for key in ["Job_Name", "queue", "User_List", "group_list"]:
        found["job." + key] = getattr(event.job, key)
    for key in RESOURCES:
        found["job.Resource_List[%s]" % key] = event.job.Resource_List[key]
    found = {key: str(value) for key, value in found.items() if value is not None}
    server = pbs.server()
    if not found.get("job.queue", "").partition("@")[0]:
        found["job.queue"] = str(server.default_queue)
    queue = server.queue(found["job.queue"].partition("@")[0])
    for key, limits, resource in DEFAULTS:
        for level in [queue, server]:
            if key not in found and level is not None:
                value = getattr(level, limits)[resource]
                if value is not None:
                    found[key] = str(value)
    if "job.Resource_List[ncpus]" not in found and "job.Resource_List[nodes]" not in found:
        found["job.Resource_List[ncpus]"] = found.get("default_ncpus", "1")
    try:
        user = first_name(found.get("job.User_List") or event.requestor)
        found["group"] = grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        pass
    return found


def ask(arrival):
    """The predicted runtime of the job in seconds, or None."""
    end = time.monotonic() + TIMEOUT
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(TIMEOUT)
        link.connect(SOCKET)
        link.sendall(json.dumps(arrival).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            link.settimeout(max(end - time.monotonic(), 0.001))
            part = link.recv(4096)
            if not part:
                raise EOFError("no answer")
            answer += part
    return json.loads(answer.decode()).get("predict", {}).get(arrival["job"]["id"])


def on_queuejob(event):
    arrival = job_event(attributes_of(event), time.time())
    predicted = ask(arrival) if arrival else None
    # PBS would refuse a job with more than its walltime. Its scheduler divides by the value.
    if predicted and 1 <= predicted < arrival["job"]["estimate"]:
        event.job.Resource_List["soft_walltime"] = pbs.duration(int(predicted))


def on_modifyjob(event):
    """PBS would refuse a walltime below soft_walltime: keeps qalter -l walltime working."""
    new, old = event.job.Resource_List, event.job_o.Resource_List
    if new["walltime"] and old["soft_walltime"] and new["soft_walltime"] is None:
        if int(old["soft_walltime"]) > int(new["walltime"]):
            new["soft_walltime"] = pbs.duration(int(new["walltime"]))


def main():
    event = pbs.event()
    try:
        if event.type == pbs.QUEUEJOB:
            on_queuejob(event)
        elif event.type == pbs.MODIFYJOB:
            on_modifyjob(event)
    except (Exception, KeyboardInterrupt) as error:  # The alarm of the hook is the latter.
        pbs.logmsg(pbs.LOG_WARNING, "shadowtime: no prediction: %r" % error)
    event.accept()


if pbs:
    main()
