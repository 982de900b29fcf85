"""The survey's server behind a relay that writes down every byte which a browser sends."""

import os
import shutil
import socket
import sqlite3
import threading
import time
from contextlib import closing, contextmanager, suppress

FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


ID = "00112233445566778899aabbccddeeff"
TOKEN = "c0ffee" + 26 * "5"


def few_questions():
    """The example's survey with three of its twelve questions."""
    from questions import SURVEY

    few = [one for one in SURVEY["questions"] if one["column"] in ("age", "place", "drove")]
    return {**SURVEY, "questions": few}


def invite_all(folder, tokens):
    """Open invitations in a folder that design.py wrote."""
    from invitations import open_store

    open_store(folder).invite(tokens)


def count_reports(folder):
    """Count the reports in the database, which the server does not tell."""
    with closing(sqlite3.connect(folder / "reports.sqlite")) as base:
        return base.execute("SELECT COUNT(*) FROM reports").fetchone()[0]


def answer_all(page, answers):
    """Answer all twelve questions; those that `answers` does not name are declined."""
    from questions import DECLINED, SURVEY

    for asked in SURVEY["questions"]:
        group = page.get_by_role("group", name=asked["text"])
        answer = answers.get(asked["column"], DECLINED)
        if isinstance(answer, int):
            group.get_by_role("textbox").fill(str(answer))
        else:
            group.get_by_label(answer, exact=True).check()


def fill(folder, persons):
    """Store the reports of persons, by the Python client."""
    from invitations import new_tokens, open_store
    from store import Sent

    from skrldp import client

    drawn = client.load((folder / "manifest.json").read_text("utf-8")).report_many(persons)
    tokens, ids = new_tokens(len(persons)), new_tokens(len(persons))
    store = open_store(folder)
    store.invite(tokens)
    columns = (tokens, ids, *(own.tolist() for own in drawn))
    store.add_many(map(Sent, *columns))


def chromium():
    """Path of a Chromium, or None. The variable SKRLDP_CHROMIUM names another one."""
    names = "chromium", "chromium-browser", "google-chrome"
    found = (shutil.which(name) for name in names)
    return os.environ.get("SKRLDP_CHROMIUM") or next((path for path in found if path), None)


@contextmanager
def started():
    """Start a Chromium; gives the browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium(), args=["--no-sandbox", *FLAGS])
        yield browser
        browser.close()


class Relay:
    """Hand bytes to a server and back, and keep a copy of those to the server.

    Attributes
    ----------
    requests : list of bytes
        Each request as it came: line, headers and body.
    off : bool
        Whether connections are closed at once, as if there were no server.
    deaf : bool
        Whether answers to POST requests are lost.
    """

    def __init__(self, port):
        self.server_port, self.off, self.deaf = port, False, False
        self._sent, self._open = [], []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://localhost:{self.port}"

    @property
    def requests(self):
        return [request for sent in self._sent for request in split(bytes(sent))]

    def forget(self):
        """Close the connections and forget what was sent."""
        self.hang_up()
        self._sent = []

    def hang_up(self):
        for each in self._open:
            with closing(each):
                shut(each)
        self._open = []

    def close(self):
        self._listener.close()
        self.hang_up()

    def _accept(self):
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            if self.off:
                browser.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.server_port))
            self._open += [browser, server]
            copy = bytearray()
            self._sent.append(copy)
            for run in (self._to_server, self._to_browser):
                threading.Thread(target=run, args=(browser, server, copy), daemon=True).start()

    def _to_server(self, browser, server, copy):
        with closing(server), suppress(OSError):
            while data := received(browser):
                copy += data
                server.sendall(data)

    def _to_browser(self, browser, server, copy):
        with closing(browser), suppress(OSError):
            while data := received(server):
                if self.deaf and b"POST " in copy:
                    return shut(browser)
                browser.sendall(data)


def received(connection):
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def shut(connection):
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def split(sent):
    """Split what came over one connection into requests."""
    found = []
    while sent:
        head, blank, rest = sent.partition(b"\r\n\r\n")
        assert blank, head
        lengths = [
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ]
        length = lengths[0] if lengths else 0
        assert b"chunked" not in head.lower()
        found.append(head + blank + rest[:length])
        sent = rest[length:]
    return found


@contextmanager
def serving(folder):
    """Serve a folder that design.py wrote; gives the port."""
    import server
    import uvicorn

    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        running = uvicorn.Server(uvicorn.Config(server.create_app(folder), **server.UVICORN))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not running.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield listener.getsockname()[1]
        finally:
            running.should_exit = True
            thread.join(timeout=20.0)


@contextmanager
def site(folder):
    """Serve a folder that design.py wrote; gives the relay in front of it."""
    with serving(folder) as port:
        relay = Relay(port)
        try:
            yield relay
        finally:
            relay.close()
