"""`hermite-rmt coefficients`: Hermite coefficients and energy of a nonlinearity."""

from __future__ import annotations

from pathlib import Path

from hermite_rmt.cli.models import ModelOptions
from hermite_rmt.cli.output import number_text, print_columns, print_json


def run(
    text: str,
    options: ModelOptions,
    order: int,
    digits: int | None,
    certified: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print a_0, ..., a_order and nu, with their closed forms where there are some."""
    if plot is not None:
        from hermite_rmt.figures.style import check_suffix

        check_suffix(plot)
    f = options.nonlinearity(text)
    values = f.coefficients(order, digits=digits, certified=certified)
    closed = [f.closed_form(k) for k in range(order + 1)]
    named = {f"a_{k}": (number_text(value), form) for k, (value, form) in enumerate(zip(values, closed, strict=True))}
    named["nu"] = number_text(f.nu(digits=digits, certified=certified)), f.closed_form_nu()
    if as_json:
        entries = {
            name: {"value": value, **({} if form is None else {"closed_form": str(form)})}
            for name, (value, form) in named.items()
        }
        print_json({"f": f.name, **entries})
    else:
        rows = [[name, value, "" if form is None else str(form)] for name, (value, form) in named.items()]
        print_columns(["quantity", "value", "closed form"], rows)
    if plot is not None:
        from hermite_rmt.figures import save, spectrum_figure

        save(spectrum_figure(f.coefficients(order), f.nu(), f.name), plot)
