"""The page of all fields that an experiment file may give, from the catalogue."""

from collections.abc import Mapping

from untruncated.catalogue import KINDS
from untruncated.catalogue.entry import Entry, Field
from untruncated.catalogue.field import REQUIRED
from untruncated.experiments.keys import COMPONENTS

_HEAD = """\
<!-- Made by `make docs` from src/untruncated/catalogue/. -->
# Fields

What an [experiment file](experiments.md) may name, and the fields that each has. A component whose
fields all have defaults may stand as its name alone.
"""


def field_page() -> str:
    """The page, in Markdown: a table for each kind of component, programs and plots."""
    return "\n".join([_HEAD, *(_section(kind) for kind in ("program", *COMPONENTS, "plot"))])


def _section(kind: str) -> str:
    lines = [f"## `{kind}`", "", "| name | field | may be | default | meaning |"]
    lines += ["|---|---|---|---|---|"]
    for names, fields in _alike(KINDS[kind]):
        title = ", ".join(f"`{name}`" for name in names)
        for name, field in fields.items() or [("", None)]:
            cells = [f"`{name}`", allowed(field), _default(field), field.meaning] if field else []
            lines.append(_row([title, *cells]))
            title = ""
    return "\n".join(lines) + "\n"


def _alike(entries: Mapping[str, Entry]) -> list[tuple[list[str], Mapping[str, Field]]]:
    """Entries with the same fields together."""
    groups: list[tuple[list[str], Mapping[str, Field]]] = []
    for name, entry in entries.items():
        same = next((names for names, fields in groups if fields == entry.fields), None)
        if same is None:
            groups.append(([name], entry.fields))
        else:
            same.append(name)
    return groups


def allowed(field: Field) -> str:
    """The values of a field, in words."""
    if field.choices:
        words = ", ".join(f"`{choice}`" for choice in field.choices)
    else:
        words = {int: "whole number", float: "number", bool: "`true`, `false`", str: "text"}[
            field.type
        ] + _range(field)
    return f"{words}, `null`" if field.nullable else words


def _range(field: Field) -> str:
    bounds = {
        "above": field.above,
        "from": field.minimum,
        "to": field.maximum,
        "below": field.below,
    }
    parts = [f"{word} {_number(bound)}" for word, bound in bounds.items() if bound is not None]
    words = f" {', '.join(parts)}".rstrip()
    if field.minimum is not None:
        ends = field.maximum is not None or field.below is not None
        words = words.replace(", to", " to") if ends else f"{words} on"
    return words + (f", a multiple of {field.multiple_of}" if field.multiple_of else "")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(field: Field) -> str:
    if field.default is REQUIRED:
        return "–"
    if field.type is str:
        return f"`{field.default}`" if field.default else "empty"
    if field.default is None or field.type is bool:
        return f"`{str(field.default).lower().replace('none', 'null')}`"
    return _number(field.default)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells + [''] * (5 - len(cells)))} |"
