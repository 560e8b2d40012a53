"""Models from the options of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermite_rmt.hermite import Nonlinearity
    from hermite_rmt.theory.attention import Attention
    from hermite_rmt.theory.linear_regression import LinearRegression


@dataclass(frozen=True)
class ModelOptions:
    """The options that describe a model, as text.

    Attributes
    ----------
    centre : whether to subtract the mean of f
    overlaps : text of the six overlaps by name
    diagonal, skip : text
    """

    centre: bool = False
    overlaps: Mapping[str, str] = field(default_factory=dict)
    diagonal: str = "0"
    skip: str = "0"

    def nonlinearity(self, text: str) -> Nonlinearity:
        """Read f, centred if that was asked for."""
        from hermite_rmt.hermite import Nonlinearity

        f = Nonlinearity(text)
        return f.centred() if self.centre else f

    def attention(self, text: str) -> Attention:
        """Build the attention model of f."""
        from hermite_rmt.theory.attention import Attention
        from hermite_rmt.theory.overlaps import Overlaps

        return Attention(
            self.nonlinearity(text), overlaps=Overlaps(**self.overlaps), diagonal=self.diagonal, skip=self.skip
        )

    def regression(self) -> LinearRegression:
        """Build linear regression on the same tokens."""
        from hermite_rmt.theory.linear_regression import LinearRegression

        return LinearRegression(self.overlaps.get("mu_mu", "0"))
