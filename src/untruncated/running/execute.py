"""From a run to its finished result file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untruncated.basics.errors import ResultError, SpecError
from untruncated.catalogue import lookup
from untruncated.experiments.spec import RunSpec
from untruncated.results.result_files import Result, read_result
from untruncated.running.jax_settings import start_jax
from untruncated.running.tuning import choose_step_size

if TYPE_CHECKING:  # the suite knows programs by name only
    from untruncated.programs.protocol import Program


def execute(
    spec: RunSpec,
    output: Path,
    *,
    checkpoint_seconds: float = 30.0,
    progress: bool = True,
    force: bool = False,
    last_words: Callable[[str], None] | None = None,
) -> Result:
    """Computes a run and writes its result.

    A final run reads its tuning run's result from the folder of `output`.

    Args:
        spec: The run.
        output: The result file.
        checkpoint_seconds: The least time between two checkpoints.
        progress: Whether to show a progress bar on stderr.
        force: Whether to go on where the run needs more memory than there is.
        last_words: Notes why the process ends at once, where signals may end it; see `run`.

    Raises:
        SuiteError: The tuning result is missing or damaged, the program cannot be built or does not
            fit into the memory, the result cannot be written, or the run was stopped by a signal.
    """
    measures_time = lookup("program", spec.fields["program"], "program").all_cores
    if not force and not measures_time:  # what measures time does so whenever it is called
        with built(spec, output.parent) as program:
            from untruncated.running.memory import check_memory

            check_memory(program)
    # anew: what the one that was traced has kept may be of its tracing
    with built(spec, output.parent) as program:
        from untruncated.running.runner import run

        return run(
            program,
            spec.canonical,
            output,
            checkpoint_seconds=checkpoint_seconds,
            progress=progress,
            last_words=last_words,
        )


@contextmanager
def built(spec: RunSpec, folder: Path) -> Iterator["Program"]:
    """A run's program, in the run's precision while the body runs; starts jax.

    Args:
        spec: The run.
        folder: Where its tuning run's result is.

    Raises:
        SuiteError: The tuning result is missing or damaged, or the program cannot be built.
    """
    step_sizes, choices = _step_sizes(spec, folder)
    entry = lookup("program", spec.fields["program"], "program")
    start_jax(every_loop_whole=entry.compiles_every_loop_whole)
    import jax

    with jax.enable_x64(spec.fields["precision"] == "float64"):
        build = entry.load()
        try:
            program = build(spec.fields, step_sizes, choices)
        except ValueError as error:  # parts that do not fit each other, or data that is not here
            raise SpecError(f"run {spec.hash}: {error}") from error
        yield program


def _step_sizes(spec: RunSpec, folder: Path) -> tuple[list[float], dict[str, Any]]:
    if spec.tuning is None:
        return spec.fields.get("step_sizes", []), {}
    path = folder / f"{spec.tuning}.json"
    tuning = read_result(path)
    if "step_sizes" not in tuning.spec:
        raise SpecError(f"{path}: named by a final run as its tuning run, but it tuned nothing")
    objective = lookup("program", spec.fields["program"], "program").objective
    try:
        choices = choose_step_size(tuning, objective)
    except ResultError as error:
        raise ResultError(f"{path}: {error}", path) from error
    return [choices["step_size"]], choices
