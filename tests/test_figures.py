from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import hermite_rmt as hr
from hermite_rmt.cli import DONE, main
from hermite_rmt.figures import FORMATS, comparison_figure, curve_figure, save, spectrum_figure
from hermite_rmt.figures.gallery import GALLERY, unwatched
from hermite_rmt.figures.limits import effects_figure, finite_size_figure, typeset
from hermite_rmt.figures.lines import lines_figure
from hermite_rmt.figures.style import LOOKS
from hermite_rmt.study.evidence import agreement, effects, finite_size


@pytest.fixture(scope="module")
def sweeps() -> list[xr.Dataset]:
    simulate = {"n": 40, "trials": 3, "rng": 0}
    models = [hr.Attention("tanh(x)"), hr.LinearRegression()]
    return [hr.sweep(model, [2, 0.5, 1], 0.1, simulate=simulate) for model in models]


@pytest.fixture(scope="module")
def figure(sweeps: list[xr.Dataset]) -> Figure:
    return curve_figure(sweeps)


def test_lines_are_theory_and_points_are_simulation(figure: Figure, sweeps: list[xr.Dataset]) -> None:
    axes = figure.axes[0]
    lines = [line for line in axes.lines if line.get_linestyle() != "None"]
    for line, bars, data in zip(lines, axes.containers, sweeps, strict=True):
        ordered = data.sortby("c").isel(gamma=0)
        np.testing.assert_array_equal(line.get_xydata(), np.stack([ordered.c, ordered.error], axis=1))
        points = bars.lines[0]
        np.testing.assert_array_equal(
            points.get_xydata(), np.stack([ordered.c_realised, ordered.error_simulated], axis=1)
        )
        segments = np.array(bars.lines[2][0].get_segments())
        half = 2 * ordered.error_standard_error.values
        np.testing.assert_allclose(segments[:, 1, 1] - segments[:, 0, 1], 2 * half, rtol=1e-12)


def test_few_trials_have_no_band(figure: Figure) -> None:
    assert not figure.axes[0].collections[2:]  # but the bars of two models
    assert "bands" not in figure.get_suptitle()


def test_bands_are_one_deviation_of_a_draw() -> None:
    data = hr.sweep(hr.LinearRegression(), [0.5, 1, 2], 0.1, simulate={"n": 40, "trials": 9, "rng": 0})
    figure = curve_figure([data])
    (band,) = [found for found in figure.axes[0].collections if isinstance(found, PolyCollection)]
    deviation = 3 * data.error_standard_error.values[:, 0]
    corners = band.get_paths()[0].vertices
    for x, mean, half in zip(data.c_realised.values, data.error_simulated.values[:, 0], deviation, strict=True):
        heights = corners[np.isclose(corners[:, 0], x), 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [mean - half, mean + half], rtol=1e-12)
    assert "bands" in figure.get_suptitle()


def test_bands_between_simulated_points_follow_the_limit() -> None:
    limit = np.array([[1.0, 2.0, 3.0], [0.5, 0.5, 0.5]])
    data = xr.Dataset(
        {
            "limit": (("model", "angle"), limit),
            "simulated": (("model", "point"), limit[:, [0, 2]] + 0.1),
            "standard_error": (("model", "point"), np.full((2, 2), 0.01)),
            "deviation": (("model", "point"), np.full((2, 2), 0.2)),
        },
        {"model": ["tanh", "linear regression"], "angle": [0.0, 30.0, 60.0], "position": ("point", [0.0, 60.0])},
        {"gamma": 0.1, "n": 40, "trials": 400},
    )
    axes = lines_figure(data, "title").axes[0]
    first, second = [found for found in axes.collections if isinstance(found, PolyCollection)]
    for band, middle in ((first, 2.1), (second, 0.6)):
        corners = band.get_paths()[0].vertices
        heights = corners[np.isclose(corners[:, 0], 30.0), 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [middle - 0.2, middle + 0.2])


def test_every_case_of_the_limits_has_its_line() -> None:
    drawn = finite_size_figure(finite_size.finite_size(n=40, trials=2)).axes[0]
    labels = [label.get_text() for label in drawn.get_yticklabels()]
    cases = finite_size.cases(40)
    assert len(labels) == len(cases) + len({case.effect for case in cases})
    assert len(set(drawn.get_yticks())) == len(labels)


def test_every_effect_is_drawn_once() -> None:
    data = effects.scaling({24: 4, 32: 4, 48: 4})
    figure = effects_figure(data)
    drawn = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]
    assert sorted(drawn) == sorted(typeset(str(name)) for name in data.effect.values)


