"""Result files of old words move to their names of today, with every number as it was."""

import json

import numpy as np
import pytest

from untruncated.results import migration
from untruncated.results.metric import Metric
from untruncated.results.migration import migrate
from untruncated.results.result_files import Result, read_result, spec_hash, write_result

ONLINE = {
    "program": "online_prediction",
    "steps": 100,
    "environment": {"name": "trace_conditioning"},
    "cell": {"name": "linear_rtu", "width": 3},
    "credit": {"name": "rtrl"},
    "learner": {"name": "td"},
}
TUNING = {**ONLINE, "step_sizes": [0.001, 0.003], "seeds": [0, 1, 2]}
FINAL = {**ONLINE, "tuning": spec_hash(TUNING), "seeds": [1000, 1001, 1002]}
TIMING = {
    "program": "update_timing",
    "steps": 100,
    "learner": {"name": "td"},
    "agents": [{"cell": ONLINE["cell"], "credit": {"name": "rtrl"}}] * 2,
}
DENSE = {"program": "meta_optimisation", "problem": {"name": "x"}, "estimator": {"name": "rtrl"}}
TRACES = {**DENSE, "estimator": {"name": "cell_traces"}}
CURRENT = {**DENSE, "estimator": {"name": "uoro"}}
SPECS = {
    "tuning": TUNING,
    "final": FINAL,
    "timing": TIMING,
    "dense": DENSE,
    "traces": TRACES,
    "current": CURRENT,
}


def write(folder, spec, scale=1.0):
    sizes = spec.get("step_sizes", [0.003])
    values = scale * np.array([[0.1, np.nan, 1 / 3]] * len(sizes), np.float32)
    result = Result(
        spec=spec,
        axes={"step_size": sizes, "seed": [0, 1, 2]},
        metrics={
            "msre": Metric(("step_size", "seed"), values),
            "exact": Metric((), np.array(1 / 3)),
            "count": Metric(("seed",), np.array([3, -4, 0])),
        },
        choices={"step_size": 0.003},
        diverged=[{"step_size": 0.003, "seed": 1, "step": 7, "reason": "not finite"}],
        timing={"run_seconds": 1.5},
        provenance={"commit": "abc"},
    )
    path = folder / f"{spec_hash(spec)}.json"
    write_result(path, result)
    return path


@pytest.fixture
def paths(tmp_path):
    return {name: write(tmp_path, spec) for name, spec in SPECS.items()}


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}


def metrics_text(text):
    """What stands in a file of its axes, metrics, choices and divergence."""
    return text[text.index('\n "axes": ') : text.index('\n "checksum": ')]


def test_every_old_file_moves_and_no_number_changes(paths, tmp_path):
    before = {
        name: (path.stem, path.read_text(), read_result(path)) for name, path in paths.items()
    }
    done = migrate(tmp_path)
    assert (done.left, done.current) == ([], 1)
    assert done.moved.keys() == {before[name][0] for name in SPECS if name != "current"}
    files = contents(tmp_path)
    assert set(files) == {f"{name}.json" for name in [*done.moved.values(), paths["current"].stem]}
    assert files[paths["current"].name].decode() == before.pop("current")[1]
    for old, text, result in before.values():
        path = tmp_path / f"{done.moved[old]}.json"
        document, was = json.loads(path.read_text()), json.loads(text)
        assert document["renamed_from"] == old
        assert document["hash"] == spec_hash(document["spec"]) == path.stem != old
        assert metrics_text(path.read_text()) == metrics_text(text)
        changed = {"hash", "spec", "checksum", "renamed_from"}
        assert all(document[key] == was[key] for key in was.keys() - changed)
        after = read_result(path)
        for name, metric in result.metrics.items():
            assert after.metrics[name].axes == metric.axes
            np.testing.assert_array_equal(after.metrics[name].values, metric.values)
        assert (after.choices, after.diverged) == (result.choices, result.diverged)


