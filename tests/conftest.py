"""Fixtures for every test: the global mpmath context stays untouched, hypothesis runs are reproducible."""

import json
from importlib import resources

import mpmath
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "project", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("project")


@pytest.fixture(autouse=True)
def global_precision_untouched():
    before = mpmath.mp.prec
    yield
    assert mpmath.mp.prec == before, "a test or the library changed mpmath's global precision"


@pytest.fixture(scope="session")
def hard_cases():
    """Inputs that break other tools, with right values: hard_cases("d") gives one group."""
    text = (resources.files("hermite_rmt") / "reference" / "hard_cases.json").read_text()
    rows = json.loads(text)
    return lambda group: [row for row in rows if row["id"].startswith(group)]


@pytest.fixture(scope="session")
def theory_values():
    """The thirty reference points of the limit theory, as text."""
    return json.loads((resources.files("hermite_rmt") / "reference" / "theory_values.json").read_text())


@pytest.fixture(scope="module")
def one_blas_thread():
    """One BLAS thread: on a busy machine the threads of small products cost more than they bring."""
    from hermite_rmt.study.executors import one_blas_thread

    with one_blas_thread:
        yield
