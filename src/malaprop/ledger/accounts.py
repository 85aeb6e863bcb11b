"""What a release costs, and on which accounts: exact decimals, never rounded down.

Releases about one owner add up only if they are stated in the same unit, for the same mapped
values. An account is such a unit. Amounts are the decimal numbers that guarantees print, in units
of 10⁻¹⁸.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Final, TypedDict, Unpack

from malaprop.privacy.accounting import zcdp_epsilon
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import WORD, Guarantee, Kind
from malaprop.privacy.randomness import SECURE
from malaprop.privatizer import Privatizer
from malaprop.text.kinds.grammar import GRAMMAR_VERSION
from malaprop.text.word_map import MAP_VERSION

# Exact arithmetic: what does not fit is an error, and never rounded.

UNIT: Final = Decimal("1e-18")
LARGEST: Final = Decimal("1e40")
_EXACT: Final = Context(prec=200, traps=[InvalidOperation])
ZERO: Final = Decimal(0)


def exact(value: Decimal | float | str, name: str) -> Decimal:
    """Return a number of 0 or more as the decimal that it prints as, rounded up to 10⁻¹⁸.

    >>> exact(0.1, "limit"), exact("2.5", "limit")
    (Decimal('0.1'), Decimal('2.5'))
    """
    try:
        number = Decimal(repr(float(value)) if isinstance(value, float) else value)
    except (InvalidOperation, TypeError, ValueError):
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite() or not 0 <= number <= LARGEST:
        raise ParameterError(f"The {name} must be a number of 0 or more, and at most 1e40.")
    return plain(number.quantize(UNIT, ROUND_CEILING, _EXACT))


def left_of(limit: Decimal, spent: Decimal) -> Decimal:
    """Return what a limit leaves, exactly; never below 0.

    >>> left_of(Decimal(4), Decimal("2.5")), left_of(Decimal(1), Decimal(2))
    (Decimal('1.5'), Decimal('0'))
    """
    return ZERO if spent >= limit else plain(_EXACT.subtract(limit, spent))


def plain(number: Decimal) -> Decimal:
    """Return a number without zeros at its end, and without an exponent.

    >>> plain(Decimal("1.500")), plain(Decimal("3E+2"))
    (Decimal('1.5'), Decimal('300'))
    """
    if number.is_infinite() or not number:
        return abs(number) + 0 if number else ZERO
    short = number.normalize(_EXACT)
    return short.quantize(Decimal(1), context=_EXACT) if short == short.to_integral() else short


def _computed(value: float) -> Decimal:
    """Return an upper bound of a number that floats have computed; infinity stays."""
    return Decimal("Infinity") if math.isinf(value) else Decimal(repr(math.nextafter(value, 1e300)))


def _times(count: int, *factors: Decimal) -> Decimal:
    product = Decimal(count)
    for factor in factors:
        product = ZERO if not product or not factor else _EXACT.multiply(product, factor)
    if product > LARGEST:
        return Decimal("Infinity")
    return exact(product, "price")


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """What one release, or all of an account, has lost: sums over its releases."""

    epsilon: Decimal = ZERO
    """Σ ε, per unit of distance; without a distance, Σ ε for the pairs that are covered."""
    worst: Decimal = ZERO
    """Σ ε·γ: the most that it can be at any distance; infinite without a cut-off."""
    rho: Decimal = ZERO
    """Σ ρ per squared distance; infinite if it is not known."""
    delta: Decimal = ZERO
    """Σ δ."""

    def __post_init__(self) -> None:
        for name, amount in vars(self).items():
            if amount.is_nan() or amount < 0:
                raise ParameterError(f"The {name} of an amount must be 0 or more.")

    def __add__(self, other: "Amounts") -> "Amounts":
        return Amounts(
            epsilon=plain(_EXACT.add(self.epsilon, other.epsilon)),
            worst=plain(_EXACT.add(self.worst, other.worst)),
            rho=plain(_EXACT.add(self.rho, other.rho)),
            delta=plain(_EXACT.add(self.delta, other.delta)),
        )

    def loss(self, distance: float = 1.0, delta: float = 0.0) -> float:
        """Return the largest log-ratio between two values so far apart.

        With a `delta`, and if that is less, converted from Σ ρ: ρ·d² + 2·d·√(ρ·ln(1/δ)). That is
        no ε per unit of distance: it grows in another way.

        >>> tenths = Amounts(epsilon=Decimal(10), worst=Decimal("Infinity"), rho=Decimal("0.5"))
        >>> round(tenths.loss(1.0, delta=1e-6), 1), tenths.loss(1.0)
        (5.8, 10.0)
        """
        pure = min(float(self.epsilon) * distance, float(self.worst))
        if not delta or self.delta or self.rho.is_infinite():
            return pure
        return min(pure, zcdp_epsilon(float(self.rho) * distance**2, delta))

    def texts(self) -> dict[str, str]:
        """Return the amounts as texts, by name."""
        return {each.name: f"{getattr(self, each.name):f}" for each in fields(self)}


NOTHING: Final = Amounts()


@dataclass(frozen=True, kw_only=True)
class Account:
    """A unit in which losses add up, whoever they are about.

    For words, the lexicon with its metric, graph and cut-off; for values of a kind, their step. And
    for both, how texts are read: another map, or another order of dates, makes other values.
    """

    kind: str
    """`word`, or the kind of values: `number`, `date`."""
    step: str
    """What a distance of 1 is, in words."""
    lexicon: str = ""
    """The fingerprint of the lexicon that distances between words belong to."""
    metric: str = ""
    notion: str = str(Kind.METRIC)
    """The kind of the guarantee."""
    pairs: str = ""
    """Which words are protected from each other, unless all are."""
    reading: str = ""
    """The versions of the map of words and of the grammar."""
    together: bool = False
    """Whether all values of a text move by one shift."""

    @cached_property
    def id(self) -> str:
        """A name for the account that follows from the others."""
        told = json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    def __str__(self) -> str:
        if self.kind != WORD:
            moved = ", moved together" if self.together else ""
            return f"{self.kind} ({self.step}{moved})"
        notion = "" if self.notion == Kind.METRIC else f", {self.notion}"
        return f"word ({self.step}, lexicon {self.lexicon[:12]}{notion})"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What a release will cost, for each account; it depends on the texts, and is for their owner.

    `price` is the largest ε over the accounts.
    """

    amounts: Mapping[Account, Amounts]

    @property
    def price(self) -> Decimal:
        """The largest ε over the accounts: what a limit by account has to have left."""
        return max((each.epsilon for each in self.amounts.values()), default=ZERO)


