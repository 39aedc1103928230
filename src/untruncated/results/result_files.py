"""The result file: one run's metrics, written whole, checked whole.

JSON, strict: a number that is not finite is null. A SHA-256 over spec, axes, metrics, choices and
divergence records tells a damaged or hand-edited file; timing and provenance are outside it.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from untruncated.basics.errors import NewerResultError, ResultError, SuiteError
from untruncated.basics.files import write_atomically
from untruncated.catalogue.field import one_line, shown
from untruncated.results.metric import Metric

__all__ = [
    "SCHEMA",
    "Metric",
    "Result",
    "canonical_json",
    "check_replaceable",
    "layout",
    "plain",
    "read_document",
    "read_result",
    "recorded_spec",
    "spec_hash",
    "with_spec",
    "write_result",
]

SCHEMA = 1
SIZE_LIMIT = 200_000  # bytes; the files are committed, hundreds of them

_CHECKED = {"spec": dict, "axes": dict, "metrics": dict, "choices": dict, "diverged": list}
_SECTIONS = {"hash": str, **_CHECKED, "checksum": str, "timing": dict, "provenance": dict}
_HASH = re.compile(r"[0-9a-f]{16}")
_FLAT_ARRAY = re.compile(r'\[\s+[^][{}"]*\]')  # an indented array of nothing but numbers


class _Defect(ValueError):
    """What is wrong with a file's content; the reader adds its name and the way out."""

    def __init__(self, problem: str) -> None:
        super().__init__(one_line(problem))


class _Newer(_Defect):
    """The content is in order, but of a later version of the suite."""

    def __init__(self, schema: int) -> None:
        super().__init__(
            f"the file has result schema {schema}, this version reads schema {SCHEMA}. Update the "
            "suite, or move the file away to compute the run anew"
        )


@dataclass(frozen=True, eq=False)
class Result:
    """One run: what was asked, what came out, and how.

    `axes` maps a name to its coordinates; `choices` holds what the run picked itself; `diverged`
    has a record per member that diverged (a coordinate per axis, "step", "reason"). `timing` is in
    seconds.
    """

    spec: dict[str, Any]
    axes: dict[str, list]
    metrics: dict[str, Metric]
    choices: dict[str, Any]
    diverged: list[dict[str, Any]]
    timing: dict[str, Any]
    provenance: dict[str, Any]


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, shortest numbers, ASCII.

    Raises:
        SuiteError: The value has a NaN, an infinity, or something that JSON lacks.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SuiteError(f"cannot be written as strict JSON: {error}") from error


def spec_hash(spec: dict[str, Any]) -> str:
    """A run's identity: the first 16 hex digits of the SHA-256 of its canonical JSON."""
    return hash_of(canonical_json(spec))


def hash_of(text: str) -> str:
    """The hash of a spec by its canonical JSON."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def plain(value: Any) -> Any:
    """A value as JSON knows it: numpy and jax arrays become lists, what is not finite null.

    Floats narrower than float64 become the shortest decimal that reads back as the same float32.
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    array = np.asarray(value)
    if array.dtype.kind in "biu":
        return array.tolist()
    if array.dtype.kind != "f":
        raise SuiteError(f"cannot be written as JSON: {type(value).__name__} of {array.dtype}")
    if array.dtype != np.float64:
        array = array.astype(np.float32).astype(str).astype(np.float64)
    return np.where(np.isfinite(array), array.astype(object), None).tolist()


