"""A result file comes back as it was written, and a damaged one gives one clear error."""

import json
import os

import numpy as np
import pytest

from untruncated.basics.errors import ResultError, SuiteError
from untruncated.results import result_files as results
from untruncated.results.metric import Metric
from untruncated.results.result_files import (
    Result,
    canonical_json,
    check_replaceable,
    plain,
    read_result,
    spec_hash,
    write_result,
)

SPEC = {"cell": "gru", "width": 8, "step_sizes": [0.001, 0.003], "nested": {"b": 1, "a": None}}
HASH = "37e97db9b23d40cf"


def example(**changes) -> Result:
    fields = {
        "spec": SPEC,
        "axes": {"step_size": [0.001, 0.003], "seed": [0, 1, 2], "step": [10, 20]},
        "metrics": {
            "loss": Metric(
                ("step_size", "seed", "step"),
                np.array(
                    [[[0.1, 1 / 3], [1, 2], [3, 4]], [[5, np.nan], [np.inf, 7], [1e-8, -0.5]]],
                    np.float32,
                ),
            ),
            "exact": Metric(("step_size",), np.array([1 / 3, 2e-300])),
            "episodes": Metric(("seed",), np.array([3, 0, -5], np.int32)),
            "total": Metric((), np.float32(0.1)),
        },
        "choices": {"step_size": np.float32(0.003), "at_edge": np.bool_(True)},
        "diverged": [{"step_size": 0.003, "seed": 0, "step": 20, "reason": "loss [ is ] NaN"}],
        "timing": {"run_seconds": 1.5},
        "provenance": {"commit": None},
    }
    return Result(**fields | changes)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / f"{HASH}.json"
    write_result(path, example())
    return path


def test_canonical_json_and_hash_are_fixed_for_ever():
    text = '{"cell":"gru","nested":{"a":null,"b":1},"step_sizes":[0.001,0.003],"width":8}'
    assert canonical_json(SPEC) == text
    assert spec_hash(SPEC) == HASH
    assert spec_hash(dict(reversed(SPEC.items()))) == HASH
    assert (
        canonical_json(["µ", 1.0, 1e22, 0.1, True, (1, 2)])
        == '["\\u00b5",1.0,1e+22,0.1,true,[1,2]]'
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [-np.inf]}, object(), {1, 2}])
def test_canonical_json_refuses_what_is_not_strict(value):
    with pytest.raises(SuiteError, match="cannot be written as strict JSON"):
        canonical_json(value)


def test_plain_numbers():
    assert plain(np.float32([0.1, np.nan, -np.inf])) == [0.1, None, None]
    assert plain(np.float64([0.1 + 0.2])) == [0.30000000000000004]
    assert plain({1: (np.int8(-3), float("nan"), np.float64(2.0))}) == {"1": [-3, None, 2.0]}
    assert str(plain(np.float32([1.0, 3.0]))) == "[1.0, 3.0]"
    with pytest.raises(SuiteError, match="complex64"):
        plain(np.complex64(1j))


def test_float32_digits_come_back_bit_for_bit(tmp_path):
    bits = np.random.default_rng(0).integers(0, 2**32, 3000, dtype=np.uint32)
    values = bits.view(np.float32)
    values = values[np.isfinite(values)]
    spec = {"n": values.size}
    result = example(
        spec=spec, axes={"i": list(range(values.size))}, metrics={"x": Metric(("i",), values)}
    )
    write_result(tmp_path / "x.json", result)
    back = read_result(tmp_path / "x.json", spec).metrics["x"].values
    assert back.astype(np.float32).tobytes() == values.tobytes()


def test_a_result_comes_back_as_it_was(path):
    result, expected = read_result(path, SPEC), example()
    assert (result.spec, result.axes) == (SPEC, expected.axes)
    assert result.choices == {"step_size": 0.003, "at_edge": True}
    assert result.diverged == expected.diverged
    assert (result.timing, result.provenance) == (expected.timing, expected.provenance)
    loss = result.metrics["loss"]
    assert loss.axes == ("step_size", "seed", "step")
    first = [[0.1, 0.33333334], [1.0, 2.0], [3.0, 4.0]]
    np.testing.assert_array_equal(
        loss.values, [first, [[5.0, np.nan], [np.nan, 7.0], [1e-8, -0.5]]]
    )
    assert result.metrics["exact"].values.tolist() == [1 / 3, 2e-300]
    assert result.metrics["episodes"].values.tolist() == [3, 0, -5]
    assert result.metrics["episodes"].values.dtype == np.int64
    assert (result.metrics["total"].values.shape, float(result.metrics["total"].values)) == (
        (),
        0.1,
    )


