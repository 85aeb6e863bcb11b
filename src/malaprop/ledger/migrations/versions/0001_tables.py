"""The tables of the first version."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
AMOUNTS = ("epsilon", "worst", "rho", "delta")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "ledger_state",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("ledger", sa.String(32), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("last", BIG, nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
    )
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("number", BIG, primary_key=True, autoincrement=False),
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("receipt", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in AMOUNTS),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("mark", sa.String(64), nullable=False),
    )
    for name in ("receipt", "subject", "key"):
        op.create_index(f"ix_entries_{name}", "entries", [name])
    op.create_table(
        "balances",
        sa.Column("scope", sa.String(8), primary_key=True),
        sa.Column("owner", sa.Text(), primary_key=True),
        sa.Column("account", sa.String(32), primary_key=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in AMOUNTS),
        sa.Column("releases", BIG, nullable=False),
    )
    op.create_table(
        "limits",
        sa.Column("scope", sa.String(8), primary_key=True),
        sa.Column("owner", sa.Text(), primary_key=True),
        sa.Column("epsilon", sa.Text(), nullable=True),
        sa.Column("delta", sa.Text(), nullable=True),
    )
    op.create_table(
        "requests",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("body", sa.String(64), nullable=False),
        sa.Column("receipt", sa.String(32), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.Column("expires", sa.Float(), nullable=True),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("mechanisms", sa.Text(), nullable=False),
        sa.Column("max_epsilon", sa.Float(), nullable=True),
        sa.Column("per_minute", sa.Integer(), nullable=True),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("expires", sa.String(32), nullable=False),
        sa.Column("revoked", sa.String(32), nullable=False),
    )
