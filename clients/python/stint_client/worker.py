"""A worker: claims jobs, keeps their leases by heartbeats, executes handlers in threads, and reports how they ended."""
import logging
import os
import queue
import signal
import socket
import threading
import time
import uuid

from .client import UNANSWERED, pause
from .errors import Cancelled, Interrupted, LeaseLost, Problem, TimedOut
from .job import Job
from .outcome import RELEASED, instead_of, outcome_of_error, outcome_of_result
from .transport import Abort

log = logging.getLogger("stint_client")

CLAIM_WAIT = 20.0
#: How long `stop` waits for handlers that it has aborted, before it releases their jobs.
INTERRUPTED_WAIT = 5.0
LONGEST_PAUSE = 5.0
#: Python executes the handler of a signal later if the signal comes as the main thread begins to wait: at the latest
#: when the wait ends.
SIGNAL_WAIT = 0.5


class Worker:
    """
    `handlers` maps job types to functions. A function gets the Job; what it returns is the result. `slots` jobs run at
    the same time, at most 100. The worker holds a job for `lease` seconds after its last heartbeat. `stop` waits `drain`
    seconds for handlers before it aborts them. `versions` maps types to the versions of inputs that the worker knows, as
    in {"resize": (1, 2)}; of other types, it gets jobs of the version with which new runs are created.
    """

    def __init__(self, client, handlers, *, slots=1, lease=30.0, drain=20.0, versions=None, name=None):
        self._client = client
        self._handlers = dict(handlers)
        self._slots = slots
        self._lease = lease
        self._drain_seconds = drain
        self._versions = [{"type": type_, "from": first, "to": last} for type_, (first, last) in (versions or {}).items()]
        self._name = name or f"{socket.gethostname()[:40]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._changed = threading.Condition()
        self._held = set()
        self._stops = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._claiming = Abort()
        self._problem = None

    def run(self):
        """
        Executes jobs until `stop`, SIGTERM or SIGINT, then drains. Raises Problem if the server refuses the worker, such
        as for a wrong token. Signals are handled only in the main thread.
        """
        before = self._handle_signals()
        claims = threading.Thread(target=self._claim_until_stopped, name="stint claims", daemon=True)
        try:
            claims.start()
            self._wait_for_stop()
            self._stopping.set()
            with self._changed:
                self._changed.notify_all()
            self._claiming.set()
            claims.join()
            self._drain()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self._problem is not None:
            raise self._problem

    def stop(self):
        """Lets `run` claim no more jobs and return when the handlers have ended."""
        # A signal may come while this thread holds the lock of an Event; a SimpleQueue can be used then.
        self._stops.put(None)

    def _wait_for_stop(self):
        while True:
            try:
                return self._stops.get(timeout=SIGNAL_WAIT)
            except queue.Empty:
                pass

    def _handle_signals(self):
        if threading.current_thread() is not threading.main_thread():
            return {}
        return {number: signal.signal(number, lambda *_: self.stop()) for number in (signal.SIGTERM, signal.SIGINT)}

    def _claim_until_stopped(self):
        failures = 0
        while not self._stopping.is_set():
            try:
                limit = self._wait_for_slots()
                asked_at = time.monotonic()
                for view in self._claim(limit) if limit > 0 else []:
                    self._start(view, asked_at)
                failures = 0
            except (Problem, *UNANSWERED) as error:
                if self._stopping.is_set():
                    return
                if isinstance(error, Problem) and error.is_final:
                    self._problem = error
                    return self.stop()
                log.warning("cannot claim jobs: %s", error)
                self._stopping.wait(pause(failures, LONGEST_PAUSE))
                failures += 1

    def _wait_for_slots(self):
        with self._changed:
            self._changed.wait_for(lambda: len(self._held) < self._slots or self._stopping.is_set())
            return 0 if self._stopping.is_set() else self._slots - len(self._held)

    def _claim(self, limit):
        wait_ms, lease_ms = round(CLAIM_WAIT * 1000), round(self._lease * 1000)
        types = list(self._handlers)
        body = {"worker": self._name, "types": types, "limit": limit, "leaseMs": lease_ms, "waitMs": wait_ms}
        if self._versions:
            body["versions"] = self._versions
        return self._client.call("POST", "/work/claim", body, abort=self._claiming)["items"]

    def _start(self, view, asked_at):
        held = _Held(Job(view, self._client))
        with self._changed:
            self._held.add(held)
        self._start_thread(self._execute, held, asked_at)

    def _start_thread(self, work, held, *args):
        threading.Thread(target=work, args=(held, *args), name=f"stint job {held.job.id}", daemon=True).start()

    def _execute(self, held, asked_at):
        job = held.job
        try:
            since = self._confirm_lease(job, asked_at)
            if since is not None:
                self._start_thread(self._keep_lease, held, since)
                self._report(held, self._outcome_of(held))
            elif not job.is_lost:
                self._report(held, outcome_of_error(job.reason, job))
        finally:
            with self._changed:
                self._held.discard(held)
                self._changed.notify_all()

    def _outcome_of(self, held):
        job = held.job
        timer = self._fail_after_timeout(held)
        try:
            outcome = outcome_of_result(self._handlers[job.type](job))
        except Exception as error:
            outcome = outcome_of_error(error, job)
        timer.cancel()
        return outcome

    def _fail_after_timeout(self, held):
        timeout_ms = held.job.timeoutMs

        def fail():
            error = TimedOut(f"the attempt took longer than {timeout_ms} ms")
            held.job.abort(error)
            self._report(held, outcome_of_error(error, held.job))

        timer = threading.Timer((timeout_ms or 0) / 1000, fail)
        timer.daemon = True
        if timeout_ms is not None:
            timer.start()
        return timer

    def _report(self, held, outcome):
        """Reports the first outcome of a job; later ones, of a handler that ends after its timeout, are dropped."""
        if not held.is_first_report():
            held.over.wait()
            return
        try:
            self._send(held.job, outcome)
        finally:
            held.over.set()

    def _send(self, job, outcome):
        """Sends an outcome until the server has it or the lease is lost: without it, the job would be executed again."""
        failures = 0
        while not job.is_lost:
            try:
                job.send(*outcome, is_repeatable=True)
                return
            except (Problem, TypeError, ValueError, RecursionError, *UNANSWERED) as error:
                instead = instead_of(outcome, error)
                if instead is not None:
                    return self._send(job, instead)
                log.warning("cannot report the outcome of job %s: %s", job.id, error)
                if isinstance(error, Problem) and error.is_final:
                    return
                time.sleep(pause(failures, LONGEST_PAUSE))
                failures += 1

    def _confirm_lease(self, job, asked_at):
        """
        Confirms before the handler starts that the job is held. `asked_at`: when the claim was sent, so that the lease
        began later. While less than two thirds of a lease have passed since then, the lease is safe. Otherwise the
        answer may have come after the lease, and a heartbeat is sent. Returns the time since which the lease certainly
        runs; None if the job is lost or aborted.
        """
        since = asked_at
        while not job.is_aborted:
            if time.monotonic() - since < self._lease * 2 / 3:
                return since
            sent_at = time.monotonic()
            try:
                self._beat(job)
                since = sent_at
            except (Problem, *UNANSWERED) as error:
                if isinstance(error, Problem) and error.is_final:
                    job.abort(LeaseLost(str(error)))
                else:
                    log.warning("cannot send a heartbeat for job %s: %s", job.id, error)
                    job.wait(self._lease / 3)
        return None

    def _keep_lease(self, held, since):
        """
        Sends three heartbeats per lease until the job is over or lost. `since`: the time since which the lease certainly
        runs.
        """
        job = held.job
        lease_until = since + self._lease
        pause_seconds = min(self._lease / 3, since + self._lease * 2 / 3 - time.monotonic())
        while not held.over.wait(pause_seconds):
            pause_seconds = self._lease / 3
            sent_at = time.monotonic()
            if sent_at >= lease_until:
                return job.abort(LeaseLost("no heartbeat has reached the server in time"))
            try:
                self._beat(job)
                lease_until = sent_at + self._lease
            except (Problem, *UNANSWERED) as error:
                if held.over.is_set():
                    return
                if isinstance(error, Problem) and error.is_final:
                    return job.abort(LeaseLost(str(error)))
                log.warning("cannot send a heartbeat for job %s: %s", job.id, error)

    def _beat(self, job):
        """Extends the lease. Aborts the job if it was cancelled."""
        beat = job.send("heartbeat", {"leaseMs": round(self._lease * 1000)}, timeout=self._lease / 3)
        if beat["isCancelled"]:
            job.abort(Cancelled((beat["cancel"] or {}).get("why") or "the job was cancelled"))

    def _drain(self):
        self._wait_for_handlers(self._drain_seconds)
        for held in self._all_held():
            held.job.abort(Interrupted("the worker stops"))
        self._wait_for_handlers(INTERRUPTED_WAIT)
        for held in self._all_held():
            self._report(held, RELEASED)

    def _all_held(self):
        with self._changed:
            return list(self._held)

    def _wait_for_handlers(self, seconds):
        with self._changed:
            self._changed.wait_for(lambda: not self._held, timeout=seconds)


class _Held:
    """A job in a slot. `over` is set when its outcome is stored or its lease is lost: no more heartbeats are sent."""

    def __init__(self, job):
        self.job = job
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._is_reported = False

    def is_first_report(self):
        with self._lock:
            is_first = not self._is_reported
            self._is_reported = True
            return is_first
