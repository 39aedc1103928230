"""Which configurations the entries of `acknowledged_edges` and `ten_tuning_seeds` name."""

import itertools
from collections.abc import Iterable, Mapping

from untruncated.catalogue import CatalogueError
from untruncated.catalogue.entry import not_among
from untruncated.experiments.configurations import Configuration
from untruncated.experiments.scales import Choice


def chosen(
    choices: Iterable[Choice], panels: Mapping[str, list[Configuration]]
) -> dict[str, Choice]:
    """The configurations that the entries name, by identity, each with its entry.

    Raises:
        CatalogueError: An entry names none, more than it says, or what another has named.
    """
    found: dict[str, Choice] = {}
    for choice in choices:
        for one in _named(choice, panels):
            if one.identity in found:
                raise CatalogueError(
                    choice.where, f"{one.name} is named by {found[one.identity].where} already"
                )
            found[one.identity] = choice
    return found


def _named(choice: Choice, panels: Mapping[str, list[Configuration]]) -> list[Configuration]:
    curve = _curve(choice, panels)
    variables = list(curve[0].sweep)
    for variable, values in choice.values.items():
        where = f"{choice.where}.{variable}"
        if variable not in variables:
            raise CatalogueError(where, not_among(variable, variables, "sweep variable"))
        swept = dict.fromkeys(one.sweep[variable] for one in curve)
        for value in values:
            if value not in swept:
                raise CatalogueError(where, not_among(value, swept))
    named = []
    for values in itertools.product(*choice.values.values()):
        wanted = dict(zip(choice.values, values, strict=True))
        same = {one.identity: one for one in curve if wanted.items() <= one.sweep.items()}
        if len(same) > 1:
            missing = [name for name in variables if name not in choice.values]
            raise CatalogueError(
                choice.where, f"names {len(same)} configurations: give {' and '.join(missing)}"
            )
        named += same.values()
    for one in named:
        if not one.is_tuned:
            raise CatalogueError(choice.where, f"{one.name} is not tuned")
    return named


def _curve(choice: Choice, panels: Mapping[str, list[Configuration]]) -> list[Configuration]:
    """The configurations of the curve that an entry names."""
    if choice.panel not in panels:
        raise CatalogueError(f"{choice.where}.panel", not_among(choice.panel, panels, "panel"))
    panel = panels[choice.panel]
    curve = [one for one in panel if one.curve == choice.curve]
    if not curve:
        curves = dict.fromkeys(one.curve for one in panel)
        raise CatalogueError(f"{choice.where}.curve", not_among(choice.curve, curves, "curve"))
    return curve