def write_result(path: str | Path, result: Result) -> None:
    """Writes a result atomically.

    Raises:
        SuiteError: A metric does not fit its axes, the file would be larger than 200 kB, or it
            cannot be written (the old file is then untouched).
    """
    metrics = {
        name: {"axes": list(metric.axes), "values": plain(metric.values)}
        for name, metric in result.metrics.items()
    }
    checked = {
        "spec": result.spec,
        "axes": plain(result.axes),
        "metrics": metrics,
        "choices": plain(result.choices),
        "diverged": plain(result.diverged),
    }
    try:
        _decode_metrics(checked["axes"], metrics)
    except _Defect as error:
        raise SuiteError(f"{path}: not written: {error}; correct the program") from error
    document = {
        "schema": SCHEMA,
        "hash": spec_hash(result.spec),
        **checked,
        "checksum": _sha256(checked),
        "timing": plain(result.timing),
        "provenance": plain(result.provenance),
    }
    text = layout(document)
    if len(text) > SIZE_LIMIT:
        raise SuiteError(
            f"{path}: not written: {len(text)} bytes, more than {SIZE_LIMIT}; "
            "record shorter curves (at most 200 points) or fewer metrics"
        )
    write_atomically(path, text)


def layout(document: dict[str, Any]) -> str:
    """Indented JSON with every array of numbers on one line, so that differences read well."""
    text = json.dumps(document, indent=1, allow_nan=False)
    return _FLAT_ARRAY.sub(lambda match: re.sub(r"\n\s*", "", match[0]), text) + "\n"


def read_result(path: str | Path, expected_spec: dict[str, Any] | None = None) -> Result:
    """Reads and checks a result; null comes back as NaN in metrics, floats as float64.

    Args:
        path: The file.
        expected_spec: If given, the file must hold this very run.

    Raises:
        ResultError: The file is missing, truncated, foreign, of another schema, another run's,
            edited by hand, or misshapen. Names the file; `advice.told` adds the way out.
    """
    return _checked(Path(path), expected_spec)[1]


def read_document(path: str | Path) -> dict[str, Any]:
    """A result file's JSON object, checked as `read_result` checks it.

    Raises:
        ResultError: As `read_result`.
    """
    return _checked(Path(path), None)[0]


def _checked(path: Path, expected: dict[str, Any] | None) -> tuple[dict[str, Any], Result]:
    """The file's JSON object, and the result in it."""
    try:
        document = _parse(path)
        _check_identity(document, path.stem, expected)
        return document, _decode(document)
    except _Newer as error:
        raise NewerResultError(f"{path}: {error}") from error
    # SuiteError and RecursionError: numbers such as 1e999 and nesting that no result has
    except (ValueError, OverflowError, RecursionError, SuiteError) as error:
        raise ResultError(f"{path}: {error}", path) from error


