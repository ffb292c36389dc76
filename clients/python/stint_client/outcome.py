"""The outcome of a handler: the route that stores it, and the body of the request without the fence."""
import traceback

from .errors import Cancelled, Fail, Interrupted, Problem, RetryAfter, Snooze, TimedOut

MESSAGE_MAX = 4000
STACK_MAX = 8000
NAME_MAX = 200
RELEASED = ("release", {})


def outcome_of_result(result):
    return "complete", {"result": result}


def outcome_of_error(error, job):
    if isinstance(job.reason, Interrupted):
        return RELEASED
    if isinstance(error, Snooze):
        return "release", {"delay": round(error.seconds * 1000)}
    body = {"error": reported_error(error), "retryable": not isinstance(error, (Fail, Cancelled))}
    if isinstance(error, RetryAfter):
        body["retryAfter"] = round(error.seconds * 1000)
    return "fail", body


def instead_of(outcome, error):
    """Returns the failure to report if the result cannot be stored. None: the error has another cause."""
    is_refused = isinstance(error, Problem) and error.status in (400, 413)
    if outcome[0] != "complete" or not (is_refused or isinstance(error, (TypeError, ValueError, RecursionError))):
        return None
    return "fail", {"retryable": False, "error": {"code": "missing output", "message": str(error)[:MESSAGE_MAX]}}


def reported_error(error):
    name = type(error).__name__
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    reported = {"message": (str(error) or name)[:MESSAGE_MAX], "name": name[:NAME_MAX], "stack": stack[-STACK_MAX:]}
    if isinstance(error, TimedOut):
        reported["code"] = "timed out"
    if getattr(error, "data", None) is not None:
        reported["data"] = error.data
    if isinstance(getattr(error, "code", None), str):
        reported["id"] = error.code[:NAME_MAX]
    return reported
