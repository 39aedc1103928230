"""One measured quantity, labelled by axes: what a program returns and a result file holds."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Metric:
    """An array whose dimensions carry the names of a run's axes.

    `values` has one dimension per name in `axes`, in that order, each as long as the run's list
    of coordinates of that name. A metric without axes is a scalar of shape (). A float64 array
    keeps its digits in the result file; any other float is written with float32 digits.
    """

    axes: tuple[str, ...]
    values: np.ndarray
