"""`hermite-rmt error`: the error at points, to any number of digits."""

from __future__ import annotations

from hermite_rmt.cli.axes import read_axis
from hermite_rmt.cli.models import ModelOptions
from hermite_rmt.cli.output import number_text, print_columns, print_json
from hermite_rmt.core.numbers import exact_text


def run(
    f: str,
    options: ModelOptions,
    c: str,
    gamma: str,
    quantity: str,
    digits: int | None,
    certified: bool,
    as_json: bool,
) -> None:
    """Print one value as it is, several in columns, or all as JSON."""
    model = options.attention(f)
    c_values, gamma_values = read_axis(c, "c"), read_axis(gamma, "gamma")
    values = getattr(model, quantity)(
        [[value] for value in c_values], [gamma_values], digits=digits, certified=certified
    )
    points = [
        {"c": exact_text(c_value), "gamma": exact_text(gamma_value), quantity: number_text(values[i, j])}
        for i, c_value in enumerate(c_values)
        for j, gamma_value in enumerate(gamma_values)
    ]
    if as_json:
        print_json({"model": model.describe(), "points": points})
    elif len(points) == 1:
        print(points[0][quantity])
    else:
        print_columns(list(points[0]), [list(point.values()) for point in points])
