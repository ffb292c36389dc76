"""A worker in Python that uses only the standard library: claims jobs, reports progress, stops when cancelled."""
import http.client, json, os, sys, time, urllib.error, urllib.request

URL = os.environ.get("STINT_URL", "http://127.0.0.1:7070") + "/api/v1/work"
TOKEN = os.environ.get("STINT_TOKEN")


def post(path, body):
    headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + TOKEN} if TOKEN else {})}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    for wait in (1, 2, 4, 8, None):  # a server that restarts is back within seconds; every write carries its fence
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)
        except (OSError, http.client.HTTPException, ValueError) as error:
            is_final = isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429
            if is_final or wait is None:
                raise
            time.sleep(wait)


def claim(job_type):
    try:
        return post("/claim", {"worker": f"python-{os.getpid()}", "types": [job_type], "waitMs": 20000})["items"]
    except (OSError, http.client.HTTPException, ValueError) as error:  # the server cannot be reached: try again
        if isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429:
            raise
        print("cannot claim:", error, file=sys.stderr)
        return []


def execute(job):
    def send(action, **fields):
        return post(f"/{job['id']}/{action}", {"fence": job["fence"], **fields})

    parts, seconds = job["input"].get("parts", 5), job["input"].get("seconds", 1)
    send("progress", steps=[{"kind": "startStage", "description": "parts", "total": parts}])
    for part in range(parts):
        time.sleep(seconds)  # replace this with the real work
        if send("heartbeat", leaseMs=30000)["isCancelled"]:
            return send("fail", error={"message": "cancelled"})
        send("progress", steps=[{"kind": "startItem", "description": f"part {part}"}, {"kind": "completeItem"}])
    send("log", lines=[{"text": f"all {parts} parts are done"}])
    return send("complete", result={"done": parts})


if __name__ == "__main__":
    remaining = int(sys.argv[3]) if "--jobs" in sys.argv else -1  # worker.py TYPE [--jobs N]
    while remaining != 0:
        for job in claim(sys.argv[1]):
            try:
                execute(job)
            # 409: the lease was lost. Unreachable: the lease will lapse, and the job is given to another worker.
            except (OSError, http.client.HTTPException, ValueError) as error:
                print("job", job["id"], error, file=sys.stderr)
            remaining -= 1
