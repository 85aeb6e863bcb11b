"""The endpoints, put together: what `malaprop serve` runs."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from malaprop._version import __version__
from malaprop.ledger import LOCAL, Ledger
from malaprop.ledger import Request as Repeated
from malaprop.privacy.errors import LedgerError, MalapropError, ParameterError
from malaprop.server import explore, models, plane, work
from malaprop.server.engine import Engine
from malaprop.server.jobs import Jobs
from malaprop.server.keys import KeyStore
from malaprop.server.problems import MEDIA_TYPE, Problem, busy, invalid, of_library, of_validation
from malaprop.server.security import PUBLIC, Caller, Gate, caller_of
from malaprop.server.settings import ENVIRONMENT, Settings
from malaprop.server.telemetry import Log, Metrics, quiet
from malaprop.server.web_page import add_page

_FORGET_SECONDS: Final = 600.0
_PARTS: Final = "#/components/schemas/"
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    each: {"description": text, "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_PARTS}Problem"}}}}
    for each, text in (("4XX", "The request is refused; see `type`."), ("5XX", "Try again later."))
}
_BYTES: Final[dict[str, Any]] = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
}


class Service:
    """All that the endpoints share, in one process."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self.settings, self.log, self.metrics = settings, log, Metrics()
        self.engine = Engine(settings)
        self.jobs = Jobs(settings, log, self.metrics)
        self.stopping = False
        self._ledger: Ledger | None = None
        self._keys: KeyStore | None = None
        self.metrics.gauge(
            "malaprop_waiting_requests",
            "Requests that wait for a thread or work in one.",
            lambda: self.engine.waiting,
        )

    async def start(self) -> None:
        """Open all that requests need; the service is not ready before."""
        self.settings.make_folder()
        await asyncio.to_thread(self._open)
        self.jobs.is_valid = self._is_valid
        self.jobs.start()
        self._forgetting = asyncio.create_task(self._forget())
        self.log.write("ready", malaprop=__version__, pid=os.getpid())

    def _open(self) -> None:
        url, secret = self.settings.database_url, self.settings.secret or None
        self._ledger, self._keys = Ledger.open(url, secret=secret), KeyStore(url)
        self.engine.open()

    async def _forget(self) -> None:
        """Delete, now and then, the answers to repeated requests that have expired."""
        while True:
            try:
                await asyncio.to_thread(self.ledger.forget_answers)
            except MalapropError as error:
                self.log.failure(error)
            await asyncio.sleep(_FORGET_SECONDS)

    @property
    def ledger(self) -> Ledger:
        """The open ledger."""
        if self._ledger is None:
            raise busy("The service is starting.")
        return self._ledger

    @property
    def keys(self) -> KeyStore:
        """The open store of keys."""
        if self._keys is None:
            raise busy("The service is starting.")
        return self._keys

    async def caller(self, key: str) -> Caller | None:
        """Return who has a key."""
        return await self.keys.caller(key)

    def _is_valid(self, key: str) -> bool:
        return key == LOCAL or self.keys.is_valid(key)

    async def stop(self) -> None:
        """Finish what is under way, and close everything."""
        self.stopping = True
        self._forgetting.cancel()
        await self.jobs.stop()
        await asyncio.to_thread(self.engine.close)
        self.ledger.close()
        self.keys.close()
        self.log.write("stopped", pid=os.getpid())


