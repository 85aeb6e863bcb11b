"""A privatizer as a function on columns, to map over the batches of a data set."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee
from malaprop.recipe import interned
from malaprop.text.missing import MaybeText

if TYPE_CHECKING:
    from malaprop.privatizer import Privatizer


class BatchedColumns:
    """A function from a dictionary of columns to one of private columns; see `Privatizer.batched`.

    Equal recipes have equal pickles, in any process. So datasets finds in its cache what it drew
    for the same texts before, and draws nothing: that is the same release, and costs nothing more.
    Each process that gets a copy draws noise of its own.
    """

    def __init__(self, privatizer: "Privatizer", columns: tuple[str, ...]) -> None:
        if not columns or not all(isinstance(name, str) for name in columns):
            raise ParameterError(
                '`batched` takes the names of the columns that hold text, as in batched("text").'
            )
        self._privatizer, self._columns = privatizer, interned(columns)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str | MaybeText]]:
        """Return private texts for the named columns; missing ones stay missing."""
        columns = {}
        for name in self._columns:
            try:
                columns[name] = batch[name]
            except (KeyError, TypeError):
                raise ParameterError(f"The batch has no column {name!r}.") from None
            if isinstance(columns[name], str):
                raise ParameterError(
                    f"The column {name!r} is one text, not several: map with `batched=True`."
                )
        return {name: self._privatizer.texts(texts) for name, texts in columns.items()}

    def __repr__(self) -> str:
        return f"{self._privatizer!r}.batched({', '.join(map(repr, self._columns))})"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for each text."""
        return self._privatizer.guarantee
