"""Drives this client for the protocol suite: reads commands as JSON lines, writes answers and events as JSON lines."""
import json
import os
import queue
import sys
import threading

from stint_client import Client, Fail, Problem, RetryAfter, Snooze, Worker

client = Client(os.environ["STINT_URL"], os.environ.get("STINT_TOKEN"), timeout=60)
printing = threading.Lock()
opened = {}
opening = threading.Condition()
worker = None
running = queue.SimpleQueue()
is_stopped_by_command = False


def write(**line):
    with printing:
        print(json.dumps(line), flush=True)


def is_open(job):
    return opened.get(job.id, False)


def hold(job, ignores_abort):
    """Waits until the suite opens the job, or it is aborted."""
    is_written = False
    while True:
        with opening:
            if opening.wait_for(lambda: is_open(job), timeout=0.02):
                return "opened"
        if not job.is_aborted:
            continue
        if not is_written:
            is_written = True
            write(event="aborted", job=job.id, reason=type(job.reason).__name__)
        if not ignores_abort:
            job.raise_if_aborted()


def handle(job):
    write(event="started", job=job.id, attempt=job.attempt, phase=job.phase)
    act = job.input["do"]
    if act == "return":
        return job.input["value"]
    if act in ("hold", "ignore"):
        return hold(job, act == "ignore")
    if act == "throw":
        raise RuntimeError(job.input["message"])
    if act == "fail":
        raise Fail(job.input["message"], data=job.input.get("data"), code=job.input.get("code"))
    if act == "retryAfter":
        raise RetryAfter(job.input["ms"] / 1000)
    if act == "snooze":
        raise Snooze(job.input["ms"] / 1000)
    if act == "deep":
        value = None
        for _ in range(500):
            value = [value]
        return value
    if act == "report":
        job.progress({"kind": "startStage", "description": "parts", "total": 2}, {"kind": "startItem"}, {"kind": "completeItem"})
        job.log("half", "warn")
        return None
    if act == "children" and not job.children:
        return job.create_children(job.input["children"]) and None
    return [[child["key"], child["fate"], child["result"]] for child in job.children]


def work(types, slots=1, leaseMs=30000, drainMs=20000, versions=()):
    global worker, is_stopped_by_command
    is_stopped_by_command = False
    known = {each["type"]: (each["from"], each["to"]) for each in versions}
    handlers = {name: handle for name in types}
    worker = Worker(client, handlers, slots=slots, lease=leaseMs / 1000, drain=drainMs / 1000, versions=known)
    running.put(worker)


def stop():
    global is_stopped_by_command
    is_stopped_by_command = True
    worker.stop()


def open_job(job):
    with opening:
        opened[job] = True
        opening.notify_all()


commands = {
    "create": lambda request, key=None: {"id": client.create_run(
        def_=request.pop("def", None), **request, idempotency_key=key).id},
    "get": lambda id: client.run(id).get(),
    "list": lambda filter: [run["id"] for run in client.runs(**filter)],
    "cancel": lambda id, why=None: client.run(id).cancel(why),
    "wait": lambda id, timeoutMs: client.run(id).wait(timeoutMs / 1000),
    "work": work,
    "open": open_job,
    "stop": stop,
}


def execute(n, do, **fields):
    try:
        write(n=n, value=commands[do](**fields))
    except Problem as problem:
        write(n=n, problem={"status": problem.status, "code": problem.code, "message": str(problem)})
    except Exception as error:
        write(n=n, problem={"status": 0, "code": type(error).__name__, "message": str(error)})


def read_commands():
    for line in sys.stdin:
        threading.Thread(target=execute, kwargs=json.loads(line), daemon=True).start()
    running.put(None)


if __name__ == "__main__":
    threading.Thread(target=read_commands, daemon=True).start()
    while (next_worker := running.get()) is not None:
        problem = None
        try:
            next_worker.run()
        except Problem as error:
            problem = {"status": error.status, "code": error.code, "message": str(error)}
        write(event="stopped", problem=problem)
        if not is_stopped_by_command:
            break
