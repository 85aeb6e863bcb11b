"""The ledger: what has been released about whom, and limits that hold.

    from malaprop.ledger import Ledger

    with Ledger.open("sqlite:///ledger.db") as ledger:
        ledger.set_limits(subject_epsilon=3)
        charge = ledger.charge(privatizer, texts)
        receipt = ledger.debit(charge, subject="patient 7")
        releases = privatizer.many(texts)

It needs the extra `ledger`. See docs/howto/ledger.md.
"""

from malaprop.ledger.accounts import Account as Account
from malaprop.ledger.accounts import Amounts as Amounts
from malaprop.ledger.accounts import Charge as Charge
from malaprop.ledger.accounts import Prices as Prices
from malaprop.ledger.accounts import accounts_of as accounts_of
from malaprop.ledger.accounts import exact as exact
from malaprop.ledger.budgets import Batch as Batch
from malaprop.ledger.budgets import Budget as Budget
from malaprop.ledger.budgets import Finding as Finding
from malaprop.ledger.budgets import Limit as Limit
from malaprop.ledger.budgets import Line as Line
from malaprop.ledger.budgets import OnRefusal as OnRefusal
from malaprop.ledger.budgets import Receipt as Receipt
from malaprop.ledger.budgets import Request as Request
from malaprop.ledger.budgets import statement as statement
from malaprop.ledger.ledger import LOCAL as LOCAL
from malaprop.ledger.ledger import Ledger as Ledger
from malaprop.ledger.ledger import default_database as default_database
from malaprop.privacy.errors import AccountError as AccountError
from malaprop.privacy.errors import BudgetError as BudgetError
from malaprop.privacy.errors import LedgerError as LedgerError
from malaprop.privacy.errors import RequestError as RequestError
