"""The server of the survey: it gives out the pages and the mechanism, and stores reports.

python server.py [--folder data] [--port 8000]
"""

import argparse
import json
import sys
import threading
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from questions import categories
from results import promise, results
from starlette.requests import ClientDisconnect
from store import Store

from skrldp import Mechanism

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "javascript" / "skrldp.js"
MOST_BYTES = 1000  # of a body; a report takes some 140

# The pages load what this server gives and nothing else, and no form can be sent by itself.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Report(BaseModel):
    """What a browser sends."""

    model_config = ConfigDict(extra="forbid", strict=True)

    digest: str
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    report: int = Field(ge=0)


class Refusal(Exception):
    """A request that is not accepted: status and message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


async def body_of(request):
    """Read a body of JSON, and no more than it may have."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "reports are sent as application/json.")
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise Refusal(413, f"a report has at most {MOST_BYTES} bytes.")
    except ClientDisconnect:
        raise Refusal(400, "the connection ended before the report did.") from None
    return body


def read_report(body, mechanism):
    """Check what came, without repeating it in messages."""
    try:
        sent = Report.model_validate_json(body)
    except ValidationError as problem:
        said = [
            ": ".join([*map(str, each["loc"]), each["msg"]])
            for each in problem.errors(include_input=False, include_context=False)
        ]
        raise Refusal(422, "; ".join(said) + ".") from None
    if sent.digest != mechanism.digest:
        raise Refusal(409, "this report is of another mechanism than that of this survey.")
    if sent.report >= len(mechanism.symbols):
        raise Refusal(422, f"report: there is none above {len(mechanism.symbols) - 1}.")
    return sent


def read_folder(folder):
    """Read survey and mechanism, and check that they belong together."""
    try:
        survey = json.loads((folder / "survey.json").read_text(encoding="utf-8"))
        mechanism = Mechanism.from_json((folder / "mechanism.json").read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise ValueError(f"there is no {problem.filename}: run design.py first.") from None
    if survey["digest"] != mechanism.digest:
        raise ValueError(f"survey.json and mechanism.json in {folder} do not belong together.")
    if mechanism.guarantee is None:
        raise ValueError(f"mechanism.json in {folder} states no guarantee.")
    asked = {question["column"]: question["sensitive"] for question in survey["questions"]}
    if dict(mechanism.columns) != asked or set(categories(survey)) != set(asked):
        raise ValueError(f"survey.json in {folder} asks for other columns than the mechanism has.")
    return survey, mechanism


def create_app(folder):
    """Make the application for a folder that design.py wrote."""
    survey, mechanism = read_folder(folder)
    if not CLIENT.is_file():
        raise ValueError(f"there is no {CLIENT}, which the page needs.")
    store = Store(folder / "reports.sqlite", mechanism.digest)
    asking = {**survey, "promise": promise(mechanism.guarantee)}
    app = FastAPI(title=survey["title"], openapi_url=None)  # its pages of API come from elsewhere
    latest, lock = {}, threading.Lock()

    @app.middleware("http")
    async def add_headers(request: Request, call_next):
        response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    @app.exception_handler(Refusal)
    async def refuse(request: Request, problem: Refusal):
        return JSONResponse({"error": str(problem)}, problem.status)

    @app.post("/reports")
    async def take(request: Request):
        sent = read_report(await body_of(request), mechanism)
        stored, new = await run_in_threadpool(store.add, sent.id, sent.report)
        if stored != sent.report:
            raise Refusal(409, "another report has come from this browser before; it stays.")
        return JSONResponse({"stored": stored}, 201 if new else 200)

    @app.get("/survey.json")
    def give_survey():
        return asking

    @app.get("/mechanism.json")
    def give_mechanism():
        return FileResponse(folder / "mechanism.json", media_type="application/json")

    @app.get("/skrldp.js")
    def give_client():
        return FileResponse(CLIENT, media_type="text/javascript")

    @app.get("/results.json")
    def give_results():
        counts = tuple(store.counts(len(mechanism.symbols)))
        with lock:
            if counts not in latest:
                found = results(survey, mechanism, list(counts))
                latest.clear()
                latest[counts] = found
            return latest[counts]

    app.mount("/", StaticFiles(directory=HERE / "page", html=True))
    return app


def main():
    """Read the command line, and serve on this computer alone."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    parser.add_argument("--port", type=int, default=8000)
    asked = parser.parse_args()
    try:
        app = create_app(asked.folder)
    except ValueError as problem:
        sys.exit(f"server.py: {problem}")
    print(f"Questionnaire: http://localhost:{asked.port}/   stop with Ctrl-C", flush=True)
    # No log of requests: addresses and times belong to persons.
    uvicorn.run(app, host="127.0.0.1", port=asked.port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
