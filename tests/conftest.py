"""What all tests share: small lexicons, a cluster, and hypothesis without a clock."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray
from tests.postgres import LACKING, Cluster, cluster
from tests.spark.frames import HUNDRED

from malaprop import Lexicon

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# New examples are for people at work; a build must not fail because of one that nobody changed.
settings.register_profile(
    "malaprop",
    deadline=None,
    max_examples=60,
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
    # How long examples take to make depends on what else the machine is doing.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("malaprop")

# A test must never read the lexicons that somebody imported on this machine.
os.environ["MALAPROP_HOME"] = "/nonexistent/malaprop-tests"


@pytest.fixture(autouse=True, scope="session")
def _state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the secret of whoever runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MALAPROP_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the lexicons and tables that a test imports or computes."""
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names of tests that hold an address: they differ from one process to the next."""
    for item in items:
        if " object at 0x" in item.nodeid:
            raise pytest.UsageError(f"give this test's parameters ids: {item.nodeid}")


@pytest.fixture(scope="session")
def line() -> Lexicon:
    """Three points on a line: 0, 1 and 3."""
    return Lexicon(["zero", "one", "three"], [[0.0], [1.0], [3.0]])


@pytest.fixture(scope="session")
def plane() -> Lexicon:
    """Forty words in a plane, some close together."""
    rng = np.random.Generator(np.random.PCG64(5))
    vectors: NDArray[np.float64] = rng.normal(size=(40, 2)) * 3.0
    return Lexicon([f"w{i}" for i in range(40)], vectors)


@pytest.fixture(scope="session")
def english() -> Lexicon:
    """The embedded lexicon."""
    return Lexicon.open("english")


@pytest.fixture(scope="session")
def hundred() -> Lexicon:
    """A hundred words, all about as likely: two texts are the same only with the same noise."""
    return Lexicon(HUNDRED, [[float(i)] for i in range(100)])


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A PostgreSQL of the tests' own, on a socket."""
    with cluster() as made:
        if made is None:
            pytest.skip(LACKING)
        yield made


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """A real cluster on this machine: two executors, each a JVM of its own with one core.

    Whoever uses it is in the xdist group `spark`: one cluster, in one worker.
    """
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java: install openjdk-17-jre-headless to test on Spark")
    import pyspark
    from pyspark.sql import SparkSession

    # A JVM that starts soon, for a short life.
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    # The workers of a local cluster write below Spark's home, which is the installed package.
    home = tmp_path_factory.mktemp("spark")
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = (
            SparkSession.builder.master("local-cluster[2,1,2048]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.memory", "1g")
            .config("spark.executor.memory", "1g")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.task.maxFailures", "3")
            .config("spark.driver.extraJavaOptions", quick)
            .config("spark.executor.extraJavaOptions", quick)
            .config("spark.sql.warehouse.dir", str(home / "warehouse"))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()
