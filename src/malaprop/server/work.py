"""What the endpoints compute, from checked bodies to plain values: no HTTP here."""

import io
import json
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from malaprop.files.formats import FileCopy, Layout
from malaprop.ledger import Ledger, Receipt, Request
from malaprop.measure.calibration import calibrate
from malaprop.measure.profile import context_figure
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.errors import DataError, MalapropError
from malaprop.report.explanation import explained_by
from malaprop.server.engine import Drawn, Engine, Entities, Ready, compact
from malaprop.server.models import (
    BudgetRequest,
    CalibrateRequest,
    Entity,
    ExplainRequest,
    FileRequest,
    GuaranteeRequest,
    Options,
    PrivatizeRequest,
    Reading,
)
from malaprop.server.problems import Problem, invalid, library_errors
from malaprop.server.security import Caller
from malaprop.text.policy import Policy

_DEEPEST: Final = 100  # levels of a record


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A body to send, how many texts are in it, and whether it was sent before."""

    body: bytes
    texts: int
    replayed: bool = False


def privatized(
    engine: Engine,
    ledger: Ledger,
    request: PrivatizeRequest,
    caller: Caller,
    repeated: Request | None,
) -> Answer:
    """Debit the budget, then draw; return the answer.

    With an idempotency key, `repeated`, it is kept before it is sent, and a retry gets the same.
    """
    source = _source(request, engine.limits.texts)
    there = [text for text in source.texts if text is not None]
    labels = [each.label for found in request.entities or () for each in found or ()]
    with library_errors(*request.written, *labels, *there):
        with engine.cores:
            ready = engine.ready(request)
            charge = ready.prices.of(
                ready.privatizer.most_draws(there, entities=source.entities_there)
            )
        receipt = ledger.debit(
            charge,
            subject=request.subject,
            key=caller.id,
            dry_run=request.dry_run,
            request=repeated,
        )
        if repeated is not None and receipt.answered:
            stored = ledger.stored_answer(repeated, key=caller.id)
            body = _body(ready, receipt, None, replayed=True) if stored is None else stored
            return Answer(body=body, texts=0, replayed=True)
        if request.dry_run:
            return Answer(body=_body(ready, receipt, None), texts=0)
        body = _body(ready, receipt, ready.draw(source.texts, source.entities), source)
        if repeated is not None:
            body = ledger.store_answer(repeated, body, key=caller.id)
    return Answer(body=body, texts=len(there))


def _body(
    ready: Ready,
    receipt: Receipt,
    drawn: Drawn | None,
    source: "_Source | None" = None,
    *,
    replayed: bool = False,
) -> bytes:
    """Write an answer; without what was drawn, one that holds no texts."""
    told: dict[str, Any] = {"texts": None, "receipt": told_receipt(receipt), "replayed": replayed}
    told["warnings"] = [] if drawn is None else drawn.warnings
    if drawn is not None and source is not None:
        if source.copy is None:
            told["texts"] = drawn.texts
        else:
            told["records"] = source.filled([text for text in drawn.texts if text is not None])
    guarantee = ready.guarantee(1) if drawn is None else drawn.guarantee
    return f'{compact(told)[:-1]},"guarantee":{guarantee},{ready.told}}}'.encode()


def told_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as it is answered; a dry run has no id."""
    return receipt.to_dict() | {"id": receipt.id or None}


class _Source:
    """The texts of a request, and for records, where they are."""

    def __init__(self, texts: list[str | None], entities: Entities = None) -> None:
        self.texts, self.entities = texts, entities
        self.copy: FileCopy | None = None
        self.batches: list[Any] = []
        self.target = io.BytesIO()

    @property
    def entities_there(self) -> Entities:
        """The entities of those texts that are not missing."""
        if self.entities is None:
            return None
        pairs = zip(self.texts, self.entities, strict=True)
        return [found for text, found in pairs if text is not None]

    def filled(self, private: list[str]) -> list[Any]:
        """Return the records with private texts."""
        if self.copy is None:
            raise RuntimeError("the texts come from no records")
        for batch in self.batches:
            count = len(batch.texts)
            self.copy.write(batch, private[:count])
            private = private[count:]
        self.copy.finish()
        return [json.loads(line) for line in self.target.getvalue().splitlines()]


def _source(request: PrivatizeRequest, most: int) -> _Source:
    """Return the texts of a request; refuse too many."""
    if request.records is not None:
        source = _from_records(request.records, request.paths or [])
    else:
        texts = request.texts if request.texts is not None else [request.text]
        source = _Source(texts, _found(request.entities))
    if len(source.texts) > most:
        raise Problem("too-large", f"A request may hold {most:,} texts at most.")
    return source


def _found(entities: list[list[Entity] | None] | None) -> Entities:
    if entities is None:
        return None
    return [
        None if own is None else [(each.start, each.end, each.label) for each in own]
        for own in entities
    ]


