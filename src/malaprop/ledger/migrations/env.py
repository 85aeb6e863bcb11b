"""Runs the migrations of a ledger, in the transaction that `tables.migrate` has begun."""

from alembic import context

if hasattr(context, "config"):  # otherwise it was only imported
    context.configure(
        connection=context.config.attributes["connection"], version_table="ledger_version"
    )
    with context.begin_transaction():
        context.run_migrations()
