"""Every error of the server, in the contract's shape."""

from __future__ import annotations

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

    def answer(status: int, code: str, message: str, **headers: str) -> JSONResponse:
        return JSONResponse(error_body(code, message), status, headers)

    @app.exception_handler(OverLimit)
    async def over_limit(_: Request, error: OverLimit) -> JSONResponse:
        return answer(422, "invalid", str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return answer(422, "invalid", _invalid(error))

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> JSONResponse:
        return answer(503, "busy", f"{error}; come back in a second", **{"Retry-After": "1"})

    @app.exception_handler(TimeoutError)
    async def timeout(_: Request, error: TimeoutError) -> JSONResponse:
        return answer(504, "timeout", f"no answer within {settings.timeout:g} s; send fewer items a request")

    @app.exception_handler(VerifierFailed)
    async def failed(_: Request, error: VerifierFailed) -> JSONResponse:
        message = f"the verifier failed on this request ({error}); the server's log has the details"
        return answer(500, "failed", message)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        message = f"the server failed on this request ({type(error).__name__}); its log has the details"
        return answer(500, "failed", message)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        status, code, message = error.status_code, _CODES.get(error.status_code, "invalid"), error.detail
        if status == 400:  # a body that is no text
            status, message = 422, f"the body: expected JSON in UTF-8, got something else ({message})"
        elif status in (404, 405):
            message = f"{request.method} {request.url.path}: {message}; GET /openapi.json lists what there is"
        return answer(status, code, message, **(error.headers or {}))


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
