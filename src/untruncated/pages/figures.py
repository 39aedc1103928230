"""What a template can ask of the tables of one scale, by a panel's name such as `rtu_figure2a`."""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from untruncated.basics.command_lines import collect_table
from untruncated.basics.errors import ResultError
from untruncated.catalogue.entry import not_among
from untruncated.catalogue.programs import better
from untruncated.statistics.samples import Sample
from untruncated.statistics.words import number
from untruncated.tables.panel_tables import KINDS, read_table

# Some rows of a table: an array for each column, texts as they are, all else as numbers, where a
# missing value is NaN. (Hundreds of selections in data frames would take a minute.)
Rows = Mapping[str, np.ndarray]

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
        self.table, self._metrics = cache(self._read), cache(self._by_metric)

    def _read(self, panel: str) -> pd.DataFrame:
        """All rows of a panel."""
        path = self._folder / f"{panel}.csv"
        try:
            return read_table(path)
        except (OSError, ValueError) as error:
            raise ResultError(
                f"{path}: cannot be read as a table ({error}). "
                f"Make it with: {collect_table(path, self._scale)}"
            ) from error

    def _by_metric(self, panel: str) -> dict[str | None, Rows]:
        """The rows of each metric, which are few where learning curves stand beside them; under
        None all rows."""
        table = self.table(panel)
        rows = {
            name: table[name].to_numpy(object if kind == "text" else float, na_value=np.nan)
            for name, kind in KINDS.items()
        }
        metrics = rows["metric"]
        return {None: rows} | {m: _where(rows, metrics == m) for m in dict.fromkeys(metrics)}

    def curves(self, panel: str) -> list[str]:
        """The keys of a panel's curves, in the order of the experiment file."""
        rows = self._metrics(panel)[None]
        return list(dict.fromkeys(rows["curve"][rows["stage"] != "baseline"]))

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
        found = _different(rows[by])
        return [self.final(panel, curve, metric, **{**where, by: value}) for value in found]

    def step_sizes(self, panel: str, curve: str, metric: str = "msre") -> list[Sample]:
        """One sample of the tuning seeds for each step size, from the smallest on."""
        return self.sweep(panel, curve, metric, by="step_size", stage="tuning")

    def single(self, panel: str, metric: str, **where: Any) -> float:
        """A number that all rows of a metric agree on, such as `msre_exact` of the baseline."""
        values = np.unique(self._rows(panel, None, metric, where)["value"])
        if len(values) != 1:
            raise ResultError(f"{panel}: {metric} has {len(values)} values, not one")
        return float(values[0])

    def column(self, panel: str, name: str, **where: Any) -> list[Any]:
        """The different values of a column, from the smallest on; missing ones are left out."""
        return _different(self._rows(panel, None, None, where)[name])

    def along(
        self, panel: str, curve: str, metric: str, stage: str = "final", **where: Any
    ) -> pd.DataFrame:
        """A learning curve: a row for each step at which a bin ends, a column for each seed."""
        rows = self._rows(panel, curve, metric, {"stage": stage, **where})
        curves = pd.DataFrame({name: rows[name] for name in ("curve_step", "seed", "value")})
        if curves["curve_step"].isna().any() or curves.duplicated(["curve_step", "seed"]).any():
            raise ResultError(f"{panel}, {curve}: {metric} is no curve, or that of several")
        return curves.pivot(index="curve_step", columns="seed", values="value")

    def first_below(self, panel: str, curve: str, metric: str, level: float) -> Sample:
        """The first recorded step at which each seed's curve is below `level`."""
        seeds = self.along(panel, curve, metric)
        steps = tuple(
            float(column.index[column < level][0]) if (column < level).any() else math.nan
            for _, column in seeds.items()
        )
        return Sample(steps, curve=curve, lost=f"never below {number(level, 1)}")

    def at_step(self, panel: str, curve: str, metric: str, step: float, **where: Any) -> Sample:
        """Each seed's curve where it is first recorded at `step` or later, or at its end."""
        seeds = self.along(panel, curve, metric, **where)
        place = min(int(seeds.index.searchsorted(step)), len(seeds) - 1)
        values, x = tuple(seeds.iloc[place]), float(seeds.index[place])
        return Sample(values, curve=curve, x=x, better=better(metric))

    def last_part(self, panel: str, curve: str, metric: str, share: float = 0.1) -> Sample:
        """The mean of each seed's curve over the last `share` of its recorded points."""
        seeds = self.along(panel, curve, metric)
        rows = seeds.tail(max(1, round(share * len(seeds))))
        return Sample(tuple(rows.mean(skipna=False)), curve=curve, better=better(metric))

    def _sample(self, panel: str, curve: str, metric: str, where: Mapping[str, Any]) -> Sample:
        rows = self._rows(panel, curve, metric, where)
        member = "repeat" if np.isnan(rows["seed"]).all() else "seed"
        if len(np.unique(rows[member])) < len(rows[member]):
            several = [name for name in _APART if len(_different(rows[name])) > 1]
            values = ", ".join(map(str, _different(rows[several[0]])[:12])) if several else ""
            advice = f"; choose {several[0]} among {values}" if several else ""
            raise ResultError(f"{panel}, {curve}: {metric} has several values a {member}{advice}")
        traits = {name: _shared(rows[name]) for name in _TRAITS}
        values, label = tuple(rows["value"].tolist()), str(rows["label"][0])
        return Sample(values, label, curve, **traits, better=better(metric))

    def _rows(
        self, panel: str, curve: str | None, metric: str | None, where: Mapping[str, Any]
    ) -> Rows:
        """The rows asked for, at least one."""
        by_metric, said = self._metrics(panel), panel
        rows = by_metric.get(metric, by_metric[None])
        for name, value in {"metric": metric, "curve": curve, **where}.items():
            if value is None:
                continue
            if name not in rows:
                raise ResultError(f"{panel}: {not_among(name, list(rows), 'column')}")
            mask = _equal(rows[name], value)
            if not mask.any():
                known = _different(rows[name])[:20]
                raise ResultError(f"{said}: {not_among(str(value), known, name)}")
            rows, said = _where(rows, mask), f"{said}, {name} {value}"
        return rows


def _where(rows: Rows, mask: np.ndarray) -> Rows:
    return rows if mask.all() else {name: column[mask] for name, column in rows.items()}


def _equal(column: np.ndarray, value: Any) -> np.ndarray:
    """Where a column is `value`; numbers to nine digits."""
    if column.dtype == object:
        return column == value
    return np.isclose(column, float(value), rtol=1e-9, atol=0)


def _different(column: np.ndarray) -> list[Any]:
    """The different values, sorted, without those that are missing; whole numbers as such."""
    if column.dtype == object:
        return sorted(set(column) - {""})
    values = np.unique(column[~np.isnan(column)]).tolist()
    return [int(value) if value.is_integer() else value for value in values]


def _shared(column: np.ndarray) -> Any:
    """The one value of a column; None if there are several or none."""
    values = _different(column)
    return values[0] if len(values) == 1 else None
