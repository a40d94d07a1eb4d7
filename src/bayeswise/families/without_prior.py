"""What families without a conjugate prior answer where one is needed."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.errors import ParameterError


class WithoutConjugatePrior:
    """A family whose posterior has no closed form; maximum likelihood is all it offers."""

    name: ClassVar[str]

    def posterior(self, statistic: Any, prior: Any) -> NoReturn:
        self._refuse()

    def log_marginal(self, statistic: Any, prior: Any) -> NoReturn:
        self._refuse()

    def log_predictive(self, posterior: Any, x: ArrayLike) -> NoReturn:
        self._refuse()

    def sample_prior(self, prior: Any, size: int, generator: np.random.Generator) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"the {self.name} family has no conjugate prior",
            fix="leave the prior out for maximum likelihood, or choose a family with one, such as normal",
        )
