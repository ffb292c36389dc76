"""The client for Stint's HTTP API: creates runs, waits for their results, and executes jobs as a worker."""
from .client import Client
from .errors import Cancelled, Fail, Interrupted, LeaseLost, Problem, RetryAfter, Snooze, TimedOut
from .job import Job
from .run import Run
from .worker import Worker

__all__ = [
    "Cancelled", "Client", "Fail", "Interrupted", "Job", "LeaseLost", "Problem", "RetryAfter", "Run", "Snooze",
    "TimedOut", "Worker",
]
