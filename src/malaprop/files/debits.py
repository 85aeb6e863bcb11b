"""Debits of a ledger for batches of records, before they are drawn.

A batch is debited in one transaction, under a name that follows from its run and its content. A run
that is resumed, or a task that is tried again, debits it no second time, and draws it again if what
was drawn is lost: nobody has seen it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from malaprop.files.formats.file_format import REMEDY, Layout, OnError, Owners
from malaprop.ledger import LOCAL, Batch, BudgetError, Ledger, OnRefusal, Prices
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.privatizer import Privatizer

_UNNAMED = "names no subject in the column that has them"
_SPENT = "is over a limit of the ledger"


def debits_of(
    ledger: Ledger | str | None,
    column: str | None,
    subject: str | None,
    on_error: OnError,
    *,
    key: str = LOCAL,
    numbered: bool = True,
) -> "Debits | None":
    """Open the ledger of a run, if it has one; return what the run debits."""
    if ledger is None:
        for name, value in (("subject_column", column), ("subject", subject)):
            if value is not None:
                raise ParameterError(f"`{name}` says whom a `ledger` debits: name that, too")
        return None
    if column is not None and subject is not None:
        raise ParameterError("the subjects are those of a `subject_column`, or one `subject`")
    opened = Ledger.open(ledger) if isinstance(ledger, str) else ledger
    if subject is not None:
        opened.check_subject(subject)
    return Debits(
        ledger=opened,
        key=key,
        column=column,
        subject=subject,
        on_error=on_error,
        numbered=numbered,
    )


class OwnedTexts(NamedTuple):
    """The texts of a batch, and whom they are about."""

    texts: list[str]
    owners: Owners
    run: str
    """A name for the batch in its run;"""
    before: int = 0
    """and how many records come before it."""


@dataclass(frozen=True, kw_only=True)
class Debits:
    """What a run debits, and where."""

    ledger: Ledger
    key: str = LOCAL
    column: str | None = None
    """The column of subjects; without one, all texts are about one"""
    subject: str | None = None
    """subject, or about the key's own account."""
    on_error: OnError = "fail"
    numbered: bool = True
    """Whether the numbers of records are known, as they are not in a part of a file."""
    _prices: dict[int, Prices] = field(default_factory=dict, repr=False, compare=False)

    def check(self, layout: Layout) -> None:
        """Refuse a format from which refused records cannot be left out."""
        if self.on_error == "skip" and not layout.kind.drops:
            raise ParameterError(
                f"records of {layout.format} cannot be left out when a limit refuses them: use "
                '`on_error="mask"` with this `ledger`'
            )

    def facts(self) -> list[str | None]:
        """Return what a resumed run must have in common with the one before."""
        return [self.ledger.name, self.key, self.column, self.subject]

    def batch(
        self, privatizer: Privatizer, owned: OwnedTexts
    ) -> tuple[list[str | None], dict[str, int]]:
        """Debit the records of a batch, and draw them; None stands for texts that were refused.

        With `on_error="fail"`, raise the error of the first record that is refused.
        """
        prices = self._prices.get(id(privatizer))
        if prices is None:
            prices = self._prices[id(privatizer)] = Prices(privatizer)
        draws = privatizer.most_draws(owned.texts)
        of_row: dict[int, list[Mapping[str, int]]] = {}
        for row, most in zip(owned.owners.rows, draws, strict=True):
            of_row.setdefault(row, []).append(most)
        named = [row for row in of_row if self._is_named(owned.owners.labels[row])]
        if len(named) < len(of_row) and self.on_error == "fail":
            first = min(of_row.keys() - set(named))
            raise DataError(f"{self._record(owned, first)} {_UNNAMED}{REMEDY}")
        batch = Batch(
            id=_name(owned),
            subjects=[self._subject(owned.owners.labels[row]) for row in named],
            charges=[prices.of(of_row[row]) for row in named],
            refusal=OnRefusal.ALL if self.on_error == "fail" else OnRefusal.EACH,
        )
        try:
            results = self.ledger.debit_batch(batch, key=self.key)
        except BudgetError as error:
            record = self._record(owned, named[error.position or 0])
            error.args = (f"{record} {_SPENT}: {str(error).rstrip('.')}{REMEDY}",)
            raise
        drawn = {row for row, refused in zip(named, results, strict=True) if refused is None}
        rows = owned.owners.rows
        kept = [text for text, row in zip(owned.texts, rows, strict=True) if row in drawn]
        private, counts = privatizer.batch(kept)
        texts = iter(private)
        return [next(texts) if row in drawn else None for row in rows], counts

    def reasons(self, owners: Owners, private: Sequence[str | None]) -> dict[int, str]:
        """Say of each row that was refused why."""
        return {
            row: _SPENT if self._is_named(owners.labels[row]) else _UNNAMED
            for row, text in zip(owners.rows, private, strict=True)
            if text is None
        }

    def _record(self, owned: OwnedTexts, row: int) -> str:
        if not self.numbered:
            return "a record"
        return f"record {owned.before + owned.owners.numbers[row]:,}"

    def _is_named(self, label: str) -> bool:
        if self.column is None:
            return True
        try:
            self.ledger.check_subject(label)
        except ParameterError:
            return False
        return True

    def _subject(self, label: str) -> str | None:
        return self.subject if self.column is None else label


def _name(owned: OwnedTexts) -> str:
    digest = hashlib.blake2b(digest_size=32)
    for text in (*owned.owners.labels, *owned.texts):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return f"{owned.run} {digest.hexdigest()}"
