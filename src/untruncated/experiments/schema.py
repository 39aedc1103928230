"""The JSON schema of experiment files, by which editors complete and check them.

It says what one value may be. What values must be of each other (whether a cell can be trained by a
credit assignment, whether steps are given somewhere) `expansion` and `compatibility` say: a file
that they accept is one that the schema accepts.
"""

import json
from collections.abc import Mapping
from typing import Any

from untruncated.catalogue import KINDS, PROGRAMS
from untruncated.catalogue.entry import Entry, Field
from untruncated.catalogue.field import (
    DECIMAL,
    LARGEST_FLOAT,
    LARGEST_INTEGER,
    REQUIRED,
)
from untruncated.catalogue.strangers import STRANGERS
from untruncated.experiments.figures import FALLBACKS, SCALES
from untruncated.experiments.keys import (
    CHOICE_KEYS,
    CLAIM_KEYS,
    COMPONENTS,
    EDGE_KEYS,
    FIRST_SEED,
    RUN_KEYS,
    SCALE_NUMBERS,
    SEED_KEYS,
    STEP_SIZE,
    SWEPT,
)

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
# A sweep variable, or a number that YAML 1.1 or 1.2 takes for a text: 1e-3, 15_000.
_VARIABLE: Schema = {"type": "string", "pattern": r"^\$"}
_WRITTEN: Schema = {"type": "string", "pattern": f"^(?=.*[0-9]){DECIMAL}$"}
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}
_BOUNDS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "below": "exclusiveMaximum",
    "above": "exclusiveMinimum",
    "multiple_of": "multipleOf",
}


