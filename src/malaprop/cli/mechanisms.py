"""`malaprop mechanisms`: the registry as a table."""

from dataclasses import MISSING

from malaprop.cli.messages import console


def mechanisms() -> None:
    """List the mechanisms, what they do and what they guarantee."""
    from rich.table import Table

    from malaprop.mechanisms import registry

    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column("mechanism", no_wrap=True)
    table.add_column("guarantee", ratio=2)
    table.add_column("what it does, and its parameters", ratio=3)
    for name, cls in sorted(registry.items()):
        parameters = [
            field.name if field.default is MISSING else f"{field.name}={field.default}"
            for field in cls.parameters()
        ]
        table.add_row(name, cls.promise, f"{cls.summary()}\n({', '.join(parameters)})")
    console().print(table)