def with_spec(document: Mapping[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """A result's JSON object with another spec, and the hash and the checksum that go with it."""
    checked = {name: document[name] for name in _CHECKED} | {"spec": spec}
    return {**document, **checked, "hash": spec_hash(spec), "checksum": _sha256(checked)}


def recorded_spec(document: Mapping[str, Any], where: str, stem: str = "") -> dict[str, Any]:
    """The spec in a result's JSON object, for the run to be computed anew.

    Args:
        document: The object.
        where: What the message calls it.
        stem: The file's name, which must be the run's if it is a hash.

    Raises:
        ResultError: The result is of another schema, its spec is not the one it was written with,
            or it is another run's.
    """
    try:
        _check_schema(document)
        _check_hash(document)
        _check_name(document, stem)
    except _Newer as error:
        raise NewerResultError(f"{where}: {error}") from error
    except (_Defect, RecursionError, SuiteError) as error:
        raise ResultError(f"{where}: {error}") from error
    return document["spec"]


def check_replaceable(path: Path) -> None:
    """Raises a NewerResultError where a run would replace what a later version of this wrote."""
    try:
        _check_schema(json.loads(path.read_text(encoding="utf-8")))
    except _Newer as error:
        raise NewerResultError(f"{path}: {error}") from error
    except (OSError, ValueError, RecursionError):
        return  # nothing, or nothing that anyone can read


def _parse(path: Path) -> dict[str, Any]:
    """The file's JSON object, with every section of a result of this schema, of its type."""

    def refuse(literal: str) -> None:
        raise _Defect(f"not a result file: {literal} is not strict JSON")

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise _Defect("the result file does not exist") from None
    except OSError as error:
        raise _Defect(f"the result file cannot be read ({error.strerror})") from error
    try:
        document = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise _Defect(f"truncated or not JSON ({error})") from error
    _check_schema(document)
    return document


def _check_schema(document: Any) -> None:
    """That it is a result of this schema, with every section of its type."""
    if not isinstance(document, dict) or type(document.get("schema")) is not int:
        raise _Defect("not a result file of this suite")
    schema = document["schema"]
    if schema > SCHEMA:
        raise _Newer(schema)
    if schema != SCHEMA:
        raise _Defect(f"the file has result schema {schema}, this version reads schema {SCHEMA}")
    for name, kind in _SECTIONS.items():
        if not isinstance(document.get(name), kind):
            raise _Defect(f"not a result file of this suite (no valid section {name!r})")


def _check_hash(document: Mapping[str, Any]) -> None:
    claimed = document["hash"]
    if claimed != spec_hash(document["spec"]):
        raise _Defect(f"the spec does not have the recorded hash {claimed[:40]}: edited by hand?")


def _check_name(document: Mapping[str, Any], stem: str) -> None:
    if _HASH.fullmatch(stem) and stem != document["hash"]:
        raise _Defect(f"the file holds run {document['hash']}, not the run of its name")


def _check_identity(document: dict[str, Any], stem: str, expected: dict[str, Any] | None) -> None:
    """That the file is the run it claims to be, the one asked for, and as it was written."""
    _check_hash(document)
    _check_name(document, stem)
    spec, claimed = document["spec"], document["hash"]
    if expected is not None and claimed != spec_hash(expected):
        names = sorted(
            name
            for name in spec.keys() | expected.keys()
            if name not in spec or name not in expected or spec[name] != expected[name]
        )
        raise _Defect(f"the file holds run {claimed}, which differs in {', '.join(names)}")
    if document["checksum"] != _sha256({name: document[name] for name in _CHECKED}):
        raise _Defect("the content does not fit its checksum: damaged or edited by hand")


def _decode(document: dict[str, Any]) -> Result:
    """The result in a document whose sections and checksum are in order."""
    choices = document["choices"]
    for record in (choices, *document["diverged"]):
        if not isinstance(record, dict):
            raise _Defect("a record in 'diverged' is not an object")
        if not isinstance(size := record.get("step_size", 0.0), int | float):
            raise _Defect(f"a step size is no number: {shown(size)}")
    if choices.get("at_edge") and "step_size" not in choices:
        raise _Defect("a step size is at an edge, and not said")
    sections = {name: document[name] for name in (*_CHECKED, "timing", "provenance")}
    return Result(**sections | {"metrics": _decode_metrics(sections["axes"], sections["metrics"])})


def _decode_metrics(axes: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Metric]:
    """Metrics from their JSON form; a _Defect where one does not fit the axes."""
    for name, coordinates in axes.items():
        if not isinstance(coordinates, list):
            raise _Defect(f"axis {name!r} is not a list")
    decoded = {}
    for name, metric in metrics.items():
        if not isinstance(metric, dict) or metric.keys() != {"axes", "values"}:
            raise _Defect(f"metric {name!r} is not an object of axes and values")
        names, values = metric["axes"], _array(name, metric["values"])
        if not isinstance(names, list) or not all(
            isinstance(axis, str) and axis in axes for axis in names
        ):
            raise _Defect(f"metric {name!r} names an axis that the file lacks: {shown(names)}")
        shape = tuple(len(axes[axis]) for axis in names)
        if values.shape != shape:
            raise _Defect(f"metric {name!r} has shape {values.shape}, its axes have {shape}")
        decoded[name] = Metric(tuple(names), values)
    return decoded


def _array(name: str, values: Any) -> np.ndarray:
    """Nested lists of numbers as an array, null as NaN."""
    try:
        array = np.asarray(values)
        if array.dtype == object:
            array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _Defect(f"metric {name!r} is not an array of numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        raise _Defect(f"metric {name!r} is not an array of numbers")
    return array
