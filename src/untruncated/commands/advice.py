"""What the command line says of an error: what is wrong, and the command that mends it."""

from untruncated.basics.command_lines import compute_run
from untruncated.basics.errors import ResultError, SpecError, SuiteError
from untruncated.experiments.finding import Runs, find_run


def told(error: Exception, runs: Runs) -> str:
    """The error's text; of a result file with the command that computes its run again.

    No command is named where none can: the file has lost its spec, and no experiment file asks for
    a run of its name.
    """
    if not isinstance(error, ResultError) or error.path is None:
        return str(error)
    try:
        find_run(str(error.path), runs)
    except SuiteError:
        said = f"neither the file nor an experiment file under {runs.experiments} says"
        maybe = "".join(f"; one that cannot be read may: {broken}" for broken in broken_files(runs))
        return f"{error}. It cannot be computed again: {said} what to compute{maybe}"
    return f"{error}. Compute it again with: {compute_run(error.path, runs.experiments)}"


def broken_files(runs: Runs) -> list[SpecError]:
    """What is wrong with the experiment files that cannot be read; there may be none at all."""
    try:
        return runs.broken
    except SpecError:  # no experiment files
        return []
