"""Rows of a panel's table, for every plot that shows them curve by curve."""

from collections.abc import Iterator

import pandas as pd


def by_curve(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each curve's key and rows, in the order of the experiment file."""
    yield from rows.groupby("curve", sort=False, dropna=False)
