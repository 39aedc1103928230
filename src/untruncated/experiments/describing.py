"""A configuration in a few words."""

from collections.abc import Mapping
from typing import Any

from untruncated.catalogue import lookup
from untruncated.catalogue.programs import ProgramEntry
from untruncated.experiments.said import Run


def describe(fields: Mapping[str, Any], program: ProgramEntry, common: Run) -> str:
    """What a run of these fields is, e.g. "gru of width 8, truncated_bptt 45".

    Then come the fields of its cell that are not their defaults, and all in which the run differs
    from what the figure says for all runs, a swept field among them.
    """
    words = []
    for kind in sorted(program.parts, key=lambda kind: kind not in ("cell", "credit")):
        given = fields[kind]
        if kind == "cell":
            words.append(f"{given['name']} of width {given['width']}")
            words += _unusual("cell", given, leave_out=("name", "width"))
        elif kind == "credit" or kind not in common:
            words.append(" ".join(map(str, given.values())))
        else:
            words += _differences(given, common[kind].stated(kind))
    for name, field in program.fields.items():
        usual = common[name].value if name in common else field.default
        if name != "steps" and name in fields and fields[name] != usual:
            words.append(f"{name} {fields[name]}")
    return ", ".join(words)


def _unusual(kind: str, given: Mapping[str, Any], leave_out: tuple[str, ...]) -> list[str]:
    fields = lookup(kind, given["name"], kind).fields
    return [
        f"{key} {value}"
        for key, value in given.items()
        if key not in leave_out and value != fields[key].default
    ]


def _differences(given: Mapping[str, Any], common: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} {value}" if key != "name" else str(value)
        for key, value in given.items()
        if common.get(key) != value
    ]
