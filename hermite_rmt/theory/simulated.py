"""Models that are simulated at finite size beside their limit."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from hermite_rmt.core.parameter import Parameter
from hermite_rmt.theory.model import Model

if TYPE_CHECKING:
    from hermite_rmt.simulation.estimate import Estimate
    from hermite_rmt.simulation.trial import Specification


class SimulatedModel(Model):
    """A `Model` with `simulate`: a subclass says what one trial draws and what the ridge regression sees of it."""

    @abstractmethod
    def _specification(self, n: int, p: int, gammas: list[float], draws: dict[str, Any]) -> Specification:
        """Return what trials run on; `draws` are labels, noise, mu, w_K and w_Q as `simulate` takes them."""

    def simulate(
        self,
        n: int,
        p: int,
        gamma: Any,
        trials: int = 10,
        rng: Any = None,
        labels: Any = None,
        noise: Any = "gaussian",
        mu: Any = None,
        w_K: Any = None,
        w_Q: Any = None,
    ) -> Estimate | list[Estimate]:
        """Simulate the finite model; arguments as for `hermite_rmt.simulation.attention.simulate_attention`.

        The same `rng` draws the same tokens in all models.

        Returns
        -------
        Estimate
            Of error, quadratic_form and trace, each with mean, standard_error and samples; for a sequence of gammas
            a list of them, all from the same draws.

        Raises
        ------
        ValueError
            If the model does not say what to simulate (attention made from a1 and nu alone), or an argument is
            outside its domain.
        """
        from hermite_rmt.simulation.trial import simulate  # SciPy's linear algebra, not needed before

        gammas = Parameter(gamma, "gamma").require_positive()
        draws = {"labels": labels, "noise": noise, "mu": mu, "w_K": w_K, "w_Q": w_Q}
        estimates = simulate(self._specification(n, p, gammas.floats.ravel().tolist(), draws), trials, rng)
        return estimates if gammas.shape else estimates[0]