def create_app(settings: Settings, log: Log | None = None) -> Gate:
    """Return the service as an ASGI application."""
    service = Service(settings, log or Log())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    app = FastAPI(
        title="Malaprop",
        version=__version__,
        summary="Private text under metric differential privacy, with budgets that add up.",
        lifespan=lifespan,
        docs_url=None,  # both load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses=_PROBLEMS,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    _handle_errors(app)
    _describe(app, settings)
    _health(app, service)
    _measures(app, service)
    _releases(app, service)
    _files(app, service)
    _explore(app, service)
    gate = Gate(app, settings, service, service.log, service.metrics)
    gate.open_paths = PUBLIC | add_page(app)
    gate.service = service
    return gate


def from_environment() -> Gate:
    """Return the service for a worker process that `malaprop serve` started."""
    log = Log()
    quiet(log)
    return create_app(Settings.from_json(os.environ[ENVIRONMENT]), log)


def answer(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer of JSON."""
    body = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(body, status, dict(headers or {}), "application/json")


def _handle_errors(app: FastAPI) -> None:
    def problem(request: Request, error: Problem) -> Response:
        failed = error.__context__
        if error.name == "busy" and isinstance(failed, LedgerError):  # the operator must know
            request.app.state.service.log.failure(failed, request=request.state.request_id)
        request.app.state.service.metrics.count("malaprop_refused_total", problem=error.name)
        return error.response()

    async def ours(request: Request, error: Exception) -> Response:
        return problem(request, error)  # type: ignore[arg-type]  # registered for it

    async def http(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 500)
        headers = getattr(error, "headers", None)
        if status == 404:
            return problem(request, Problem("not-found", "No endpoint has this path."))
        if status == 405:
            detail = "This endpoint takes another method: see the header Allow."
            return problem(request, Problem("wrong-method", detail, headers=headers))
        detail = "The body must be one JSON document, in UTF-8."
        return problem(request, Problem("not-json", detail))

    async def invalid(request: Request, error: Exception) -> Response:
        errors = error.errors() if isinstance(error, RequestValidationError) else ()
        return problem(request, of_validation(errors, models.FIELDS))

    async def library(request: Request, error: Exception) -> Response:
        request.app.state.service.log.failure(error, request=request.state.request_id)
        known = error if isinstance(error, LedgerError) else MalapropError()
        return problem(request, of_library(known))

    async def unexpected(request: Request, error: Exception) -> Response:
        request.app.state.service.log.failure(error, request=request.state.request_id)
        detail = f"The service's log has it as request {request.state.request_id}."
        return problem(request, Problem("internal", detail))

    app.add_exception_handler(Problem, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(MalapropError, library)
    app.add_exception_handler(Exception, unexpected)


def _describe(app: FastAPI, settings: Settings) -> None:
    """Have OpenAPI name what this service has, and how it answers to keys."""
    made = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema:
            return app.openapi_schema
        schema = made()
        parts = schema["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            parts.pop(name, None)
        problem = models.Problem.model_json_schema(ref_template=_PARTS + "{model}")
        parts |= problem.pop("$defs")
        parts["Problem"] = problem
        for part in parts.values():
            for name, known in (
                ("mechanism", settings.mechanisms),
                ("lexicon", settings.lexicons),
            ):
                field = part.get("properties", {}).get(name)
                if field and field.get("type") == "string":
                    field["enum"] = list(known)
        for path, methods in schema["paths"].items():
            for operation in methods.values():
                operation["responses"].pop("422", None)
                if path not in PUBLIC and settings.needs_keys:
                    operation["security"] = [{"key": []}]
        schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        return schema

    app.openapi = described  # type: ignore[method-assign]


def _health(app: FastAPI, service: Service) -> None:
    @app.get("/v1/health", response_model=models.StateAnswer, tags=["operations"])
    async def health() -> Response:
        """Tell that the service is alive."""
        return answer({"status": "alive", "malaprop": __version__})

    @app.get("/v1/ready", response_model=models.StateAnswer, tags=["operations"])
    async def ready() -> Response:
        """Tell whether the service can answer: its lexicons are open, and it is not stopping."""
        if service.stopping or not service.engine.is_ready:
            raise Problem("busy", "The service is not ready.", retry_after=1.0)
        try:
            await asyncio.to_thread(service.ledger.check)
        except LedgerError as error:
            raise of_library(error) from None
        return answer({"status": "ready", "malaprop": __version__})

    @app.get("/metrics", include_in_schema=False)  # where Prometheus looks by itself
    @app.get(
        "/v1/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        tags=["operations"],
    )
    async def metrics(request: Request) -> Response:
        """Return the counts of the process that answers, in Prometheus' text format."""
        caller_of(request.scope).require("metrics")
        text = service.metrics.render()
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _measures(app: FastAPI, service: Service) -> None:
    engine = service.engine

    def reader(request: Request) -> Caller:
        caller = caller_of(request.scope)
        caller.require("read")
        return caller

    @app.get("/v1/mechanisms", response_model=models.MechanismsAnswer, tags=["measures"])
    async def mechanisms(request: Request) -> Response:
        """List the mechanisms that requests may name."""
        return answer({"mechanisms": work.mechanisms(service.settings.mechanisms, reader(request))})

    @app.get("/v1/lexicons", response_model=models.LexiconsAnswer, tags=["measures"])
    async def lexicons(request: Request) -> Response:
        """List the lexicons that requests may name."""
        reader(request)
        return answer({"lexicons": work.lexicons(engine)})

    @app.post("/v1/explain", response_model=models.ExplainAnswer, tags=["measures"])
    async def explain(body: models.ExplainRequest, request: Request) -> Response:
        """Show what a word may become, and what an observer can infer; for one ε or several."""
        reader(request)
        return answer({"explanations": await engine.measure(work.explanations, engine, body)})

    @app.post("/v1/calibrate", response_model=models.CalibrateAnswer, tags=["measures"])
    async def calibrate(body: models.CalibrateRequest, request: Request) -> Response:
        """Find the largest ε that keeps to a target."""
        reader(request)
        return answer(await engine.measure(work.calibration, engine, body))

    @app.post("/v1/guarantee", response_model=models.GuaranteeAnswer, tags=["measures"])
    async def guarantee(body: models.GuaranteeRequest, request: Request) -> Response:
        """Tell what would be promised, and how much of a text would stay."""
        reader(request)
        return answer(await engine.measure(work.guarantee, engine, body))

    @app.post("/v1/page/plane", include_in_schema=False)
    async def draw_in_plane(body: models.PlaneRequest, request: Request) -> Response:
        """Draw a word of a small public lexicon in two dimensions, to be shown as a picture."""
        reader(request)
        return answer(await engine.measure(plane.drawn, body))


def _releases(app: FastAPI, service: Service) -> None:
    engine = service.engine

    @app.post("/v1/privatize", response_model=models.PrivatizeAnswer, tags=["releases"])
    async def privatize(body: models.PrivatizeRequest, request: Request) -> Response:
        """Privatize texts: debit the budget, then draw."""
        caller = caller_of(request.scope)
        caller.require("privatize")
        caller.check(body.mechanism, body.epsilon, body.kind_epsilon)
        repeated = await _repeated(request)
        done = await engine.run(work.privatized, engine, service.ledger, body, caller, repeated)
        service.metrics.count("malaprop_texts_total", done.texts)
        headers = {"Idempotency-Replayed": "true"} if done.replayed else None
        return Response(done.body, headers=headers, media_type="application/json")

    @app.post("/v1/budget", response_model=models.BudgetAnswer, tags=["releases"])
    async def budget(body: models.BudgetRequest, request: Request) -> Response:
        """Show what has been spent on a subject, or on the key's own account, and what is left."""
        caller = caller_of(request.scope)
        caller.require("budget")
        return answer(await engine.run(work.budget, service.ledger, body, caller))


def _explore(app: FastAPI, service: Service) -> None:
    engine = service.engine

    @app.post("/v1/page/draw", response_model=models.PageAnswer, tags=["page"])
    async def draw_beside(body: models.PageRequest, request: Request) -> Response:
        """Draw one text part by part beside itself: debit the budget, then draw."""
        caller = caller_of(request.scope)
        caller.require("privatize")
        caller.check(body.mechanism, body.epsilon, body.kind_epsilon)
        return answer(await engine.run(explore.drawn_beside, engine, service.ledger, body, caller))

    @app.post("/v1/page/neighbourhood", response_model=models.NeighbourhoodAnswer, tags=["page"])
    async def neighbourhood(body: models.NeighbourhoodRequest, request: Request) -> Response:
        """Show the words within two steps of a word, how likely each is, and what joins them."""
        caller_of(request.scope).require("read")
        return answer(await engine.measure(explore.neighbourhood, engine, body))


async def _repeated(request: Request) -> Repeated | None:
    """Return what tells a retry from a new request; None without the header."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    try:
        return Repeated(key, await request.body())
    except ParameterError:
        raise invalid("Idempotency-Key", "must have 1 to 255 printable characters") from None


def _files(app: FastAPI, service: Service) -> None:
    jobs = service.jobs

    def owner(request: Request) -> Caller:
        caller = caller_of(request.scope)
        caller.require("files")
        return caller

    @app.post("/v1/files", status_code=201, response_model=models.FileAnswer, tags=["files"])
    async def create_file(body: models.FileRequest, request: Request) -> Response:
        """Announce a file: how to read and to privatize it. Then upload it."""
        caller = owner(request)
        caller.check(body.mechanism, body.epsilon, body.kind_epsilon)
        work.check_file(service.engine, body)
        job = jobs.create(body, caller)
        return answer(job.view(), 201, {"Location": f"/v1/files/{job.id}"})

    @app.get("/v1/files", response_model=models.FilesAnswer, tags=["files"])
    async def list_files(request: Request) -> Response:
        """List your files that are here."""
        return answer({"files": [job.view() for job in jobs.of(owner(request))]})

    @app.put(
        "/v1/files/{id}/content",
        status_code=202,
        response_model=models.FileAnswer,
        openapi_extra={"requestBody": _BYTES},
        tags=["files"],
    )
    async def upload_file(id: str, request: Request) -> Response:  # noqa: A002
        """Upload the file itself, as its bytes."""
        job = jobs.find(id, owner(request))
        await jobs.upload(job, request.stream())
        return answer(job.view(), 202)

    @app.get("/v1/files/{id}", response_model=models.FileAnswer, tags=["files"])
    async def show_file(id: str, request: Request) -> Response:  # noqa: A002
        """Show how far a file is."""
        return answer(jobs.find(id, owner(request)).view())

    @app.get(
        "/v1/files/{id}/result",
        response_class=Response,
        responses={200: {"content": _BYTES["content"]}},
        tags=["files"],
    )
    async def download_file(id: str, request: Request) -> Response:  # noqa: A002
        """Download the private file."""
        path = jobs.result(jobs.find(id, owner(request)))
        return FileResponse(
            path, media_type="application/octet-stream", filename=f"private{path.name[6:]}"
        )

    @app.get("/v1/files/{id}/report", response_model=dict[str, Any], tags=["files"])
    async def report_file(id: str, request: Request) -> Response:  # noqa: A002
        """Return the report of the run, which is for the owner of the file."""
        return answer(jobs.report(jobs.find(id, owner(request))))

    @app.delete("/v1/files/{id}", status_code=204, response_class=Response, tags=["files"])
    async def remove_file(id: str, request: Request) -> Response:  # noqa: A002
        """Cancel a file that is under way, or remove one that is done."""
        jobs.cancel(jobs.find(id, owner(request)))
        return Response(status_code=204)
