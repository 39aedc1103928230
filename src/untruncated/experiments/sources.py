"""Which modules a module imports, read from the source without running it."""

import ast
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def source_files(module: str, rooms: tuple[str, ...]) -> set[Path]:
    """The files of a module of this package and of all that it imports from some of its rooms.

    Args:
        module: A name such as `untruncated.plots.figure`.
        rooms: Packages to follow imports into, such as `untruncated.plots`.
    """
    found, to_read = set(), {module}
    while to_read:
        path = _file(to_read.pop())
        if path is not None and path not in found:
            found.add(path)
            to_read |= {name for name in _imports(path) if name.startswith(rooms)}
    return found


def _file(module: str) -> Path | None:
    base = _PACKAGE.joinpath(*module.split(".")[1:])
    paths = [base.with_suffix(".py"), base / "__init__.py"]
    return next((path for path in paths if path.is_file()), None)


@cache
def _imports(path: Path) -> frozenset[str]:
    """Every name that may be a module's, wherever in the file it is imported."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)
