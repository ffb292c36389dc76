"""A worker in Python with nothing but its standard library: claims jobs, tells progress, hears of a cancel, completes."""
import json, os, sys, time, urllib.error, urllib.request

URL = os.environ.get("STINT_URL", "http://127.0.0.1:7070") + "/api/v1/work"
TOKEN = os.environ.get("STINT_TOKEN")


def post(path, body):
    headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + TOKEN} if TOKEN else {})}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def work(job):
    def tell(what, **said):
        return post(f"/{job['id']}/{what}", {"fence": job["fence"], **said})

    parts, seconds = job["input"].get("parts", 5), job["input"].get("seconds", 1)
    tell("progress", steps=[{"kind": "startStage", "description": "parts", "total": parts}])
    for part in range(parts):
        time.sleep(seconds)  # here the real work would be done
        if tell("heartbeat", leaseMs=30000)["isCancelled"]:
            return tell("fail", error={"message": "gave up when asked to"})
        tell("progress", steps=[{"kind": "startItem", "description": f"part {part}"}, {"kind": "completeItem"}])
    tell("log", lines=[{"text": f"all {parts} parts are done"}])
    return tell("complete", result={"done": parts})


if __name__ == "__main__":
    left = int(sys.argv[3]) if "--jobs" in sys.argv else -1  # worker.py TYPE [--jobs N]
    while left != 0:
        ask = {"worker": f"python-{os.getpid()}", "types": [sys.argv[1]], "waitMs": 20000}
        for job in post("/claim", ask)["items"]:
            try:
                work(job)
            except urllib.error.HTTPError as error:  # 409: the lease was lost, and somebody else has the job
                print(job["id"], error.code, error.read().decode(), file=sys.stderr)
            left -= 1
