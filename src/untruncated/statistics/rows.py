"""Rows of a panel's table, curve by curve, and what is typical of them; lost values stay lost."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

QUARTILES = (0.25, 0.5, 0.75)


def by_curve(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each curve's key and rows, in the order of the experiment file."""
    yield from rows.groupby("curve", sort=False, dropna=False)


def means(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """What is typical of the values that agree in `keys`, those of several seeds.

    Returns:
        One row per combination of the keys, in order of appearance, with the keys and the columns
        mean and standard_error (both NaN if a value is missing; the latter for a single one too),
        seeds (how many values) and diverged (how many of them are missing).
    """
    return (
        rows.groupby(keys, sort=False, dropna=False)["value"]
        .agg(
            mean=lambda values: values.mean(skipna=False),
            standard_error=lambda values: values.sem(skipna=False),
            seeds="size",
            diverged=lambda values: values.isna().sum(),
        )
        .astype({"mean": float, "standard_error": float, "diverged": int})
        .reset_index()
    )


def quartiles(rows: pd.DataFrame) -> pd.DataFrame:
    """The quartiles of the values at each x, all NaN where a value is missing.

    Returns:
        One row per x, in rising order, with columns 0.25, 0.5 and 0.75.
    """
    by_x = rows.groupby("x", dropna=False)["value"]
    found = by_x.quantile(list(QUARTILES)).unstack().reindex(columns=QUARTILES)
    found.loc[by_x.size() > by_x.count()] = np.nan
    return found