def test_what_was_read_is_written_with_the_same_bytes(path, tmp_path):
    write_result(tmp_path / "again.json", read_result(path))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_layout_is_strict_json_with_flat_arrays_on_one_line(path):
    text = path.read_text()
    document = json.loads(text, parse_constant=pytest.fail)
    assert list(document)[:3] == ["schema", "hash", "spec"]
    assert document["metrics"]["loss"]["values"][1][0] == [5.0, None]
    assert '  "seed": [0,1,2],\n' in text
    assert "loss [ is ] NaN" in text and text.endswith("}\n")


def test_a_metric_that_does_not_fit_its_axes_is_not_written(tmp_path):
    path = tmp_path / "x.json"
    for metric, words in [
        (Metric(("seed",), np.zeros(2)), r"metric 'm' has shape \(2,\), its axes have \(3,\)"),
        (Metric(("day",), np.zeros(2)), "metric 'm' names an axis that the file lacks"),
    ]:
        with pytest.raises(SuiteError, match=words):
            write_result(path, example(metrics={"m": metric}))
    assert os.listdir(tmp_path) == []


def test_a_file_of_more_than_200_kilobytes_is_refused(tmp_path):
    values = np.random.default_rng(0).normal(size=20_000).astype(np.float32)
    big = example(
        axes={"i": list(range(20_000))}, metrics={"m": Metric(("i",), values)}, diverged=[]
    )
    with pytest.raises(SuiteError, match=r"x\.json: not written: \d{6} bytes, more than 200000"):
        write_result(tmp_path / "x.json", big)
    assert os.listdir(tmp_path) == []


# The corrupted results: each gets one message with the file and the way out.


def edited(change):
    """Applies `change` to the parsed document, in place or by returning another."""

    def corrupt(text: str) -> str:
        document = json.loads(text)
        changed = change(document)
        return json.dumps(document if changed is None else changed)

    return corrupt


def resealed(change):
    """As `edited`, with a fitting hash and checksum: what a broken writer could produce."""

    def seal(document):
        change(document)
        document["hash"] = spec_hash(document["spec"])
        names = ("spec", "axes", "metrics", "choices", "diverged")
        document["checksum"] = results._sha256({name: document[name] for name in names})

    return edited(seal)


def set_to(value, *keys):
    """A change that puts `value` at the path of keys."""

    def change(document):
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


