import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from synthetic import write_run

from disdain.config import METHODS
from disdain.figures.reading import read_results


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Four finished runs."""
    out = tmp_path_factory.mktemp("results")
    for method in METHODS:
        write_run(out / "runs" / method, method)
    return out


@pytest.fixture(scope="session")
def results(folder):
    return read_results(folder)
