"""What is done, what is missing, what diverged."""

from collections.abc import Sequence
from pathlib import Path

from untruncated.basics.command_lines import compute_run, default_results
from untruncated.basics.errors import ResultError, SpecError
from untruncated.basics.messages import tell
from untruncated.catalogue import lookup
from untruncated.catalogue.entry import not_among
from untruncated.commands.advice import told
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.figures import Experiments, Figure, Panel, Point
from untruncated.experiments.finding import Runs
from untruncated.experiments.plan import targets
from untruncated.experiments.spec import SEEDS_PER_BLOCK, RunSpec
from untruncated.results.result_files import Result, read_result
from untruncated.running.tuning import choose_step_size, contradiction, is_close


def print_status(target: str | None, scale: str, experiments: Path, results: Path) -> int:
    """Prints one line per configuration of every panel that `target` covers.

    Returns:
        0 if all runs are there and sound, 1 if not, or if an experiment file that the target covers
        is broken. Each broken file has its line on stderr.

    Raises:
        SpecError: There is no such target, or it has nothing but a broken file.
        ResultError: There is no folder `results`, and it is not the default one.
    """
    if not results.is_dir() and results != Path(default_results(scale)):
        raise ResultError(f"{results}: no such folder; --results names the folder that has runs/")
    figures = load_figures(experiments, scale)
    known, target = targets(figures), target or "all"
    chosen = known.get(target, set())
    if not chosen:
        figures.check(target)
        raise SpecError(not_among(target, known, "target"))
    finished, runs = _tell_broken(figures, target), Runs(experiments)
    for figure in figures.values():
        wanted = [p for p in figure.panels.values() if {figure.name, figure.name + p.name} & chosen]
        for panel in wanted:
            finished &= _print_panel(figure, panel, results / "runs", runs)
    return 0 if finished else 1


def _tell_broken(figures: Experiments, target: str) -> bool:
    """Whether the target covers none of the broken files, of which each is told in one line."""
    for file in figures.broken:
        tell(f"{'error' if target in file.targets else 'warning'}: {file.error}")
    return target not in figures.blocked()


def _print_panel(figure: Figure, panel: Panel, folder: Path, runs: Runs) -> bool:
    fallback = "" if panel.scale == figure.scale else f", as {panel.scale}"
    print(f"{figure.name}{panel.name}  {panel.title}  (scale {figure.scale}{fallback})")
    lines = [
        (p.configuration, *run_states(p.runs, folder, runs, p.tuning, p.finals, _entry(panel, p)))
        for p in panel.points
    ]
    if panel.baselines:
        lines.append((panel.baseline_label, *run_states(panel.baselines, folder, runs)))
    for text, states, notes in lines:
        counts = ", ".join(f"{states.count(s)} {s}" for s in sorted(set(states)))
        print(f"  {text:<48} {counts}{'; ' if notes else ''}{'; '.join(notes)}")
    return all(state == "done" for _, states, _ in lines for state in states)


def _entry(panel: Panel, point: Point) -> str:
    """What names a configuration in its experiment file."""
    values = {"panel": panel.name, "curve": point.curve, **point.sweep}
    return f"{{{', '.join(f'{key}: {value}' for key, value in values.items())}}}"


def run_states(
    specs: list[RunSpec],
    folder: Path,
    runs: Runs,
    tuning: RunSpec | None = None,
    finals: Sequence[RunSpec] = (),
    entry: str = "",
) -> tuple[list[str], list[str]]:
    """Done, missing, damaged or contradicting for each run, and notes on what is to be known.

    Which step size is best matters where there are final runs that take it from a tuning run;
    `entry` names such a configuration in its experiment file.
    """
    states, notes = [], []
    for spec in specs:
        path = folder / f"{spec.hash}.json"
        if not path.exists():
            states.append("missing")
            continue
        try:
            result = read_result(path, spec.canonical)
            check_tuning(path, spec, result)
        except ResultError as error:
            states.append("damaged")
            notes.append(told(error, runs))
            continue
        problem = contradicts(spec, result, folder)
        if problem:
            states.append("contradicting")
            again = compute_run(path, runs.experiments)
            notes.append(f"{problem}. Compute it again with: {again}")
            continue
        states.append("done")
        stage = "tuning" if spec is tuning else "final"
        if result.diverged:
            sizes = sorted({r["step_size"] for r in result.diverged if "step_size" in r})
            notes.append(f"{stage}: diverged at step size {', '.join(f'{s:g}' for s in sizes)}")
        if result.choices.get("all_diverged"):
            notes.append("every step size diverged in tuning")
        elif result.choices.get("at_edge"):
            notes.append(f"step size {result.choices['step_size']:g} is at the edge of its grid")
        if spec is tuning and finals and _is_close_call(spec, result):
            notes.append(
                "two step sizes are within 5 % of each other on five tuning seeds: list it under "
                f"ten_tuning_seeds: {entry}"
            )
    return states, list(dict.fromkeys(notes))


def contradicts(spec: RunSpec, result: Result, folder: Path) -> str | None:
    """Whether a final result was made from another tuning result than lies beside it."""
    if spec.tuning is None:
        return None
    objective = lookup("program", spec.fields["program"], "program").objective
    try:
        return contradiction(result, read_result(folder / f"{spec.tuning}.json"), objective)
    except (ResultError, LookupError):  # missing or damaged, which is told of that result
        return None


def check_tuning(path: Path, spec: RunSpec, result: Result) -> None:
    """Raises a ResultError if the result is one of tuning that no step size can be taken from."""
    program = lookup("program", spec.fields["program"], "program")
    if not (program.tuned and "step_sizes" in spec.fields):
        return
    try:
        choose_step_size(result, program.objective)
    except ResultError as error:
        raise ResultError(f"{path}: {error}", path) from error


def _is_close_call(spec: RunSpec, result: Result) -> bool:
    """Whether a tuning run of one block of seeds leaves open which step size is best."""
    objective = lookup("program", spec.fields["program"], "program").objective
    return len(spec.fields["seeds"]) == SEEDS_PER_BLOCK and is_close(result, objective)