def experiment_schema() -> Schema:
    """The schema of a file, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment file of the suite untruncated: docs/experiments.md",
        **_mapping(
            {
                "paper": TEXT | {"description": "the folder's name"},
                "title": TEXT,
                "caption": TEXT,
                "shared": _ref("run") | {"description": "what the runs have in common"},
                "seeds": _mapping(dict.fromkeys(SEED_KEYS, value_schema(FIRST_SEED)), SEED_KEYS)
                | {"description": "the first seed of either stage"},
                "scales": _mapping(
                    dict.fromkeys(SCALES, _ref("scale")),
                    required=tuple(name for name in SCALES if name not in FALLBACKS),
                ),
                "panels": {
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": {"pattern": "^[a-z]$"},
                    "additionalProperties": _ref("panel"),
                },
                "claims": {
                    "type": "array",
                    "items": _mapping(dict.fromkeys(CLAIM_KEYS, TEXT), CLAIM_KEYS),
                },
            },
            required=("paper", "title", "panels"),
        ),
        "$defs": _parts(),
    }


def schema_text() -> str:
    """The schema as it stands in a file."""
    return json.dumps(experiment_schema(), indent=1, ensure_ascii=False) + "\n"


def value_schema(field: Field, variable: bool = False) -> Schema:
    """What a field may be: with `variable`, one of the sweep in place of a number."""
    schema: Schema = {"type": _TYPES[field.type]}
    if field.choices:
        schema = {"enum": list(field.choices)}
    for name, keyword in _BOUNDS.items():
        if getattr(field, name) is not None:
            schema[keyword] = getattr(field, name)
    if field.type in (int, float):
        largest = LARGEST_INTEGER if field.type is int else LARGEST_FLOAT
        if "exclusiveMaximum" not in schema:
            schema["maximum"] = min(largest, schema.get("maximum", largest))
        if "exclusiveMinimum" not in schema:
            schema["minimum"] = max(-largest, schema.get("minimum", -largest))
        schema = {"anyOf": [schema, _WRITTEN, *([_VARIABLE] if variable else [])]}
    if field.nullable:
        schema = {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]}
    if field.default is not REQUIRED:
        schema["default"] = field.default
    return schema | ({"description": field.meaning} if field.meaning else {})


def _parts() -> Schema:
    """The schemas that stand in several places."""
    run = {key: _run_key(key) for key in RUN_KEYS}
    return {
        "run": _mapping(run),
        "scale": _scale(),
        "panel": _mapping(
            {
                "title": TEXT,
                "plot": _ref("plot"),
                "curves": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": _ref("curve"),
                },
                "curves_of": _mapping(
                    {"figure": TEXT, "panels": _names(), "curves": _names(), "label": TEXT},
                    required=("figure", "panels", "curves"),
                ),
                "baseline": _mapping(
                    {"label": TEXT, "steps": value_schema(SCALE_NUMBERS["steps"]), **run},
                    required=("label", "program"),
                ),
                **run,
            },
            required=("title", "plot"),
        ),
        "curve": _mapping(
            {
                "label": TEXT,
                "sweep": {
                    "type": "object",
                    "additionalProperties": TEXT,
                    "description": "variables, and the scale's lists that they run through",
                },
                **run,
            }
        ),
        "plot": _component("plot", variable=False),
        "width": _width(),
    } | {kind: _component(kind) for kind in COMPONENTS}


def _scale() -> Schema:
    return _mapping(
        {key: value_schema(field) for key, field in SCALE_NUMBERS.items()}
        | {
            "step_sizes": _numbers(STEP_SIZE),
            "lists": {
                "type": "object",
                "additionalProperties": _numbers(SWEPT),
                "description": "what curves sweep over, by name",
            },
            "run": _ref("run"),
            "panels": _names() | {"description": "those to show, if not all"},
            "acknowledged_edges": _choices(EDGE_KEYS)
            | {"description": "whose best step size is at the edge of the grid, and why"},
            "ten_tuning_seeds": _choices(CHOICE_KEYS)
            | {"description": "whose best step size five seeds leave open"},
        }
    )


def _choices(required: tuple[str, ...]) -> Schema:
    """Entries that name configurations by panel, curve and what the curve sweeps over."""
    value = {"anyOf": [value_schema(Field(float)), _numbers(Field(float))]}
    entry = _mapping(dict.fromkeys(required, TEXT), required) | {"additionalProperties": value}
    return {"type": "array", "items": entry}


def _run_key(key: str) -> Schema:
    """What a key of a run may be, under any program: a component, a field, or both."""
    if key == "program":
        return {"enum": list(PROGRAMS)}
    if key == "step_sizes":
        return _numbers(STEP_SIZE)
    options = [_ref(key)] if key in COMPONENTS else []
    for entry in PROGRAMS.values():
        if key in entry.fields:
            option = value_schema(entry.fields[key], variable=True)
            options += [option] if option not in options else []
    return options[0] if len(options) == 1 else {"anyOf": options}


def _component(kind: str, variable: bool = True) -> Schema:
    """A component of a kind: its name alone, if it needs no field, or a mapping."""
    entries = KINDS[kind]
    alone = [name for name, entry in entries.items() if not _required(entry)]
    names: list[Schema] = [{"enum": list(entries)}]
    bare: list[Schema] = [{"enum": alone}] if alone else []
    if kind in STRANGERS:
        stranger = {"type": "string", "pattern": ":"}
        names, bare = [*names, stranger], [*bare, stranger]
    return {
        "if": {"type": "object"},
        "then": {
            "properties": {"name": {"anyOf": names}},
            "required": ["name"],
            "allOf": [
                {
                    "if": {"properties": {"name": {"const": name}}, "required": ["name"]},
                    "then": _mapping(_fields(kind, name, entry, variable), _required(entry)),
                }
                for name, entry in entries.items()
            ],
        },
        "else": {"anyOf": bare},
    }


def _fields(kind: str, name: str, entry: Entry, variable: bool) -> Schema:
    fields = {key: value_schema(field, variable) for key, field in entry.fields.items()}
    if kind == "cell" and "width" in fields:
        fields["width"] = _ref("width")
    return {"name": {"const": name}, "semantics": {"const": entry.semantics}, **fields}


def _required(entry: Entry) -> list[str]:
    return [name for name, field in entry.fields.items() if field.default is REQUIRED]


def _width() -> Schema:
    """A cell's width: a number, or a budget that the widest cell within it meets."""
    number = KINDS["cell"]["gru"].fields["width"]
    budget = value_schema(Field(int, minimum=1), variable=True)
    budget["anyOf"][0].pop("maximum")  # a count may be of any size
    other = {"cell": _ref("cell"), "credit": _ref("credit")}
    budgets = {
        "flops": budget,
        "parameters": budget,
        "flops_of": _mapping(other, required=("cell", "credit")),
        "parameters_of": _mapping(other, required=("cell",)),
    }
    options = value_schema(number, variable=True)
    options["anyOf"].append(_mapping(budgets) | {"minProperties": 1, "maxProperties": 1})
    return options


def _ref(part: str) -> Schema:
    return {"$ref": f"#/$defs/{part}"}


def _names() -> Schema:
    return {"type": "array", "minItems": 1, "items": TEXT}


def _numbers(field: Field) -> Schema:
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": value_schema(field)}


def _mapping(properties: Mapping[str, Schema], required: Any = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
