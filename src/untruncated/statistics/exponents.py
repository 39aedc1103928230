"""How a cost grows with a size: slopes of lines fitted to logarithms."""

import numpy as np
import pandas as pd

from untruncated.statistics.rows import by_curve, quartiles

# What is predicted of each metric.
PREDICTIONS = {"seconds": "predicted_operations", "bytes": "predicted_numbers"}


def exponents(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Slopes of lines fitted to the logarithms of a metric's medians and of its prediction.

    Returns:
        One row per curve with columns measured and predicted, NaN where fewer than two are known.
    """
    found = {}
    for curve, rows in by_curve(table[table["stage"] == "final"]):
        found[curve] = {
            "measured": _slope(rows[rows["metric"] == metric]),
            "predicted": _slope(rows[rows["metric"] == PREDICTIONS[metric]]),
        }
    return pd.DataFrame.from_dict(found, orient="index")


def _slope(rows: pd.DataFrame) -> float:
    medians = quartiles(rows)[0.5].dropna()
    if len(medians) < 2:
        return float("nan")
    return float(np.polyfit(np.log(medians.index), np.log(medians), 1)[0])
