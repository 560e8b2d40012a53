"""`hermite-rmt compare`: several nonlinearities and linear regression side by side, with crossings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import xarray as xr

from hermite_rmt.cli.axes import decimal_text
from hermite_rmt.cli.output import number_text, print_columns, print_json
from hermite_rmt.cli.table import CurveTable, Row
from hermite_rmt.study import compare
from hermite_rmt.study.provenance import provenance
from hermite_rmt.study.scale import Scale


def run(
    models: Sequence[Any],
    c: Sequence[Fraction],
    gamma: Sequence[Fraction],
    scale: Scale,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compute the comparison, write its table, draw it, and print the crossings."""
    if plot is not None:
        from hermite_rmt.figures.style import check_suffix

        check_suffix(plot)
    data = compare(models, c=list(c), gamma=list(gamma), scale=scale)
    names = [str(name) for name in data.model.values]
    described = {name: provenance(model)["model"] for name, model in zip(names, models, strict=True)}
    table = CurveTable(output, {"scale": scale, **described})
    for name in names:
        errors = data.error.sel(model=name).values
        table.add(
            Row(name, decimal_text(c_value), decimal_text(gamma_value), number_text(float(errors[i, j])))
            for i, c_value in enumerate(c)
            for j, gamma_value in enumerate(gamma)
        )
    if plot is not None:
        from hermite_rmt.figures import comparison_figure, save

        save(comparison_figure(data), plot)
    crossings = _crossings(data)
    if as_json:
        rows = [
            {"model": row.model, "c": row.c, "gamma": row.gamma, "error": row.error} for row in table.rows.values()
        ]
        print_json({**table.provenance, "rows": rows, "crossings": crossings})
        return
    if output is None:
        print(table.text())
    # comments to whoever reads the table
    count = "1 crossing" if len(crossings) == 1 else f"{len(crossings) or 'no'} crossings"
    print(f"# {count} for c from {data.c.values.min():g} to {data.c.values.max():g}")
    if crossings:
        print_columns(list(crossings[0]), [list(crossing.values()) for crossing in crossings], prefix="# ")


def _crossings(data: xr.Dataset) -> list[dict[str, str]]:
    table = data[[name for name in data.data_vars if str(name).startswith("crossing_")]]
    records = []
    for k in range(table.sizes["crossing"]):
        entry = {str(name): table[name].values[k] for name in table.data_vars}
        models = str(entry["crossing_first"]), str(entry["crossing_second"])
        larger, smaller = models if entry["crossing_rising"] else models[::-1]
        numbers = {name: number_text(float(entry[f"crossing_{name}"])) for name in ("c", "gamma", "error")}
        records.append({**numbers, "larger above": larger, "smaller above": smaller})
    return records
