"""What an import costs, and that no room imports from above."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "untruncated"
LEARNING = {"cells", "datasets", "environments", "estimators", "layers", "problems", "agents"}
BELOW = {"basics", "catalogue"}
ALLOWED = {
    "catalogue": set(),
    "cells": {"catalogue"},
    "environments": {"catalogue"},
    "datasets": set(),
    "estimators": {"catalogue", "cells"},
    "layers": {"catalogue", "cells", "estimators"},
    "problems": {"catalogue", "cells", "environments", "datasets"},
    "agents": {"catalogue", "cells", "estimators", "environments"},
    "testing": {"cells", "estimators", "problems"},
    "programs": LEARNING | {"catalogue", "results"},
    "basics": set(),
    "results": BELOW,
    "experiments": BELOW | {"results"},
    "running": BELOW | {"results", "experiments"},
    "tables": BELOW | {"results", "experiments"},
    "statistics": set(),
    "plots": BELOW | {"results", "experiments", "tables", "statistics"},
    "pages": BELOW | {"results", "experiments", "tables", "statistics", "plots"},
    "rendering": {"environments"},
    "commands": BELOW
    | {"results", "experiments", "tables", "running", "environments", "rendering"},
}
ALLOWED_FOR_TYPES = {"estimators": {"problems"}, "running": {"programs"}}
LAZY = [
    "cells",
    "datasets",
    "environments",
    "environments.popgym",
    "environments.wrappers",
    "estimators",
    "layers",
    "problems",
    "testing",
]


@pytest.mark.parametrize(
    "module",
    ["untruncated", "untruncated.catalogue", "untruncated.experiments.figures"]
    + [f"untruncated.{room}" for room in LAZY],
)
def test_imports_no_jax(module):
    code = f"import sys, {module}; sys.exit('jax' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("room", LAZY)
def test_every_export_exists_and_is_listed(room):
    package = importlib.import_module(f"untruncated.{room}")
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
        assert name in dir(package)
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = package.missing


def test_a_layer_can_be_imported_by_name():
    from untruncated.layers import LinearRTU

    assert LinearRTU(width=3).width == 3


def imports(tree: ast.AST, for_types: bool = False) -> Iterator[tuple[str, bool]]:
    """Every module of ours that is imported, and whether only while types are checked."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                yield from imports(ast.Module([child], []), for_types=True)
            for child in node.orelse:
                yield from imports(ast.Module([child], []), for_types)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room they come from"
            if node.module == "untruncated":
                yield from ((f"untruncated.{alias.name}", for_types) for alias in node.names)
            else:
                yield node.module, for_types
        else:
            yield from imports(node, for_types)


def rooms(source: str) -> set[tuple[str, bool]]:
    parts = [(module.split("."), for_types) for module, for_types in imports(ast.parse(source))]
    return {(p[1], for_types) for p, for_types in parts if p[0] == "untruncated" and len(p) > 1}


def violations(room: str, source: str) -> set[str]:
    allowed = ALLOWED[room] | {room, "lazy", "caches"}
    for_types = allowed | ALLOWED_FOR_TYPES.get(room, set())
    return {name for name, typed in rooms(source) if name not in (for_types if typed else allowed)}


def test_every_room_has_its_line_in_the_table():
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(ALLOWED)


@pytest.mark.parametrize("room", ALLOWED)
def test_nothing_imports_upwards(room):
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in sorted((ROOT / room).rglob("*.py"))
        if (wrong := violations(room, path.read_text()))
    }
    assert not found


def test_the_check_sees_every_way_to_import():
    assert violations("cells", "from untruncated import agents") == {"agents"}
    assert violations("cells", "def f():\n    import untruncated.experiments.spec") == {
        "experiments"
    }
    assert violations("running", "from untruncated.programs.protocol import Program") == {
        "programs"
    }
    typed = "if TYPE_CHECKING:\n    from untruncated.programs.protocol import Program"
    assert violations("running", typed) == set()
    assert violations("cells", typed) == {"programs"}
