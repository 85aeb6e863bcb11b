"""Debits, limits and budgets, on both databases."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from malaprop import TEM, Lexicon, ParameterError, Privatizer, seeded_rng
from malaprop.ledger import (
    AccountError,
    Batch,
    BudgetError,
    Ledger,
    OnRefusal,
    Request,
    RequestError,
    tables,
)
from malaprop.ledger.change import Change
from malaprop.privacy.errors import SecretError

SECRET = bytes(range(32))


def test_a_debit_adds_up_and_is_refused_over_the_limit(ledger: Ledger, tem: Privatizer) -> None:
    ledger.set_limits(subject_epsilon=3)
    charge = ledger.charge(tem, ["zero one"])
    first = ledger.debit(charge, subject="Ann", key="k")
    assert first.price == first.spent == first.remaining == Decimal("1.5")
    second = ledger.debit(charge, subject="Ann", key="k")
    assert second.spent == 3
    assert second.remaining == 0
    with pytest.raises(BudgetError) as refused:
        ledger.debit(charge, subject="Ann", key="k")
    assert refused.value.scope == "subject"
    assert refused.value.price == Decimal("1.5")
    assert refused.value.remaining == 0
    assert "Ann" not in str(refused.value)
    assert ledger.debit(charge, subject="Bob", key="k").spent == Decimal("1.5")
    assert ledger.budget(subject="Ann").spent == 3
    assert ledger.budget(key="k").spent == ledger.budget().spent == Decimal("4.5")
    assert ledger.verify() == []


def test_the_price_is_the_most_draws_of_one_value(ledger: Ledger, typed: Privatizer) -> None:
    charge = ledger.charge(typed, ["Rain, rain, go away!", "Room 12 on 12 May", "?"])
    prices = {account.kind: amounts.epsilon for account, amounts in charge.amounts.items()}
    assert prices == {"word": Decimal("4.5"), "number": Decimal("1.5"), "date": Decimal("1.5")}
    assert charge.price == Decimal("4.5")
    ten = ledger.charge(typed, ["rain"] * 10)
    assert ten.price == 15
    once = Privatizer(epsilon=1.5, repeat="document")
    assert ledger.charge(once, ["Rain, rain, rain"]).price == Decimal("1.5")
    redrawn = Privatizer(epsilon=1.5, redraw="people")
    assert ledger.charge(redrawn, ["Ann"]).price == 0


def test_a_call_without_a_subject_debits_the_key(ledger: Ledger, tem: Privatizer) -> None:
    ledger.set_limits(subject_epsilon=1, key_epsilon=3, total_epsilon="4.5")
    charge = ledger.charge(tem, ["one"])
    assert ledger.debit(charge, key="a").scope == "key"
    assert ledger.debit(charge, key="a").remaining == 0
    with pytest.raises(BudgetError) as refused:
        ledger.debit(charge, key="a")
    assert refused.value.scope == "key"
    ledger.debit(charge, key="b")
    with pytest.raises(BudgetError) as refused:
        ledger.debit(charge, key="c")
    assert refused.value.scope == "total"
    ledger.set_limits(key_epsilon=1, key="d", total_epsilon=None)
    with pytest.raises(BudgetError):
        ledger.debit(charge, key="d")


def test_tenths_add_up_exactly(ledger: Ledger, line: Lexicon) -> None:
    tenth = ledger.charge(Privatizer(line, TEM(epsilon=0.1)), ["one"])
    ledger.set_limits(subject_epsilon=0.3)
    for _ in range(3):
        receipt = ledger.debit(tenth, subject="s")
    assert receipt.spent == Decimal("0.3")
    assert receipt.remaining == 0


def test_a_price_can_be_asked_for(ledger: Ledger, tem: Privatizer) -> None:
    ledger.set_limits(subject_epsilon=2)
    charge = ledger.charge(tem, ["one"])
    told = ledger.debit(charge, subject="s", dry_run=True)
    assert not told.id
    assert told.price == Decimal("1.5")
    assert told.spent == 0
    assert told.remaining == 2
    assert len(list(ledger.rows())) == 1
    ledger.debit(charge, subject="s")
    with pytest.raises(BudgetError):
        ledger.debit(charge, subject="s", dry_run=True)


def test_a_repeated_request_is_debited_once(ledger: Ledger, tem: Privatizer) -> None:
    charge = ledger.charge(tem, ["one"])
    request = Request("a key", b"{}")
    first = ledger.debit(charge, subject="s", request=request)
    again = ledger.debit(charge, subject="s", request=request)
    assert not first.replayed
    assert again.replayed
    assert not again.answered
    assert (again.id, again.price, again.spent) == (first.id, first.price, first.spent)
    assert ledger.stored_answer(request) is None
    assert ledger.store_answer(request, b"private") == b"private"
    assert ledger.store_answer(request, b"drawn again") == b"private"
    assert ledger.debit(charge, subject="s", request=request).answered
    assert ledger.stored_answer(request) == b"private"
    with pytest.raises(RequestError):
        ledger.debit(charge, subject="s", request=Request("a key", b"other"))
    assert ledger.debit(charge, key="other", request=request).replayed is False
    assert ledger.budget(subject="s").spent == Decimal("1.5")
    assert ledger.verify() == []


def test_what_costs_something_else_by_now_is_another_request(
    ledger: Ledger, tem: Privatizer, line: Lexicon
) -> None:
    request = Request("a key", b"{}")
    ledger.debit(ledger.charge(tem, ["one"]), subject="s", request=request)
    dearer = ledger.charge(Privatizer(line, TEM(epsilon=2.0)), ["one"])
    with pytest.raises(RequestError):  # it was not answered: what is drawn now was not paid
        ledger.debit(dearer, subject="s", request=request)
    ledger.store_answer(request, b"private")
    assert ledger.debit(dearer, subject="s", request=request).answered


def test_a_batch_that_is_refused_changes_nothing_of_its_transaction(
    ledger: Ledger, tem: Privatizer, line: Lexicon
) -> None:
    ledger.set_limits(subject_epsilon=9)
    listed = ledger.charge(tem, ["one"])
    ledger.debit(listed, subject="s")
    extended = Privatizer(Lexicon(["zero", "two"], [[0.0], [2.0]]), TEM(epsilon=1.5))
    batch = Batch("b", ["s", "s"], [listed, ledger.charge(extended, ["two"])], OnRefusal.EACH)

    def together(change: Change) -> None:
        """Debit what others debit meanwhile in the same transaction."""
        with pytest.raises(AccountError):
            change.debit_batch(batch.subjects, "local", batch, "b")
        change.debit("t", "local", listed)

    ledger._run(together)
    assert ledger.budget().spent == 3
    assert ledger.verify() == []


def test_an_answer_expires_and_its_receipt_stays(ledger: Ledger, tem: Privatizer) -> None:
    charge, request = ledger.charge(tem, ["one"]), Request("a key", b"{}")
    receipt = ledger.debit(charge, subject="s", request=request)
    ledger.store_answer(request, b"private", lifetime=-1.0)
    assert ledger.stored_answer(request) is None
    assert ledger.forget_answers() == 1
    again = ledger.debit(charge, subject="s", request=request)
    assert (again.id, again.replayed, again.answered) == (receipt.id, True, True)
    with pytest.raises(RequestError):
        ledger.store_answer(request, b"drawn again")


def test_another_lexicon_opens_no_fresh_budget(ledger: Ledger, line: Lexicon) -> None:
    mechanism = TEM(epsilon=1.5)
    ledger.set_limits(subject_epsilon=2)
    ledger.debit(ledger.charge(Privatizer(line, mechanism), ["one"]), subject="s")
    extended = Privatizer(Lexicon(["zero", "one", "four"], [[0.0], [1.0], [4.0]]), mechanism)
    charge = ledger.charge(extended, ["one"])
    with pytest.raises(AccountError, match="ledger allow"):
        ledger.debit(charge, subject="s")
    assert [account.kind for account in ledger.allow(extended)] == ["word"]
    assert ledger.allow(extended) == []
    assert ledger.debit(charge, subject="s").price == Decimal("1.5")
    assert ledger.verify() == []


def test_what_promises_nothing_is_refused(ledger: Ledger, line: Lexicon) -> None:
    with pytest.raises(ParameterError, match="without a guarantee"):
        ledger.charge(Privatizer(line, TEM(epsilon=1.0), unknown="keep"), ["one"])
    with pytest.raises(ParameterError, match="seed"):
        ledger.charge(Privatizer(line, TEM(epsilon=1.0), rng=seeded_rng(1)), ["one"])


def test_threads_never_overspend(ledger: Ledger, tem: Privatizer) -> None:
    ledger.set_limits(subject_epsilon=30, total_epsilon=75)
    charge = ledger.charge(tem, ["one"])
    refused = []

    def client(number: int) -> None:
        for _ in range(10):
            try:
                ledger.debit(charge, subject=f"s{number % 3}")
            except BudgetError as error:
                refused.append(error.scope)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(12)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    assert len(refused) == 120 - 50
    assert ledger.budget().spent == 75
    assert max(ledger.budget(subject=f"s{n}").spent for n in range(3)) <= 30
    assert ledger.verify() == []


def test_it_is_there_when_it_is_opened_again(url: str, tem: Privatizer) -> None:
    with Ledger.open(url) as ledger:
        ledger.debit(ledger.charge(tem, ["one"]), subject="s")
    with Ledger.open(url) as ledger:
        assert ledger.budget(subject="s").spent == Decimal("1.5")
        assert ledger.verify() == []
    with pytest.raises(SecretError, match="not the one"):
        Ledger.open(url, secret=SECRET)


def test_without_its_secret_no_ledger_opens(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger.open(url).close()
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "elsewhere"))
    with pytest.raises(SecretError, match="Copy it"):
        Ledger.open(url)


def test_migrations_make_the_tables(url: str) -> None:
    engine = tables.connect(tables.database_url(url))
    tables.migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "ledger_version"})
        assert compare_metadata(context, tables.metadata) == []
    engine.dispose()


def test_those_who_come_at_once_make_one_ledger(url: str) -> None:
    start = threading.Barrier(6)

    def name(_: int) -> str:
        start.wait()
        with Ledger.open(url, secret=SECRET) as ledger:
            return ledger.name

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(name, range(6)))) == 1