LOSS = ("metrics", "loss", "values")
CORRUPTED = {
    "empty": (lambda text: "", "truncated or not JSON"),
    "cut at a tenth": (lambda text: text[: len(text) // 10], "truncated or not JSON"),
    "cut in half": (lambda text: text[: len(text) // 2], "truncated or not JSON"),
    "last brace lost": (lambda text: text[:-2], "truncated or not JSON"),
    "two files in one": (lambda text: text + text, "truncated or not JSON"),
    "zeros": (lambda text: "\0" * len(text), "truncated or not JSON"),
    "not UTF-8": (lambda text: text.encode()[:50] + b"\xff\xfe", "codec can't decode"),
    "nested without end": (lambda text: "[" * 100_000, "recursion"),
    "an integer without end": (lambda text: "9" * 10_000, "integer string conversion"),
    "list": (lambda text: "[1, 2]", "not a result file of this suite"),
    "number": (lambda text: "1.5", "not a result file of this suite"),
    "null": (lambda text: "null", "not a result file of this suite"),
    "foreign": (lambda text: '{"name": "demo", "version": 2}', "not a result file of this suite"),
    "schema is a word": (edited(set_to("1", "schema")), "not a result file of this suite"),
    "schema is true": (edited(set_to(True, "schema")), "not a result file of this suite"),
    "earlier schema": (edited(set_to(0, "schema")), "has result schema 0, this version reads"),
    "metrics missing": (edited(lambda d: d.pop("metrics") and None), "no valid section 'metrics'"),
    "checksum missing": (edited(lambda d: d.pop("checksum") and None), "section 'checksum'"),
    "timing a list": (edited(set_to([], "timing")), "section 'timing'"),
    "spec edited": (edited(set_to(16, "spec", "width")), "does not have the recorded hash"),
    "hash edited": (edited(set_to("0" * 16, "hash")), "does not have the recorded hash 0000"),
    "metric edited": (edited(set_to(0.2, *LOSS, 0, 0, 0)), "does not fit its checksum"),
    "null made a number": (edited(set_to(6.0, *LOSS, 1, 0, 1)), "does not fit its checksum"),
    "axis edited": (edited(set_to(9, "axes", "seed", 1)), "does not fit its checksum"),
    "choice edited": (edited(set_to(0.1, "choices", "step_size")), "does not fit its checksum"),
    "record removed": (edited(set_to([], "diverged")), "does not fit its checksum"),
    "checksum edited": (edited(set_to("0" * 64, "checksum")), "does not fit its checksum"),
    "NaN literal": (lambda text: text.replace("null", "NaN", 3), "NaN is not strict JSON"),
    "Infinity literal": (lambda text: text.replace("0.1", "-Infinity", 1), "-Infinity is not"),
    "too large a number": (
        lambda text: text.replace("0.1", "1e999", 1),
        "not be written as strict",
    ),
    "wrong length": (resealed(lambda d: d["axes"]["seed"].append(3)), r"has shape \(2, 3, 2\)"),
    "ragged": (resealed(set_to([1.0], *LOSS, 0, 0)), "metric 'loss' is not an array of numbers"),
    "words": (resealed(set_to("bad", *LOSS, 0, 0, 0)), "'loss' is not an array of numbers"),
    "object": (resealed(set_to({}, *LOSS)), "'loss' is not an array of numbers"),
    "unknown axis": (resealed(set_to(["day"], "metrics", "total", "axes")), "names an axis that"),
    "axis not a name": (resealed(set_to([[]], "metrics", "total", "axes")), "names an axis that"),
    "axes not a list": (resealed(set_to(3, "axes", "seed")), "axis 'seed' is not a list"),
    "metric a number": (resealed(set_to(3, "metrics", "total")), "'total' is not an object"),
    "record not an object": (resealed(set_to([3], "diverged")), "a record in 'diverged'"),
    "another run": (resealed(set_to(16, "spec", "width")), "not the run of its name"),
}


@pytest.mark.parametrize("name", CORRUPTED)
def test_a_corrupted_file_gives_one_clear_error(path, name):
    corrupt, words = CORRUPTED[name]
    content = corrupt(path.read_text())
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ResultError, match=words) as caught:
        read_result(path, SPEC)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert caught.value.path == path  # which the command line says how to compute again
    assert "\n" not in message


def test_what_a_later_version_wrote_is_neither_read_nor_replaced(path):
    written = edited(set_to(2, "schema"))(path.read_text())
    path.write_text(written)
    words = "has result schema 2, this version reads schema 1. Update the suite, or move the file"
    for refuse in (read_result, check_replaceable):
        with pytest.raises(ResultError, match=words) as caught:
            refuse(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert caught.value.path is None
    for text in (written[:100], "[1, 2]", edited(set_to(0, "schema"))(written)):
        path.write_text(text)
        check_replaceable(path)
    path.unlink()
    check_replaceable(path)


def test_truncated_anywhere(path):
    content = path.read_bytes()
    for length in range(0, len(content) - 1, 7):
        path.write_bytes(content[:length])
        with pytest.raises(ResultError) as caught:
            read_result(path)
        assert caught.value.path == path


def test_no_single_flipped_byte_changes_a_number_unnoticed(path):
    content, generator = path.read_bytes(), np.random.default_rng(1)
    before = read_result(path)
    for place in generator.choice(len(content), 400, replace=False):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(damaged)
        try:
            after = read_result(path)
        except ResultError:
            continue
        # white space, timing and provenance are not under the checksum
        assert (after.spec, after.axes, after.choices) == (before.spec, before.axes, before.choices)
        for name, metric in before.metrics.items():
            np.testing.assert_array_equal(after.metrics[name].values, metric.values)


def test_a_missing_file_a_folder_and_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    missing = f"results/runs/{HASH}.json"
    with pytest.raises(ResultError, match=f"^{missing}: .*does not exist$"):
        read_result(missing)
    os.makedirs(missing)
    with pytest.raises(ResultError, match=f"^{missing}: .*cannot be read"):
        read_result(missing)


def test_a_wrong_file_name(path, tmp_path):
    other = tmp_path / "0123456789abcdef.json"
    os.rename(path, other)
    with pytest.raises(
        ResultError, match=f"^{other}: .*holds run {HASH}, not the run of its name$"
    ):
        read_result(other)
    os.rename(other, tmp_path / "kept-by-hand.json")  # no hash: no claim
    assert read_result(tmp_path / "kept-by-hand.json", SPEC).spec == SPEC


def test_another_run_than_the_expected_names_the_fields(path):
    with pytest.raises(ResultError, match=f"holds run {HASH}, which differs in cell, depth"):
        read_result(path, {**SPEC, "cell": "lru", "depth": 2})
