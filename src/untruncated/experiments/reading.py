"""Reads an experiment file, and checks the shape of what stands in it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from untruncated.basics.errors import SpecError
from untruncated.catalogue import CatalogueError
from untruncated.catalogue.entry import not_among, shown

LARGEST = 100_000  # values in a file, aliases written out


def read_yaml(path: Path) -> Any:
    """The content of a YAML file.

    Raises:
        SpecError: It cannot be read; says where.
    """
    try:
        loader = _UniqueKeys(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node)
        return loader.construct_document(node)
    except RecursionError as error:
        raise SpecError(f"{path}: not valid YAML: nested too deeply") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise SpecError(f"{path}:{line} not valid YAML: {problem}") from error


def _check_size(node: yaml.Node) -> None:
    """Refuses aliases that contain themselves, or that would make a small file a large one."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = LARGEST + 1  # until it is known: met again, it contains itself
            parts = node.value if isinstance(node, yaml.CollectionNode) else ()
            pairs = isinstance(node, yaml.MappingNode)
            inside = [part for pair in parts for part in pair] if pairs else parts
            sizes[id(node)] = 1 + sum(map(size, inside))
        if sizes[id(node)] > LARGEST:
            raise yaml.composer.ComposerError(
                None, None, f"its aliases make more than {LARGEST} values of it", node.start_mark
            )
        return sizes[id(node)]

    size(node)


# By tag, what is read as one. (YAML 1.1 also takes a number such as 1e-3, without a point, for a
# text; a field makes a number of it.)
_MEANT = {
    "tag:yaml.org,2002:bool": re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
    "tag:yaml.org,2002:int": re.compile(r"[-+]?(?:0|[1-9][0-9_]*)\Z"),
    "tag:yaml.org,2002:float": re.compile(
        r"(?:[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
}


class _UniqueKeys(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """A loader to which a key given twice, as a copied curve, is an error.

    What looks like a date or a number and is none, such as 2024-13-01, has its line as well. Only
    decimal numbers are numbers, and only true and false are truths: 010, 0x1F, 1:30, yes and off,
    out of which YAML 1.1 makes 8, 31, 90, true and false, are texts.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, _MEANT.get(tag, pattern)) for tag, pattern in rules]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            if node.tag in _MEANT and not _MEANT[node.tag].match(node.value):
                raise ValueError
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, TypeError, OverflowError) as error:
            kind = node.tag.rpartition(":")[2]
            raise yaml.constructor.ConstructorError(
                None, None, f"{str(node.value)[:40]!r} is no {kind}", node.start_mark
            ) from error

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict:
        if not isinstance(node, yaml.MappingNode):
            return super().construct_mapping(node, deep)  # says what is wrong
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1 and key != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", node.start_mark
                )
        return super().construct_mapping(node, deep)


def mapping(
    raw: Any, where: str, allowed: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """`raw`, if it is a mapping with the required keys and none but the allowed ones."""
    if not isinstance(raw, Mapping):
        nothing = "is empty" if where == "the file" else "is missing"
        raise CatalogueError(
            where, nothing if raw is None else f"must be a mapping, not {shown(raw)}"
        )
    prefix = "" if where == "the file" else f"{where}."
    for key in raw:
        if allowed and key not in allowed:
            raise CatalogueError(f"{prefix}{key}", not_among(key, allowed, "key"))
    for key in required:
        if key not in raw:
            raise CatalogueError(f"{prefix}{key}", "is missing")
    return raw


def texts(raw: Any, where: str) -> list[str]:
    """`raw`, if it is a list of at least one text."""
    if not isinstance(raw, list) or not raw or not all(isinstance(item, str) for item in raw):
        raise CatalogueError(where, f"must be a list of names, not {shown(raw)}")
    return raw
