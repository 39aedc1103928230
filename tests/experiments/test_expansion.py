"""The way from files to runs is straight: nothing is read, expanded or resolved twice."""

from collections import Counter
from pathlib import Path

import pytest

from untruncated.experiments import expanded_files, expansion, said
from untruncated.experiments.expansion import Folder
from untruncated.experiments.figures import SCALES

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = sorted(EXPERIMENTS.glob("*/*.yaml"))


@pytest.fixture
def counted(monkeypatch):
    """How often a function of a module is called, by what `key` makes of its arguments."""

    def of(module, name, key):
        calls, function = Counter(), getattr(module, name)

        def counting(*arguments):
            calls[key(*arguments)] += 1
            return function(*arguments)

        monkeypatch.setattr(module, name, counting)
        return calls

    return of


def test_a_file_is_read_once_whatever_scales_are_asked_for(counted):
    reads = counted(expansion, "read_yaml", lambda path: path)
    folder = Folder(EXPERIMENTS)
    assert reads == {}
    for scale in SCALES:
        assert folder.at(scale) is folder.at(scale)
    assert reads == dict.fromkeys(FILES, 1)


def test_curves_that_are_lent_are_expanded_once_at_a_scale(counted):
    curves = counted(expanded_files, "curve_configurations", lambda curve, _: id(curve))
    figures = Folder(EXPERIMENTS).at("paper")
    assert set(curves.values()) == {1}
    lent, shown = figures["rtu_figure2"], figures["rtu_figure13"]
    assert {id(run) for run in shown.runs.values()} <= {id(run) for run in lent.runs.values()}


def test_a_component_is_resolved_once_at_its_place_for_all_that_share_its_values(counted):
    resolved = counted(
        said, "resolve_component", lambda kind, value, where: (kind, id(value), str(value))
    )
    figures = Folder(EXPERIMENTS).at("paper")
    runs = {name for figure in figures.values() for name in figure.runs}
    assert len(runs) > 3000
    assert resolved.total() < len(runs) / 2
    environments = sum(count for key, count in resolved.items() if key[0] == "environment")
    assert environments <= 2 * len(FILES)
