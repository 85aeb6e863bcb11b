"""Pages of a ledger: what a subject, a key or all releases together have spent."""

from decimal import Decimal

from malaprop.ledger import Budget, Limit
from malaprop.ledger.budgets import Scope
from malaprop.report.page import Facts, Page, Section, Table

_TITLES: dict[Scope, str] = {
    "subject": "The budget of a subject",
    "key": "The budget of a key",
    "total": "All releases of the ledger",
}
_NAMES: dict[Scope, str] = {
    "subject": "each subject",
    "key": "each key, over all its subjects",
    "total": "the ledger, over all keys",
}


def budget_page(budget: Budget, distance: float = 1.0, delta: float = 1e-6) -> Page:
    """Return a page of a budget; the loss at a distance and a δ stands beside what was spent."""
    rows = tuple(
        (
            str(line.account),
            f"{line.releases:,}",
            shown(line.spent.epsilon),
            shown(line.remaining),
            shown(line.spent.delta),
            f"{line.spent.loss(distance, delta):.4g}",
        )
        for line in budget.lines
    )
    head = ("account", "releases", "Σε", "left", "Σδ", f"loss at d = {distance:g}, δ = {delta:g}")
    facts = Facts(
        (
            ("limit", "none" if budget.limit is None else f"ε = {shown(budget.limit)} an account"),
            ("spent", f"ε = {shown(budget.spent)}"),
            ("left", "" if budget.remaining is None else f"ε = {shown(budget.remaining)}"),
            ("limit of Σδ", "" if budget.delta_limit is None else shown(budget.delta_limit)),
        )
    )
    table = Table(head, rows) if rows else "Nothing has been released."
    return Page(
        title=_TITLES[budget.scope],
        sections=(Section("", (facts, table)), Section("What E says", (budget.statement,))),
    )


def limits_page(
    limits: dict[Scope, Limit], *, subject: str | None = None, key: str | None = None
) -> Page:
    """Return a page of the limits: those of all, or of a subject or a key."""
    names = dict(_NAMES)
    if subject is not None:
        names["subject"] = "this subject"
    if key is not None:
        names["key"] = "this key, over all its subjects"
    rows = tuple(
        (names[scope], shown(limit.epsilon), shown(limit.delta)) for scope, limit in limits.items()
    )
    note = (
        "Each limit counts by account: words under one lexicon, and each kind of values, have that "
        "budget of their own. None is added up over the accounts."
    )
    table = Table(("limit of", "Σε", "Σδ"), rows)
    return Page(title="Limits", sections=(Section("", (table, note)),))


def shown(amount: Decimal | None) -> str:
    """Return an amount as a page shows it, all its digits."""
    return "–" if amount is None else "∞" if amount.is_infinite() else f"{amount:f}"