def accounts_of(privatizer: Privatizer) -> dict[Account, Guarantee]:
    """Return the accounts that releases of a privatizer can debit, with the promise for each.

    What is drawn without a look at the secret has none: it loses nothing.
    """
    promise = privatizer.guarantee
    if promise.kind is Kind.NONE:
        raise ParameterError(
            "A ledger takes no release without a guarantee, as no budget could bound it. Here, "
            f"nothing is promised: {promise.reason}."
        )
    if privatizer.randomness != SECURE:
        raise ParameterError(
            "A ledger takes no release that is made with a seed: it is not private. Leave the "
            "seed out."
        )
    names = [kind.name for kind in promise.kinds if not kind.drawn_anew] or [WORD]
    promises = {name: promise.of_kind(name) for name in names}
    kinds = {kind.name: kind for kind in promise.kinds}
    accounts: dict[Account, Guarantee] = {}
    for name, own in promises.items():
        if name == WORD:
            account = Account(
                kind=WORD,
                step=_step_of(own),
                lexicon=privatizer.lexicon.fingerprint,
                metric=own.metric,
                notion=str(own.kind),
                pairs="" if own.kind is Kind.METRIC else own.pairs,
                reading=f"map {MAP_VERSION}; grammar {GRAMMAR_VERSION}",
            )
        else:
            policy = privatizer.policy
            account = Account(
                kind=name,
                step=kinds[name].step,
                reading=f"grammar {GRAMMAR_VERSION}, {policy.dates}, {policy.decimals}",
                together=bool(kinds[name].together),
            )
        accounts[account] = own
    return accounts


def _step_of(promise: Guarantee) -> str:
    if promise.kind is not Kind.METRIC:
        within = "" if math.isinf(promise.radius) else f" within {promise.radius!r}"
        return f"no distance: the words that are protected{within}"
    if promise.metric == "graph":
        return "a step of the word graph"
    return f"a unit of {promise.metric} distance"


def _amounts(promise: Guarantee, draws: int) -> Amounts:
    """Return what so many independent draws of one value lose."""
    epsilon = exact(promise.epsilon, "ε of a guarantee")
    if promise.kind is not Kind.METRIC:
        worst, rho = epsilon, math.inf
    else:
        worst = _EXACT.multiply(epsilon, Decimal(float(promise.cap)))
        # A pure loss of l implies l²/2-zCDP, unless there is a δ.
        rho = math.inf if promise.delta else min(promise.zcdp, promise.epsilon**2 / 2.0)
    return Amounts(
        epsilon=_times(draws, epsilon),
        worst=_times(draws, worst),
        rho=_times(draws, _computed(rho)),
        delta=_times(draws, _computed(promise.delta) if promise.delta else ZERO),
    )


class Parts(TypedDict, total=False):
    """What is known of texts: their entities, or the spans that are private."""

    entities: Iterable[object] | None
    spans: Iterable[Iterable[object] | None] | None


class Prices:
    """The prices of texts under one privatizer: exact, and computed without a draw.

    >>> prices = Prices(Privatizer(epsilon=1.5))
    >>> [str(charge.price) for charge in prices.each(["Rain, rain, go away!", "Room 12", "?"])]
    ['3', '1.5', '0']
    """

    def __init__(self, privatizer: Privatizer) -> None:
        """Refuse a privatizer without a guarantee, or with a seed."""
        self._privatizer = privatizer
        self._accounts = {account.kind: account for account in accounts_of(privatizer)}
        self._promises = {account.kind: own for account, own in accounts_of(privatizer).items()}
        self._known: dict[tuple[str, int], Amounts] = {}

    def each(self, texts: Iterable[str], **more: Unpack[Parts]) -> list[Charge]:
        """Return the charge of each text by itself."""
        return [self.of([draws]) for draws in self._privatizer.most_draws(texts, **more)]

    def all(self, texts: Iterable[str], **more: Unpack[Parts]) -> Charge:
        """Return the charge of texts that are about one owner: their prices add up.

        `entities` and `spans` are as for `Privatizer.most_draws`.
        """
        return self.of(self._privatizer.most_draws(texts, **more))

    def of(self, texts: Iterable[Mapping[str, int]]) -> Charge:
        """Return the charge of texts about one owner, given the most draws of one value of each."""
        totals: dict[str, int] = {}
        for draws in texts:
            for kind, count in draws.items():
                totals[kind] = totals.get(kind, 0) + count
        return Charge(
            amounts={self._accounts[kind]: self._cost(kind, n) for kind, n in totals.items() if n}
        )

    def _cost(self, kind: str, draws: int) -> Amounts:
        if (kind, draws) not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[kind, draws] = _amounts(self._promises[kind], draws)
        return self._known[kind, draws]
