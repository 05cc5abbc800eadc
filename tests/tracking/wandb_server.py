"""A stand-in for the server of Weights & Biases on loopback: answers its client, and keeps what it was sent."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STREAM = re.compile(r"/files/\w+/(?P<project>[\w-]+)/(?P<run>\w+)/file_stream")


class Server(ThreadingHTTPServer):
    """Keeps every request, and the lines of every run's files where the client says that they belong."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        """Listen on a port of loopback, by default a free one."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.asked: list[str] = []
        """Method, path and body of each request."""
        self.keys: set[str] = set()
        """What was sent to sign in."""
        self.begun: dict[str, dict[str, Any]] = {}
        """What each run was begun with, by its id."""
        self.lines: dict[tuple[str, str], dict[int, str]] = {}
        """By run and file: the lines by their numbers."""
        self.uploaded: dict[str, bytes] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that the client drops at its end."""

    def history(self, run: str) -> list[dict[str, Any]]:
        """Return what a run has logged, in the order of its lines."""
        lines = self.lines[run, "wandb-history.jsonl"]
        return [json.loads(lines[number]) for number in sorted(lines)]

    def stream(self, run: str, body: dict[str, Any]) -> None:
        """Put lines where they belong: those that are there are replaced."""
        for name, part in (body.get("files") or {}).items():
            mine = self.lines.setdefault((run, name), {})
            mine |= {part["offset"] + number: line for number, line in enumerate(part["content"])}

    def answer(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the data that a GraphQL request gets; the client takes {} where it only asks what is possible."""
        if "upsertBucket" in query:
            mine = self.begun.setdefault(variables["name"], {})
            mine |= {name: value for name, value in variables.items() if value is not None}
            project = {"id": "p", "name": variables["project"], "entity": {"id": "e", "name": "team"}}
            bucket = {"id": "b", "name": variables["name"], "displayName": "", "config": "{}", "historyLineCount": 0}
            return {"upsertBucket": {"inserted": True, "bucket": bucket | {"project": project}}}
        if "createRunFiles" in query:
            urls = [
                {"name": name, "uploadUrl": f"http://127.0.0.1:{self.server_port}/up/{name}"}
                for name in variables["files"]
            ]
            return {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": urls}}
        if "viewer" in query:
            return {"viewer": {"id": "u", "flags": "{}", "username": "me", "entity": "team", "teams": {"edges": []}}}
        return {"serverInfo": {"features": []}}


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def _take(self) -> bytes:
        """Return the body, and keep the request."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.asked.append(f"{self.command} {self.path} {body.decode('latin1')}")
        self.server.keys.add(self.headers.get("authorization", ""))
        return body

    def _say(self, answer: dict[str, Any]) -> None:
        """Send an answer."""
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """Answer that there is nothing."""
        self._take()
        self._say({})

    def do_PUT(self) -> None:
        """Keep a file."""
        self.server.uploaded[self.path] = self._take()
        self._say({})

    def do_POST(self) -> None:
        """Answer GraphQL, and take lines."""
        body = self._take()
        if stream := STREAM.match(self.path):
            self.server.stream(stream["run"], json.loads(body))
            self._say({"exitcode": None, "limits": {}})
        elif self.path == "/graphql":
            asked = json.loads(body)
            self._say({"data": self.server.answer(asked["query"], asked.get("variables") or {})})
        else:
            self._say({})

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(port: int = 0) -> Iterator[Server]:
    """Serve until the end of the block."""
    server = Server(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
