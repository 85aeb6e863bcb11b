"""What a ledger answers: receipts, budgets, limits; and what it is asked with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Literal

from malaprop.ledger.accounts import ZERO, Account, Amounts, Charge, left_of
from malaprop.privacy.errors import ParameterError

Scope = Literal["subject", "key", "total"]
"""Whose releases add up: those about a subject, with a key, or all in the ledger."""


@dataclass(frozen=True)
class Request:
    """A request that may be repeated: the key that its sender chose, and its body, byte by byte."""

    idempotency_key: str = field(repr=False)
    body: bytes = field(repr=False)

    def __post_init__(self) -> None:
        name = self.idempotency_key
        if not isinstance(name, str) or not 0 < len(name) <= 255 or not name.isprintable():
            raise ParameterError(
                "An `idempotency_key` must be a string of 1 to 255 printable characters."
            )


@dataclass(frozen=True, kw_only=True)
class Line:
    """One account of an owner: what it has lost, and how much its limit leaves."""

    account: Account
    spent: Amounts
    limit: Decimal | None = None
    """The limit of its ε; None if there is none."""
    releases: int = 0

    @property
    def remaining(self) -> Decimal | None:
        """What the limit leaves of ε; None without a limit."""
        return None if self.limit is None else left_of(self.limit, self.spent.epsilon)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What has been released about a subject, by a key, or in all.

    The limit holds for each account by itself. `spent` is the largest Σε of an account, and
    `remaining` what the limit leaves there.
    """

    scope: Scope
    lines: tuple[Line, ...]
    limit: Decimal | None
    delta_limit: Decimal | None = None

    @property
    def spent(self) -> Decimal:
        """The largest Σε over the accounts."""
        return max((line.spent.epsilon for line in self.lines), default=ZERO)

    @property
    def remaining(self) -> Decimal | None:
        """What the limit leaves in the account that has spent most; None without a limit."""
        return None if self.limit is None else left_of(self.limit, self.spent)

    @property
    def statement(self) -> str:
        """Say what the amount bounds, and what it does not."""
        return statement(self.scope)

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as plain values for JSON; amounts are strings, as they are exact."""
        return {
            "scope": self.scope,
            "spent": f"{self.spent:f}",
            "limit": _told(self.limit),
            "remaining": _told(self.remaining),
            "accounts": [
                {
                    **line.account.to_dict(),
                    **line.spent.texts(),
                    "limit": _told(line.limit),
                    "remaining": _told(line.remaining),
                    "releases": line.releases,
                }
                for line in self.lines
            ],
            "statement": self.statement,
        }


_ABOUT: Final[Mapping[Scope, tuple[str, str]]] = {
    "subject": ("about one word of this subject", "under another subject"),
    "key": ("made with this key lose about one word", "with another key"),
    "total": ("in this ledger lose about one word", "in another ledger"),
}


def statement(scope: Scope) -> str:
    """Say what the ε of an account bounds, and what it does not."""
    if scope == "subject":
        lose = "all releases together lose about one word of this subject"
    else:
        lose = f"all releases {_ABOUT[scope][0]}"
    return (
        f"E bounds, per unit of distance, what {lose}, replaced wherever it stands (with one draw "
        "a document: by a word that does not stand elsewhere in that text). Different words "
        "compose as one longer text: their losses add up and are not limited here. A fact told in "
        f"several words, or {_ABOUT[scope][1]}, is not covered. A limit counts by account: words "
        "under one lexicon, and each kind of values, have a budget of their own. Budgets are "
        "never reset by time."
    )


def _told(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a debit has taken, and what is left; amounts are in ε, exact.

    `price`, `spent` and `remaining` are those of the account that has spent most, of the subject,
    or of the key if no subject was named. The ledger knows the subject as a hash only, and the
    receipt not at all.
    """

    id: str
    """The name of the debit; empty for a price that was only asked for."""
    price: Decimal
    spent: Decimal
    remaining: Decimal | None
    """What the limit leaves; None without a limit."""
    scope: Scope = "subject"
    accounts: tuple[Line, ...] = ()
    """The accounts that the release debits, each with its price as `spent`."""
    replayed: bool = False
    """Whether the same request was debited before: nothing was debited again."""
    answered: bool = False
    """Whether that request was answered: then nothing may be drawn again."""

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain values for JSON; amounts are strings, as they are exact."""
        return {
            "id": self.id,
            "price": f"{self.price:f}",
            "spent": f"{self.spent:f}",
            "remaining": _told(self.remaining),
            "scope": self.scope,
            "accounts": [
                {"account": str(line.account), **line.spent.texts()} for line in self.accounts
            ],
            "replayed": self.replayed,
        }


@dataclass(frozen=True)
class Limit:
    """The largest Σε, and the largest Σδ, of each account of an owner."""

    epsilon: Decimal | None = None
    delta: Decimal | None = None


class Finding(str):
    """Something in a ledger that is not as it should be, in a sentence."""

    __slots__ = ()


class OnRefusal(Enum):
    """What becomes of a batch of records of which one is over its limit."""

    ALL = "refuse the batch"
    EACH = "refuse the record"


@dataclass(frozen=True)
class Batch:
    """Several records to debit in one transaction, each for a subject of its own.

    `id` names the batch in its run: debited once, it is never debited again. It must name the
    content, too.
    """

    id: str
    subjects: Sequence[str | None] = field(repr=False)
    charges: Sequence[Charge] = field(repr=False)
    refusal: OnRefusal = OnRefusal.ALL
