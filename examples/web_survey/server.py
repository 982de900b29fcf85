"""The server of the survey: it serves the pages and the manifest, and stores reports.

python server.py [--folder data] [--port 8000] [--host localhost ...]
"""

import argparse
import datetime as dt
import json
import secrets
import sqlite3
import sys
import threading
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from invitations import new_tokens
from promise import promise
from questions import categories
from received import Refusal, body_of, read_report
from results import as_csv, results
from store import Outcome, Store
from uvicorn.protocols.http.h11_impl import H11Protocol

from skrldp import Manifest

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "javascript" / "skrldp.js"

# Pages may load only files of this server, and forms are never submitted by the browser itself.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

REFUSALS = {
    Outcome.OTHER: (409, "another report has come from this browser before; it stays."),
    Outcome.USED: (409, "this invitation has been used. It is good for one report."),
    Outcome.UNKNOWN: (403, "this is no invitation to this survey."),
}

HOSTS = ("localhost", "127.0.0.1")
MOST_CONNECTIONS = 400
MOST_SECONDS = 30.0  # of a connection


class BriefConnection(H11Protocol):
    """A connection with a time limit, however slowly its client sends or reads.

    If there are too many connections, a random one is closed, usually one of those that fill the
    server.
    """

    def connection_made(self, transport):
        super().connection_made(transport)
        self._end = self.loop.call_later(MOST_SECONDS, transport.abort)
        if len(self.connections) > MOST_CONNECTIONS:
            secrets.choice(list(self.connections)).transport.abort()

    def connection_lost(self, exc):
        self._end.cancel()
        super().connection_lost(exc)


# There is no log of requests, because addresses and times identify people.
UVICORN = {
    "http": BriefConnection,
    "ws": "none",
    "lifespan": "off",
    "limit_concurrency": 2 * MOST_CONNECTIONS,
    "backlog": 128,  # of connections that are accepted at once
    "access_log": False,
    "log_level": "error",
}


def now():
    """Return the time; tests replace this function."""
    return dt.datetime.now(dt.UTC)


def read_folder(folder):
    """Read survey and manifest, and check that they belong together."""
    try:
        survey = json.loads((folder / "survey.json").read_text(encoding="utf-8"))
        manifest = Manifest.from_json((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise ValueError(f"there is no {problem.filename}: run design.py first.") from None
    if survey["digest"] != manifest.digest:
        raise ValueError(f"survey.json and manifest.json in {folder} do not belong together.")
    if not (isinstance(survey["needed"], int) and survey["needed"] >= 1):
        raise ValueError(f"survey.json in {folder}: 'needed' must be a number of reports.")
    if manifest.eps is None:
        raise ValueError(f"manifest.json in {folder} claims nothing.")
    asked = {question["column"]: question["sensitive"] for question in survey["questions"]}
    if dict(manifest.columns) != asked or set(categories(survey)) != set(asked):
        raise ValueError(f"survey.json in {folder} asks for other columns than the manifest has.")
    return survey, manifest


class Results:
    """The results to show, computed once for each step in the number of reports."""

    def __init__(self, survey, manifest, store):
        self._survey, self._manifest, self._store = survey, manifest, store
        self._counts, self._results, self._lock = None, None, threading.Lock()

    def latest(self):
        """Return the results to show now."""
        with self._lock:
            counts = self._store.shown(self._survey["needed"])
            if counts != self._counts:
                self._results = results(self._survey, self._manifest, counts)
                self._counts = counts
            return self._results


def create_app(folder, hosts=HOSTS):
    """Create the application for a folder that design.py wrote, with the allowed host names."""
    survey, manifest = read_folder(folder)
    if not CLIENT.is_file():
        raise ValueError(f"there is no {CLIENT}, which the page needs.")
    store = Store(folder / "reports.sqlite", manifest.digest)
    shown = Results(survey, manifest, store)
    closes = dt.datetime.fromisoformat(survey["closes"])
    app = FastAPI(title=survey["title"], openapi_url=None)  # its pages load other servers' files

    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)

    def is_closed():
        return now() >= closes

    @app.middleware("http")
    async def add_headers(request: Request, call_next):
        response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    @app.exception_handler(Refusal)
    async def refuse(request: Request, problem: Refusal):
        # Do not wait for the rest of a body that is too long or too slow.
        headers = {"Connection": "close"} if problem.status in (408, 413) else None
        return JSONResponse({"error": str(problem)}, problem.status, headers)

    @app.post("/reports")
    async def take(request: Request):
        sent = read_report(await body_of(request), manifest)
        if is_closed():
            raise Refusal(403, "the survey is closed.")
        outcome = await run_in_threadpool(store.add, sent)
        if outcome in REFUSALS:
            raise Refusal(*REFUSALS[outcome])
        return JSONResponse({"stored": True}, 201 if outcome is Outcome.NEW else 200)

    @app.get("/survey.json")
    def give_survey():
        return {**survey, "promise": promise(manifest), "closed": is_closed()}

    @app.get("/manifest.json")
    def give_manifest():
        return Response(manifest.to_json(), media_type="application/json")  # as checked

    @app.get("/skrldp.js")
    def give_client():
        return FileResponse(CLIENT, media_type="text/javascript")

    @app.get("/results.json")
    def give_results():
        return shown.latest()

    @app.get("/results.csv")
    def give_csv():
        found = shown.latest()
        if not found["questions"]:
            raise Refusal(404, f"there are results from {found['needed']:,} reports on.")
        named = {"Content-Disposition": 'attachment; filename="results.csv"'}
        return Response(as_csv(found), media_type="text/csv; charset=utf-8", headers=named)

    @app.get("/health")
    def give_health():
        try:
            store.check()
        except sqlite3.Error:
            return JSONResponse({"status": "the database cannot be read"}, 503)
        return {"status": "ok", "closed": is_closed(), "digest": manifest.digest}

    app.mount("/", StaticFiles(directory=HERE / "page", html=True))
    app.state.store = store
    return app


def main():
    """Read the command line, and serve on this computer alone."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--host", nargs="+", default=HOSTS, help="names that browsers ask for")
    asked = parser.parse_args()
    try:
        app = create_app(asked.folder, asked.host)
    except ValueError as problem:
        sys.exit(f"server.py: {problem}")
    (token,) = new_tokens(1)  # a first invitation; invitations.py creates others
    app.state.store.invite([token])
    print(f"An invitation: http://localhost:{asked.port}/#{token}   stop with Ctrl-C", flush=True)
    uvicorn.run(app, host="127.0.0.1", port=asked.port, **UVICORN)


if __name__ == "__main__":
    main()