def test_a_final_run_names_its_tuning_run_by_that_ones_new_hash(paths, tmp_path):
    moved = migrate(tmp_path).moved
    final = read_result(tmp_path / f"{moved[paths['final'].stem]}.json").spec
    assert final["tuning"] == moved[paths["tuning"].stem]
    assert {**final, "tuning": 0} == {
        "program": "online_prediction",
        "steps": 100,
        "environment": {"name": "trace_conditioning"},
        "cell": {"name": "linear_rtu", "width": 3},
        "gradient": {"name": "rtrl"},
        "agent": {"name": "td"},
        "tuning": 0,
        "seeds": [1000, 1001, 1002],
    }


def test_a_second_migration_changes_nothing(paths, tmp_path):
    migrate(tmp_path)
    before = contents(tmp_path)
    again = migrate(tmp_path)
    assert (again.moved, again.left, again.current) == ({}, [], len(SPECS))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("killed_at", range(1, 6))
def test_a_migration_that_was_killed_is_completed_by_another(
    paths, tmp_path, monkeypatch, killed_at
):
    whole = tmp_path / "whole"
    whole.mkdir()
    for spec in SPECS.values():
        write(whole, spec)
    migrate(whole)
    calls = []

    def killed(path, data):
        calls.append(path)
        write_atomically(path, data)
        if len(calls) == killed_at:
            raise KeyboardInterrupt  # after the new file is there, before the old one has gone

    write_atomically = migration.write_atomically
    monkeypatch.setattr(migration, "write_atomically", killed)
    with pytest.raises(KeyboardInterrupt):
        migrate(tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == len(SPECS) + 1  # one of them twice
    monkeypatch.setattr(migration, "write_atomically", write_atomically)
    assert migrate(tmp_path).left == []
    assert contents(whole) == {name: contents(tmp_path)[name] for name in contents(whole)}
    assert len(list(tmp_path.glob("*.json"))) == len(SPECS)


def test_a_final_run_that_is_brought_later_finds_its_tuning_run(tmp_path):
    write(tmp_path, TUNING)
    (tuning,) = migrate(tmp_path).moved.values()
    write(tmp_path, FINAL)
    (final,) = migrate(tmp_path).moved.values()
    assert read_result(tmp_path / f"{final}.json").spec["tuning"] == tuning


def test_a_final_run_without_its_tuning_run_is_named_and_left(tmp_path):
    path = write(tmp_path, FINAL)
    before = contents(tmp_path)
    done = migrate(tmp_path)
    assert done.moved == {}
    assert done.left == [
        f"{path}: its tuning run {FINAL['tuning']} is not among the sound files here"
    ]
    assert contents(tmp_path) == before


def test_what_is_no_sound_result_is_named_and_left(paths, tmp_path):
    damaged = tmp_path / paths["dense"].name
    damaged.write_text(damaged.read_text().replace("0.1,", "0.2,"))
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "0123456789abcdef.json").write_bytes(paths["traces"].read_bytes()[:-200])
    (tmp_path / "notes.txt").write_text("credit")
    names = [damaged.name, "list.json", "0123456789abcdef.json", "notes.txt"]
    before = {name: (tmp_path / name).read_bytes() for name in names}
    done = migrate(tmp_path)
    assert len(done.moved) == 4
    assert sorted(line.split(":")[0] for line in done.left) == sorted(
        str(tmp_path / name) for name in names[:3]
    )
    assert all((tmp_path / name).read_bytes() == content for name, content in before.items())


def test_a_new_name_that_is_taken_is_named_and_both_files_stay(tmp_path):
    path = write(tmp_path, DENSE)
    taken = write(tmp_path, {**DENSE, "estimator": {"name": "dense_rtrl"}}, scale=2.0)
    before = contents(tmp_path)
    done = migrate(tmp_path)
    assert (done.moved, done.current) == ({}, 1)
    assert done.left == [f"{path}: its new name {taken.name} is taken by another content"]
    assert contents(tmp_path) == before
