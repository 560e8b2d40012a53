"""Fixtures for every test: the global mpmath context stays untouched, hypothesis runs are reproducible."""

import json
from importlib import resources

import mpmath
import pytest
import scipy.linalg  # noqa: F401  NumPy's and SciPy's BLAS are limited below, so both must be loaded by then
from hypothesis import HealthCheck, Phase, settings
from threadpoolctl import threadpool_limits

settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=50,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
settings.register_profile("first-failure", parent=settings.get_profile("project"), phases=[Phase.generate])
settings.load_profile("project")


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread():
    """Small matrices gain nothing from more threads, and parallel test workers lose much."""
    with threadpool_limits(1):
        yield


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
