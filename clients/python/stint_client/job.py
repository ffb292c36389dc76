"""A job that a worker holds: its data, the reason why it was aborted, and the reports of its handler."""
import threading

from .errors import LeaseLost


class Job:
    """`view` is the answer of the claim. Its fields are attributes, too: `job.input`, `job.attempt`, `job.children`."""

    def __init__(self, view, client):
        self.view = view
        self._client = client
        self._aborted = threading.Event()
        self._lock = threading.Lock()
        self.reason = None
        self.is_lost = False

    def __getattr__(self, name):
        try:
            return self.__dict__["view"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def is_aborted(self):
        """Whether the job is cancelled, lost or timed out, or the worker stops. `reason` is the error that says which."""
        return self._aborted.is_set()

    def raise_if_aborted(self):
        """Raises the reason. Call it between the steps of the work."""
        if self.is_aborted:
            raise self.reason

    def sleep(self, seconds=None):
        """Sleeps; raises the reason if the job is aborted."""
        self._aborted.wait(seconds)
        self.raise_if_aborted()

    def wait(self, seconds):
        """For the worker. Sleeps until the job is aborted, at most this long."""
        self._aborted.wait(seconds)

    def progress(self, *steps):
        """Reports progress: `job.progress({"kind": "startStage", "description": "parts", "total": 5})`."""
        self.send("progress", {"steps": list(steps)})

    def log(self, text, level="info"):
        self.send("log", {"lines": [{"text": text, "level": level}]})

    def create_children(self, children):
        """Creates children, which run when this job completes. The job is then claimed again, with `job.children`."""
        return self.send("children", {"children": list(children)})["items"]

    def send(self, action, body, **options):
        return self._client.call("POST", f"/work/{self.view['id']}/{action}", {"fence": self.view["fence"], **body}, **options)

    def abort(self, reason):
        """For the worker. Only the first reason counts."""
        with self._lock:
            self.is_lost = self.is_lost or isinstance(reason, LeaseLost)
            if self.reason is None:
                self.reason = reason
        self._aborted.set()
