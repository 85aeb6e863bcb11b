"""Tables of texts on a cluster, for the tests of what becomes of them."""

from typing import TYPE_CHECKING, Any

from malaprop import TEM

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HUNDRED = [f"w{chr(97 + i // 10)}{chr(97 + i % 10)}" for i in range(100)]
MANY = [f"w{chr(97 + i // 100)}{chr(97 + i // 10 % 10)}{chr(97 + i % 10)}" for i in range(2100)]
ANYTHING = TEM(epsilon=0.001)


def rows_of(frame: "DataFrame") -> list[Any]:
    return sorted(frame.collect(), key=lambda row: row["key"])


def texts_of(spark: "SparkSession", texts: list[str | None], parts: int = 4) -> "DataFrame":
    rows = [(i, text, f"k{i}") for i, text in enumerate(texts)]
    return spark.createDataFrame(rows, "key long, text string, other string").repartition(parts)
