"""Every error of the server, in the contract's shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from citeverifier.record_rules import problem_text
from citeverifier.server.batching import Busy, VerifierFailed
from citeverifier.server.contract import error_body
from citeverifier.server.limits import OverLimit
from citeverifier.server.settings import Settings

_CODES = {404: "not_found", 405: "method_not_allowed", 408: "slow_body", 413: "too_large"}


def answer_errors(app: FastAPI, settings: Settings) -> None:
    """Give the app a handler for each kind of error."""

    def on(kind: type[Exception], status: int, code: str, words: Callable[[Any], str], **headers: str) -> None:
        async def answer(_: Request, error: Exception) -> JSONResponse:
            return JSONResponse(error_body(code, words(error)), status, headers)

        app.add_exception_handler(kind, answer)

    on(OverLimit, 422, "invalid", str)
    on(RequestValidationError, 422, "invalid", _invalid)
    on(Busy, 503, "busy", lambda error: f"{error}; come back in a second", **{"Retry-After": "1"})
    slow = f"no answer within {settings.timeout:g} s; send fewer items a request"
    on(TimeoutError, 504, "timeout", lambda _: slow)
    failed = "the {} failed on this request ({}); {} log has the details".format
    on(VerifierFailed, 500, "failed", lambda error: failed("verifier", error, "the server's"))
    on(Exception, 500, "failed", lambda error: failed("server", type(error).__name__, "its"))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        status, code, message = error.status_code, _CODES.get(error.status_code, "invalid"), error.detail
        if status == 400:  # a body that is no text
            status, message = 422, f"the body: expected JSON in UTF-8, got something else ({message})"
        elif status in (404, 405):
            message = f"{request.method} {request.url.path}: {message}; GET /openapi.json lists what there is"
        return JSONResponse(error_body(code, message), status, error.headers)


def _invalid(error: RequestValidationError) -> str:
    """ "key 'items[0].documents[1].text': expected a value, got nothing"."""
    problem = error.errors()[0]
    if problem["type"] == "json_invalid":
        return f"the body: expected JSON, got something else at character {problem['loc'][-1]}"
    if isinstance(problem.get("input"), bytes):
        return "the body: expected the header 'Content-Type: application/json', got another one or none"
    within = problem["loc"][1:]  # after "body"
    text = problem_text({**problem, "loc": within})
    return text if within else f"the body: {text}"