def _from_records(records: list[dict[str, Any]], paths: list[str]) -> _Source:
    """Find the texts of records, as files of JSON lines have them."""
    if not records or not paths:
        raise invalid("records", "must hold a record, and paths must name where its texts are")
    if not all(_is_shallow(record, _DEEPEST) for record in records):
        raise invalid("records", f"must be nested {_DEEPEST} levels deep at most")
    try:
        lines = b"".join(f"{compact(record)}\n".encode() for record in records)
    except ValueError:
        raise invalid(
            "records", "must hold finite numbers, and no halves of surrogate pairs"
        ) from None
    layout = Layout(format="jsonl", columns=tuple(paths))
    source = _Source([])
    try:
        reader = layout.open(io.BytesIO(lines))
        source.copy = FileCopy(reader, source.target)
        source.batches = list(source.copy.batches())
    except MalapropError as error:
        raise _bad_record(error) from None
    source.texts = [text for batch in source.batches for text in batch.texts]
    return source


def _is_shallow(value: object, levels: int) -> bool:
    """Whether a value of JSON can be written again: Python writes about a thousand levels."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in inner)


def _bad_record(error: MalapropError) -> Problem:
    """Say which record is wrong; the message itself names paths and keys, which may be data."""
    if isinstance(error, DataError) and (number := re.search(r"record (\d+)", str(error))):
        place = f"records[{int(number[1]) - 1}]"
        return invalid(place, "has something else than a text where a path leads")
    return invalid("paths", "one of them leads nowhere in any record")


def mechanisms(listed: Iterable[str], caller: Caller) -> list[dict[str, Any]]:
    """List the mechanisms that a caller may name."""
    names = [n for n in listed if caller.mechanisms is None or n in caller.mechanisms]
    return [_mechanism(name) for name in names]


@lru_cache
def _mechanism(name: str) -> dict[str, Any]:
    cls = mechanism_named(name)
    return {
        "name": name,
        "summary": cls.summary(),
        "guarantee": cls.promise,
        "choose_for": cls.choose_for,
        "needs": cls.needs,
        "parameters": {
            field.name: field.default if isinstance(field.default, str | int | float) else None
            for field in cls.parameters()
            if field.default is not MISSING
        },
    }


def lexicons(engine: Engine) -> list[dict[str, Any]]:
    """List the lexicons that requests may name."""
    return [
        {
            "name": name,
            "fingerprint": lexicon.fingerprint,
            "words": len(lexicon),
            "dimensions": lexicon.vectors.shape[1],
            "metric": str(lexicon.metric),
        }
        for name, lexicon in engine.lexicons.items()
    ]


def explanations(engine: Engine, request: ExplainRequest) -> list[dict[str, Any]]:
    """Explain a word, once for each ε."""
    given = request.epsilons or [cast(float, request.epsilon)]
    options = {name: getattr(request, name) for name in Reading.model_fields}
    found = []
    with library_errors(*request.steps.values(), request.mechanism, request.lexicon, request.word):
        for epsilon in given:
            ready = engine.ready(Options(**options | {"epsilon": epsilon}), keep=False)
            explained = explained_by(ready.privatizer, request.word, top=request.top)
            found.append({"epsilon": epsilon} | explained.to_dict())
    return found


def calibration(engine: Engine, request: CalibrateRequest) -> dict[str, Any]:
    """Find the ε of a target; the last answers are kept, as they depend on public data alone."""
    return engine.remembered(request.model_dump_json(), lambda: _calibration(engine, request))


def _calibration(engine: Engine, request: CalibrateRequest) -> dict[str, Any]:
    with library_errors(request.mechanism, request.lexicon):
        lexicon, mechanism = engine.chosen(request.mechanism, request.lexicon, 1.0)
        like = None
        if request.like is not None:
            named = request.like
            other, rival = engine.chosen(named.mechanism, request.lexicon, named.epsilon)
            like = rival.on(other)
        found = calibrate(
            mechanism,
            lexicon,
            kept=request.kept,
            worst=request.worst,
            success=request.success,
            context=request.context,
            occurrences=request.occurrences,
            candidates=request.candidates,
            similarity=request.similarity,
            like=like,
        )
    facts = {"mechanism": replace(mechanism, epsilon=found.epsilon).to_dict()}
    return found.to_dict() | facts | {"lexicon": lexicon.to_dict()}


def guarantee(engine: Engine, request: GuaranteeRequest) -> dict[str, Any]:
    """Tell what would be promised, and how much of a text would stay."""
    with library_errors(*request.written):
        ready = engine.ready(request, keep=False)
        privatizer = ready.privatizer
        context = context_figure(privatizer.mechanism, privatizer.lexicon)
        return {
            "guarantee": json.loads(ready.guarantee(request.words)),
            "expected_share_unchanged": privatizer.keeping.share,
            "success": privatizer.guessed.share,
            "success_at_least": privatizer.guessed.at_least,
            "warnings": list(privatizer.warnings),
            "context": None if context is None else context.to_dict(),
            **{name: ready.facts[name] for name in ("mechanism", "lexicon", "policy")},
        }


def budget(ledger: Ledger, request: BudgetRequest, caller: Caller) -> dict[str, Any]:
    """Show the budget of a subject, or of the caller's key."""
    with library_errors(*filter(None, [request.subject])):
        if request.subject is None:
            return ledger.budget(key=caller.id).to_dict()
        return ledger.budget(subject=request.subject).to_dict()


def check_file(engine: Engine, request: FileRequest) -> None:
    """Refuse what no file could be privatized with, before it is uploaded."""
    written = (*request.written, *request.columns, request.encoding, request.delimiter or "")
    with library_errors(*written):
        engine.chosen(request.mechanism, request.lexicon, request.epsilon)
        Policy(**request.text_options())
        request.layout()
