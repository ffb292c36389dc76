"""Sends one HTTP request. Another thread can abort it."""
import http.client
import json
import socket
import threading
from urllib.parse import urlsplit

from .errors import Problem


class Abort:
    """Aborts the requests that use it, now and later."""

    def __init__(self):
        self._lock = threading.Lock()
        self._sockets = set()
        self.is_set = False

    def set(self):
        with self._lock:
            self.is_set = True
            for each in self._sockets:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def add(self, connected):
        with self._lock:
            if self.is_set:
                raise ConnectionAbortedError("the request was aborted")
            self._sockets.add(connected)

    def remove(self, connected):
        with self._lock:
            self._sockets.discard(connected)


class Transport:
    """A request has a connection of its own: a kept connection that the server has closed loses a request."""

    def __init__(self, url, token):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"cannot use {url!r}: give the URL of a server, such as http://127.0.0.1:7070")
        self._parts = parts
        self._token = token

    def send(self, method, path, body, headers, timeout, abort=None):
        """Sends encoded JSON; returns the decoded answer. Raises Problem, or OSError or HTTPException without an answer."""
        connection = self._connection(timeout)
        connected = None
        try:
            connection.connect()
            connected = connection.sock
            if abort is not None:
                abort.add(connected)
            connection.request(method, self._parts.path.rstrip("/") + path, body, self._headers(headers, body))
            response = connection.getresponse()
            return self._decoded(response, response.read())
        finally:
            if abort is not None and connected is not None:
                abort.remove(connected)
            connection.close()

    def _connection(self, timeout):
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        return kind(self._parts.hostname, self._parts.port, timeout=timeout)

    def _headers(self, headers, body):
        return {
            **headers,
            "Connection": "close",
            **({} if body is None else {"Content-Type": "application/json"}),
            **({} if self._token is None else {"Authorization": "Bearer " + self._token}),
        }

    @staticmethod
    def _decoded(response, body):
        if response.status < 400:
            try:
                return json.loads(body)
            except ValueError as error:
                raise http.client.HTTPException(f"the answer is not JSON: {error}") from None
        text = body.decode(errors="replace")
        if "problem+json" not in (response.headers.get("Content-Type") or ""):
            problem = Problem(response.status, "http", f"the server responded with {response.status}: {text[:200]}")
        else:
            fields = json.loads(text)
            problem = Problem(fields["status"], fields["code"], fields["detail"], fields.get("about"))
        problem.retry_after = response.headers.get("Retry-After")
        raise problem
