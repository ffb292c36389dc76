"""A handle for a run on a server: reads it, waits for its result, cancels and retries it."""
import time

from .errors import Problem

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0


class Run:
    def __init__(self, client, id):
        self.id = id
        self._client = client

    def get(self):
        return self._client.call("GET", f"/runs/{self.id}")

    def wait(self, timeout=None):
        """Waits for the result and returns it. Raises Problem if the run fails, is cancelled, or does not end in time."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = FIRST_PAUSE
        while True:
            run = self.get()
            if run["state"] == "ended":
                return result_of(run)
            left = pause if until is None else until - time.monotonic()
            if left <= 0:
                raise Problem(408, "too.late", f"run {self.id} did not end in time", {"id": self.id})
            time.sleep(min(pause, left))
            pause = min(LONGEST_PAUSE, pause * 1.5)

    def cancel(self, why=None):
        return self._act("cancel", why)

    def retry(self, why=None):
        return self._act("retry", why)

    def _act(self, action, why):
        return self._client.call("POST", f"/runs/{self.id}/{action}", {} if why is None else {"why": why})


def result_of(run):
    if run["standing"] == "succeeded":
        return run["result"]
    reason = (run["error"] or {}).get("message") or (run["cancel"] or {}).get("why") or run["standing"]
    detail = f"run {run['id']} {run['standing']}: {reason}"
    raise Problem(409, f"run.{run['standing']}", detail, {"id": run["id"]})
