"""Requests from browsers: read, checked, and never quoted in messages."""

import asyncio

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect
from store import Sent

MOST_BYTES = 1000  # bytes in a body; a report has about 210
MOST_SECONDS = 10.0  # until a body has arrived


class Report(BaseModel):
    """What a browser sends."""

    model_config = ConfigDict(extra="forbid", strict=True)

    digest: str
    invitation: str = Field(pattern=r"^[0-9a-f]{32}$")
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    block: int = Field(ge=0)
    report: int = Field(ge=0)


class Refusal(Exception):
    """A request that is not accepted: status and message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


async def body_of(request):
    """Read a JSON body from the survey's page, within limits on its length and time."""
    origins = {origin.partition("://")[2] for origin in request.headers.getlist("origin")}
    if not origins <= {request.headers.get("host")}:
        raise Refusal(403, "reports are sent by the survey's page alone.")
    kinds = {
        kind.partition(";")[0].strip().lower() for kind in request.headers.getlist("content-type")
    }
    if kinds != {"application/json"}:
        raise Refusal(415, "reports are sent as application/json.")
    body = b""
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise Refusal(413, f"a report has at most {MOST_BYTES} bytes.")
    except TimeoutError:
        raise Refusal(408, f"the report did not arrive within {MOST_SECONDS:g} seconds.") from None
    except ClientDisconnect:
        raise Refusal(400, "the connection ended before the report did.") from None
    return body


def read_report(body, manifest):
    """Check a body; return it in the form that the store accepts."""
    try:
        sent = Report.model_validate_json(body)
    except ValidationError as problem:
        said = dict.fromkeys(
            "other fields: there are none"  # a name may identify its sender
            if each["type"] == "extra_forbidden"
            else ": ".join([*map(str, each["loc"]), each["msg"]])
            for each in problem.errors(include_input=False, include_context=False)
        )
        raise Refusal(422, "; ".join(said) + ".") from None
    if sent.digest != manifest.digest:
        raise Refusal(409, "this report is of another manifest than that of this survey.")
    if sent.block >= len(manifest.mechanisms):
        raise Refusal(422, f"block: there is none above {len(manifest.mechanisms) - 1}.")
    symbols = manifest.mechanisms[sent.block].symbols
    if sent.report >= len(symbols):
        raise Refusal(422, f"report: this block has none above {len(symbols) - 1}.")
    return Sent(sent.invitation, sent.id, sent.block, sent.report)
