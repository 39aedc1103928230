"""What a template can ask of the tables of one scale, by a panel's name such as `rtu_figure2a`."""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from untruncated.catalogue.entry import not_among
from untruncated.pages.samples import Sample
from untruncated.suite.commands import rebuild_table
from untruncated.suite.errors import ResultError
from untruncated.suite.tables import read_table

_TRAITS = ("x", "width", "truncation", "flops", "parameters", "step_size", "at_edge")
# What tells the rows of one seed apart, in the order in which a message asks for it.
_APART = (*_TRAITS[:3], "step_size", "curve_step", "fidelity", "parameter", "coordinate")


class Figures:
    """The tables of a folder, each read when it is first asked for.

    Every method raises a ResultError where a table, a curve, a metric or a value is missing, or
    where more than one value is left for a seed; it says what there is.
    """

    def __init__(self, tables: Path, scale: str = "small") -> None:
        self._folder, self._scale = Path(tables), scale
        self.table = cache(self._table)

    def _table(self, panel: str) -> pd.DataFrame:
        """All rows of a panel."""
        path = self._folder / f"{panel}.csv"
        try:
            return read_table(path)
        except (OSError, ValueError) as error:
            raise ResultError(
                f"{path}: cannot be read as a table ({error}). "
                f"Make it with: {rebuild_table(path, self._scale)}"
            ) from error

    def curves(self, panel: str) -> list[str]:
        """The keys of a panel's curves, in the order of the experiment file."""
        table = self.table(panel)
        return list(table.loc[table["stage"] != "baseline", "curve"].unique())

    def final(self, panel: str, curve: str, metric: str = "msre", **where: Any) -> Sample:
        """The values of one configuration over its final seeds, or repeats of a measurement."""
        return self._sample(panel, curve, metric, {"stage": "final", **where})

    def tuning(self, panel: str, curve: str, metric: str = "msre", **where: Any) -> Sample:
        """The values of one configuration and one step size over its tuning seeds."""
        return self._sample(panel, curve, metric, {"stage": "tuning", **where})

    def sweep(
        self, panel: str, curve: str, metric: str = "msre", by: str = "x", **where: Any
    ) -> list[Sample]:
        """One sample for each value of the column `by`, from the smallest on."""
        rows = self._rows(panel, curve, metric, {"stage": "final", **where})
        found = sorted(rows[by].dropna().unique())
        return [self.final(panel, curve, metric, **{**where, by: value}) for value in found]

    def step_sizes(self, panel: str, curve: str, metric: str = "msre") -> list[Sample]:
        """One sample of the tuning seeds for each step size, from the smallest on."""
        return self.sweep(panel, curve, metric, by="step_size", stage="tuning")

    def single(self, panel: str, metric: str, **where: Any) -> float:
        """A number that all rows of a metric agree on, such as `msre_exact` of the baseline."""
        rows = self._rows(panel, None, metric, where)
        values = rows["value"].unique()
        if len(values) != 1:
            raise ResultError(f"{panel}: {metric} has {len(values)} values, not one")
        return float(values[0])

    def column(self, panel: str, name: str, **where: Any) -> list[Any]:
        """The different values of a column, from the smallest on; missing ones are left out."""
        rows = self._rows(panel, None, None, where)
        present = rows.loc[rows[name].notna() & (rows[name] != ""), name]
        return sorted(present.unique())

    def along(
        self, panel: str, curve: str, metric: str, stage: str = "final", **where: Any
    ) -> pd.DataFrame:
        """A learning curve: a row for each step at which a bin ends, a column for each seed."""
        rows = self._rows(panel, curve, metric, {"stage": stage, **where})
        if rows["curve_step"].isna().any() or rows.duplicated(["curve_step", "seed"]).any():
            raise ResultError(f"{panel}, {curve}: {metric} is no curve, or that of several")
        return rows.pivot(index="curve_step", columns="seed", values="value").astype(float)

    def first_below(self, panel: str, curve: str, metric: str, level: float) -> Sample:
        """The first recorded step at which each seed's curve is below `level`."""
        seeds = self.along(panel, curve, metric)
        steps = tuple(
            float(column.index[column < level][0]) if (column < level).any() else math.nan
            for _, column in seeds.items()
        )
        return Sample(steps, curve=curve, lost=f"never below {level:g}")

    def last_part(self, panel: str, curve: str, metric: str, share: float = 0.1) -> Sample:
        """The mean of each seed's curve over the last `share` of its recorded points."""
        seeds = self.along(panel, curve, metric)
        rows = seeds.tail(max(1, round(share * len(seeds))))
        return Sample(tuple(rows.mean(skipna=False)), curve=curve)

    def _sample(self, panel: str, curve: str, metric: str, where: Mapping[str, Any]) -> Sample:
        rows = self._rows(panel, curve, metric, where)
        member = "seed" if rows["seed"].notna().any() else "repeat"
        if rows.duplicated([member]).any():
            for name in _APART:
                values = [f"{value}" for value in rows[name].dropna().unique()]
                if len(values) > 1:
                    raise ResultError(
                        f"{panel}, {curve}: {metric} has several values a {member}; "
                        f"choose {name} among {', '.join(values[:12])}"
                    )
            raise ResultError(f"{panel}, {curve}: {metric} has several values a {member}")
        traits = {name: _shared(rows[name]) for name in _TRAITS}
        values = tuple(float(value) for value in rows["value"])
        return Sample(values, str(rows["label"].iloc[0]), curve, **traits)

    def _rows(
        self, panel: str, curve: str | None, metric: str | None, where: Mapping[str, Any]
    ) -> pd.DataFrame:
        """The rows asked for, at least one."""
        rows, said = self.table(panel), panel
        asked = {"curve": curve, "metric": metric, **where}
        for name, value in asked.items():
            if value is None:
                continue
            if name not in rows:
                raise ResultError(f"{panel}: {not_among(name, list(rows), 'column')}")
            left = rows[_equal(rows[name], value)]
            if left.empty:
                known = [str(known) for known in rows[name].dropna().unique() if str(known)]
                raise ResultError(f"{said}: {not_among(str(value), known[:20], name)}")
            rows, said = left, f"{said}, {name} {value}"
        return rows


def _equal(column: pd.Series, value: Any) -> pd.Series:
    """Where a column is `value`; numbers to nine digits."""
    if isinstance(value, str) or isinstance(value, bool):
        return (column == value).fillna(False).astype(bool)
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    return pd.Series(np.isclose(numbers, float(value), rtol=1e-9, atol=0), column.index)


def _shared(column: pd.Series) -> Any:
    """The one value of a column, as a Python number; None if there are several or none."""
    values = column.dropna().unique()
    return values.tolist()[0] if len(values) == 1 else None
