"""Scripts of .ci, which are no modules of a package."""

import importlib.util
from pathlib import Path
from types import ModuleType

CI = Path(__file__).parents[1] / ".ci"


def ci_script(name: str) -> ModuleType:
    """The module that a script is."""
    spec = importlib.util.spec_from_file_location(name, CI / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