def test_long_simulations_take_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "FULL_SIZES", {16: 2, 24: 2, 32: 2})
    arguments = ["figures", "scaling", "--folder", str(tmp_path / "figures"), "--store", str(tmp_path / "trials")]
    assert main(arguments) == DONE
    made = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert len(list((tmp_path / "trials").iterdir())) == 12

    def unwanted(*arguments: object, **options: object) -> None:
        raise AssertionError("a finished trial is simulated again")

    monkeypatch.setattr(hr.Attention, "simulate", unwanted)
    assert main(arguments) == DONE
    assert {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()} == made


def test_axes_are_named(figure: Figure) -> None:
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$c = p/n$", "interpolation error $E$")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        r"attention, $\gamma = 0.1$",
        r"linear regression, $\gamma = 0.1$",
    ]
    assert "tanh(x)" in figure.get_suptitle()
    assert "$n = 40$, 3 trials" in figure.get_suptitle()


def test_curves_differ_without_colour(figure: Figure) -> None:
    lines = [line for line in figure.axes[0].lines if line.get_linestyle() != "None"]
    assert len({line.get_linestyle() for line in lines}) == len(lines)
    assert len({look.marker for look in LOOKS}) == len(LOOKS)


def test_the_first_two_looks_differ_in_grey() -> None:
    first, second = (float(np.dot([0.299, 0.587, 0.114], to_rgb(look.colour))) for look in LOOKS[:2])
    assert abs(first - second) > 0.25


def test_several_ridges_get_lines_of_their_own() -> None:
    figure = curve_figure([hr.sweep(hr.LinearRegression(), [0.5, 2], [0.01, 0.1, 1])])
    assert len({line.get_linestyle() for line in figure.axes[0].lines}) == 3


def test_panels(sweeps: list[xr.Dataset]) -> None:
    figure = curve_figure({"one": sweeps, "two": sweeps[:1]})
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]


def test_crossings_are_marked() -> None:
    models = [hr.Attention("tanh(x)", overlaps=hr.Overlaps.aligned(1)), hr.LinearRegression(1)]
    data = hr.compare(models, np.geomspace(0.05, 5, 20), 0.1)
    assert data.sizes["crossing"] == 1
    marks = [line for line in comparison_figure(data).axes[0].lines if line.get_marker() == "D"]
    np.testing.assert_array_equal(
        np.concatenate([line.get_xydata() for line in marks]),
        np.stack([data.crossing_c, data.crossing_error], axis=1),
    )


def test_spectrum_leaves_out_what_is_rounding() -> None:
    axes = spectrum_figure([1e-17, 0.6, 1e-18, 0.8], 1.0, "f").axes[0]
    assert [round(bar.get_x() + bar.get_width() / 2) for bar in axes.patches] == [1, 3]
    assert len(axes.lines[0].get_xdata()) == 3


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_figure_is_saved_as_the_same_bytes(sweeps: list[xr.Dataset], tmp_path: Path, suffix: str) -> None:
    first, second = (save(curve_figure(sweeps), tmp_path / f"{name}{suffix}") for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000


@pytest.mark.parametrize("name", ["curve", "curve.jpeg", "curve.csv"])
def test_other_formats_are_refused(figure: Figure, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"ends in \.png, \.pdf, \.svg"):
        save(figure, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_gallery_keeps_its_data_beside_its_figures(tmp_path: Path) -> None:
    paths = GALLERY["spectrum"](unwatched).save(tmp_path / "new", "spectrum")
    assert {path.suffix for path in paths} == {".png", ".pdf", ".csv"}
    table = np.genfromtxt(tmp_path / "new" / "spectrum_coefficients.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["a"][:3], [0, 0.5, (4 * np.pi) ** -0.5], rtol=1e-13, atol=1e-16)


def test_drawing_leaves_pyplot_and_the_global_style_alone(tmp_path: Path) -> None:
    script = (
        "import sys, matplotlib as mpl\n"
        # asking for the backend would import pyplot
        "settings = lambda: {name: mpl.rcParams[name] for name in mpl.rcParams if name != 'backend'}\n"
        "before = settings()\n"
        "from hermite_rmt.figures import spectrum_figure, save\n"
        "save(spectrum_figure([0, 1], 1, 'x'), sys.argv[1])\n"
        "assert settings() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "f.svg")], check=True)
