"""Whether every result file is sound: whole, of a run that is known, and made as it should be."""

from pathlib import Path

from untruncated.basics.command_lines import EXPERIMENTS, compute_run
from untruncated.basics.errors import ResultError
from untruncated.basics.messages import tell
from untruncated.commands.advice import broken_files, told
from untruncated.commands.recomputing import Sound, recompute
from untruncated.commands.status import check_tuning, contradicts
from untruncated.experiments.finding import Runs
from untruncated.experiments.spec import resolve_run
from untruncated.results.migration import result_paths
from untruncated.results.result_files import read_result
from untruncated.running.number_settings import unusual


def verify_results(folder: Path, experiments: Path = EXPERIMENTS, recomputed: int = 0) -> int:
    """Checks every result file in a folder, and that this version still knows its spec.

    A result made under settings that round in another way is named in a note. The first chunks of
    so many runs as `recomputed` says are computed again and compared.

    Returns:
        0 if all are sound, and the experiment files, if there are any, too; 1 if not, or if a run
        came out otherwise. Each defect is told on a line of its own.

    Raises:
        ResultError: There are none.
    """
    paths = result_paths(folder)
    if not paths:
        raise ResultError(f"{folder}: no result files here; --results names another folder")
    runs = Runs(experiments)
    checked = [check_file(path, runs) for path in paths]
    sound = [one for one in checked if isinstance(one, Sound)]
    broken = broken_files(runs)
    for defect in (*(one for one in checked if isinstance(one, str)), *broken):
        tell(f"error: {defect}")
    for path, _, result in sound:
        if settings := unusual(result.provenance):
            print(f"note: {path}: computed with {settings}, which may round in another way")
    print(f"{len(sound)} of {len(paths)} result files in {folder} are sound")
    agree = recompute(sound, recomputed) if recomputed else True
    return 1 if len(sound) < len(paths) or broken or not agree else 0


def check_file(path: Path, runs: Runs) -> Sound | str:
    """The result in a file, or what is wrong with it and what to do."""
    try:
        result = read_result(path)
        spec = resolve_run(result.spec)
        check_tuning(path, spec, result)
    except ResultError as error:
        return told(error, runs)
    except ValueError as error:
        return f"{path}: a run that this version does not know: {error}"
    again = compute_run(path, runs.experiments)
    if spec.canonical != result.spec:
        return (
            f"{path}: this version names the run {spec.hash}. Remove the file after computing that "
            f"with: {again}"
        )
    problem = contradicts(spec, result, path.parent)
    return (
        f"{path}: {problem}. Compute it again with: {again}"
        if problem
        else Sound(path, spec, result)
    )
