"""The HTTP app: routes, and how a request becomes a job."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

import citeverifier
from citeverifier.answers.answer_record import AnswerRecord
from citeverifier.answers.judging import Judge
from citeverifier.records import Document, Support
from citeverifier.server import contract
from citeverifier.server.batching import Ask, Batcher, Busy, Failed, Job
from citeverifier.server.contract import errors
from citeverifier.server.gate import Gate
from citeverifier.server.limits import Refused, check_answers, check_pairs, with_limits
from citeverifier.server.metrics import Metrics
from citeverifier.server.settings import Settings
from citeverifier.text.language import guess_language
from citeverifier.verifiers.base import Listing

if TYPE_CHECKING:
    from citeverifier.answers.facade import CiteVerifier

_PAGE = Path(__file__).parent / "page"
_ASKED = errors(401, 408, 413, 422, 500, 503, 504)
_CHARACTERS = 100  # of an answer: about a statement


def create_app(verifier: CiteVerifier, settings: Settings | None = None) -> FastAPI:
    """An app that answers with the verifier. Its thread runs until the app's lifespan ends."""
    settings = settings or Settings()
    batcher = Batcher(
        _asker(verifier), settings.batch_wait, settings.batch_pairs, settings.max_queue,
        lambda jobs, pairs: metrics.batch(jobs, pairs),
    )  # fmt: skip
    metrics = Metrics(lambda: len(batcher))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(batcher.close, settings.timeout)

    app = FastAPI(
        title="CiteVerifier",
        version=citeverifier.__version__,
        description="Do these documents support what an answer says and cites? See docs/serve.md.",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )

    async def ask(kind: tuple[Any, ...], items: Sequence[Any], pairs: int) -> list[Any]:
        future = batcher.submit(Job(kind, items, pairs))
        return await asyncio.wait_for(asyncio.wrap_future(future), settings.timeout)

    async def ask_answers(kind: tuple[Any, ...], request: contract.VerifyRequest) -> JSONResponse:
        check_answers(request.items, settings)
        pairs = sum(max(1, len(i.documents)) * (1 + len(i.answer) // _CHARACTERS) for i in request.items)
        return JSONResponse({"results": await ask(kind, [_record(i, settings.lang) for i in request.items], pairs)})

    @app.post("/v1/score", response_model=contract.ScoreResponse, responses=_ASKED)
    async def score(request: contract.ScoreRequest) -> Response:
        """P(support >= level) of statements, each with the documents it is checked against."""
        check_pairs(request.items, settings)
        level = Support.parse(request.level)
        results = await ask(
            ("score", level), [_question(item, settings.lang) for item in request.items], len(request.items)
        )
        return JSONResponse({"level": level.label, "threshold": verifier.thresholds[level], "results": results})

    @app.post("/v1/verify", response_model=contract.VerifyResponse, responses=_ASKED)
    async def verify(request: contract.VerifyRequest) -> Response:
        """What the cited documents of each statement support, and what is missing or superfluous."""
        return await ask_answers(("verify",), request)

    @app.post("/v1/cite", response_model=contract.RewriteResponse, responses=_ASKED)
    async def cite(request: contract.CiteRequest) -> Response:
        """The answers with citations added to the statements that have none."""
        return await ask_answers(("cite",), request)

    @app.post("/v1/fix", response_model=contract.RewriteResponse, responses=_ASKED)
    async def fix(request: contract.FixRequest) -> Response:
        """The answers with the citations that they have corrected."""
        return await ask_answers(("fix", request.count), request)

    @app.get("/health", response_model=contract.Health, responses=errors(503))
    async def health() -> Response:
        """Whether requests are answered; needs no token."""
        if not batcher.alive:
            raise Busy("the server is stopping")
        thresholds = {level.label: value for level, value in verifier.thresholds.items()}
        return JSONResponse(
            {
                "status": "ok",
                "verifier": verifier.scorer.name,
                "version": citeverifier.__version__,
                "thresholds": thresholds,
                "queue": len(batcher),
            }
        )

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}, **errors(401)})
    async def read_metrics() -> Response:
        """Counts for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_PAGE / "index.html")

    app.mount("/page", StaticFiles(directory=_PAGE))
    _answer_errors(app, settings)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )  # fmt: skip
            app.openapi_schema = with_limits(made, settings)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    routes = {route.path for route in app.routes if hasattr(route, "path")}
    app.add_middleware(Gate, settings=settings, metrics=metrics, routes=routes)
    return app


def _asker(verifier: CiteVerifier) -> Ask:
    judge = Judge(verifier.scorer, verifier.thresholds)

    def ask(kind: Any, items: Sequence[Any]) -> Sequence[Any]:
        match kind:
            case ("verify",):
                return [result.to_dict() for result in verifier.verify_records(items)]
            case ("cite",):
                return [result.to_dict() for result in verifier.cite_records(items)]
            case ("fix", count):
                return [result.to_dict() for result in verifier.fix_records(items, count)]
            case ("score", level):
                return [_scored(*found, judge.thresholds[level]) for found in judge.scores(items, level)]
        raise AssertionError(kind)

    return ask


def _scored(score: float, reason: str | None, threshold: float) -> dict[str, Any]:
    if reason is not None:
        return {"score": None, "reaches": None, "reason": reason}
    return {"score": score, "reaches": score >= threshold, "reason": None}


def _documents(documents: Sequence[contract.DocumentIn]) -> tuple[Document, ...]:
    return tuple(Document(document.title, document.text, document.score) for document in documents)


def _record(item: contract.AnswerIn, lang: str | None) -> AnswerRecord:
    return AnswerRecord(item.answer, _documents(item.documents), item.question, item.lang or lang, item.id)


def _question(item: contract.PairIn, lang: str | None) -> Listing:
    said = item.lang or lang or guess_language(item.statement)
    return Listing(item.statement, _documents(item.documents), said, item.context)


def _answer_errors(app: FastAPI, settings: Settings) -> None:
    """Every error has the contract's shape."""

    def answer(status: int, code: str, message: str, **headers: str) -> JSONResponse:
        return JSONResponse(contract.error_body(code, message), status, headers)

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return answer(422, "invalid", str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return answer(422, "invalid", _told(error))

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> JSONResponse:
        return answer(503, "busy", f"{error}; come back in a second", **{"Retry-After": "1"})

    @app.exception_handler(TimeoutError)
    async def timeout(_: Request, error: TimeoutError) -> JSONResponse:
        return answer(504, "timeout", f"no answer within {settings.timeout:g} s; send fewer items a request")

    @app.exception_handler(Failed)
    async def failed(_: Request, error: Failed) -> JSONResponse:
        message = f"the verifier failed on this request ({error}); the server's log has the details"
        return answer(500, "failed", message)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        message = f"the server failed on this request ({type(error).__name__}); its log has the details"
        return answer(500, "failed", message)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # a body that is no text
            return answer(422, "invalid", f"the body: expected JSON in UTF-8, came something else ({error.detail})")
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid")
        message = f"{request.method} {request.url.path}: {error.detail}; GET /openapi.json lists what there is"
        return answer(error.status_code, code, message, **(error.headers or {}))


def _told(error: RequestValidationError) -> str:
    """ "items[0].documents[1].text: Field required", at most three of them."""
    found = [_problem(problem) for problem in error.errors()]
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def _problem(problem: dict[str, Any]) -> str:
    kind, came = problem["type"], problem.get("input")
    if kind == "json_invalid":
        return f"the body: expected JSON, came something else at character {problem['loc'][-1]}"
    if isinstance(came, bytes):
        return "the body: expected the header 'Content-Type: application/json', came another one or none"
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"][1:])
    message = problem["msg"].removeprefix("Value error, ")
    told = "" if kind in ("missing", "value_error") else f", came {_shown(came)}"
    return f"{where.lstrip('.') or 'the body'}: {message}{told}"


def _shown(value: Any) -> str:
    """A short value as JSON would print it; of others the type."""
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return {"str": "a string", "list": "a list", "dict": "an object"}.get(type(value).__name__, type(value).__name__)
