"""A catalogue of made-up data sets, and a server on this machine."""

from tests.lab.datasets.serving import server, write_catalogue

__all__ = ["server", "write_catalogue"]
