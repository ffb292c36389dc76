"""The client of the HTTP API. It retries calls that are safe to repeat."""
import http.client
import json
import random
import time
import uuid
from urllib.parse import quote, urlencode

from .errors import Problem
from .run import Run
from .transport import Transport

API = "/api/v1"
#: The server did not answer, or its answer was cut off.
UNANSWERED = (OSError, http.client.HTTPException)
NOT_GIVEN = object()


class Client:
    """
    `retries` is the maximum number of retries of one call. Every call is retried if the server is overloaded. A call
    that is safe to repeat is also retried after a network error, or if the server is unavailable. `timeout` is how long
    each attempt of a call waits for the response, in seconds.
    """

    def __init__(self, url, token=None, retries=3, timeout=90.0):
        self._transport = Transport(url, token)
        self._retries = retries
        self._timeout = timeout

    def create_run(self, type=None, input=NOT_GIVEN, *, idempotency_key=None, **fields):
        """
        Creates a run of a type, or of a definition: `def_="nightly"`. Further fields are those of the HTTP API, such as
        `delay`, `dueTime`, `priority`, `unique` and `tags`. Retries of the call create no other run.
        """
        given = {"type": type, "def": fields.pop("def_", None), **fields}
        body = {name: value for name, value in given.items() if value is not None}
        if input is not NOT_GIVEN:
            body["input"] = input
        headers = {} if "unique" in body else {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        answer = self.call("POST", "/runs", body, headers=headers, is_repeatable=bool(headers))
        return Run(self, answer["id"])

    def run(self, id):
        return Run(self, id)

    def runs(self, **filter):
        """Yields all matching runs; reads them page by page. `filter` has the fields of the HTTP API, such as `state`."""
        after = filter.pop("after", None)
        while True:
            page = self.call("GET", "/runs", query={**filter, "after": after})
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def call(self, method, path, body=None, *, query=None, headers=None, is_repeatable=None, timeout=None, abort=None):
        """Calls any route: `client.call("GET", "/defs")`. Raises Problem if the server refuses."""
        repeatable = method == "GET" if is_repeatable is None else is_repeatable
        text = None if body is None else json.dumps(body, allow_nan=False).encode()
        target = API + quote(path) + query_text(query or {})
        for tries in range(self._retries + 1):
            try:
                return self._transport.send(method, target, text, headers or {}, timeout or self._timeout, abort)
            except Problem as problem:
                # Status 429 means that the server refused the call before the call had any effect.
                may_repeat = problem.status == 429 or (repeatable and problem.status in (502, 503, 504))
                error, asked = problem, seconds_of(problem.retry_after)
            except UNANSWERED as unanswered:
                may_repeat, error, asked = repeatable, unanswered, 0
            if not may_repeat or tries == self._retries or (abort is not None and abort.is_set):
                raise error
            time.sleep(max(asked, pause(tries)))


def pause(failures, most=10.0):
    """Returns how many seconds to wait after so many failures in a row."""
    return min(most, 0.2 * 2 ** min(failures, 10)) * (0.5 + random.random() / 2)


def seconds_of(header):
    return int(header) if header is not None and header.isdigit() else 0


def query_text(query):
    """Lists are joined with commas; tags, which may contain commas, get a parameter each."""
    pairs = []
    for name, value in query.items():
        if value is None:
            continue
        if name == "tag" and isinstance(value, (list, tuple)):
            pairs += [(name, each) for each in value]
        elif isinstance(value, (list, tuple)):
            pairs.append((name, ",".join(map(str, value))))
        else:
            pairs.append((name, value if isinstance(value, str) else json.dumps(value)))
    return "?" + urlencode(pairs) if pairs else ""
