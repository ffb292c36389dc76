"""The errors of the client, those that a handler can raise, and those that say why a job was aborted."""


class Problem(Exception):
    """The server refused a request. `code` is the code of the refusal."""

    def __init__(self, status, code, detail, about=None):
        super().__init__(detail)
        self.status = status
        self.code = code
        self.about = about or {}
        self.retry_after = None

    @property
    def is_final(self):
        """Whether the same request would be refused again."""
        return self.status < 500 and self.status not in (408, 429)


class Fail(Exception):
    """Raised by a handler: the job fails and is not retried. `code` is your own code of the error."""

    def __init__(self, message, data=None, code=None):
        super().__init__(message)
        self.data = data
        self.code = code


class RetryAfter(Exception):
    """Raised by a handler: the attempt fails. If attempts are left, the job is retried after so many seconds."""

    def __init__(self, seconds, message=None):
        super().__init__(message or f"retry after {seconds} s")
        self.seconds = seconds


class Snooze(Exception):
    """Raised by a handler: the job is due again after so many seconds, and the attempt does not count."""

    def __init__(self, seconds):
        super().__init__(f"snoozed for {seconds} s")
        self.seconds = seconds


class Cancelled(Exception):
    """The job was cancelled."""


class TimedOut(Exception):
    """The attempt took longer than the timeout of the job."""


class LeaseLost(Exception):
    """This worker no longer holds the job: its lease lapsed, or the job was stopped."""


class Interrupted(Exception):
    """The worker stops, and the handler has not ended in time. The attempt does not count."""
