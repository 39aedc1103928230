"""The runs of a panel's baseline: a program that is not tuned, on what the panel's runs have."""

from untruncated.catalogue import CatalogueError, lookup
from untruncated.experiments.compatibility import check_same_return
from untruncated.experiments.configurations import Setting, assembled, check_keys
from untruncated.experiments.experiment_files import PanelText
from untruncated.experiments.said import Run, Said, told_where_said
from untruncated.experiments.spec import RunSpec
from untruncated.experiments.stages import Stages, given_step_sizes


def baseline_runs(panel: PanelText, setting: Setting, stages: Stages) -> tuple[str, list[RunSpec]]:
    """The baseline's label and its runs; nothing where a panel has none.

    Raises:
        CatalogueError: Names the field by its place, and what is allowed.
    """
    baseline = panel.baseline
    if baseline is None:
        return "", []
    named = baseline.run["program"]
    program = lookup("program", named.value, named.where)
    if program.members:
        raise CatalogueError(named.where, f"{named.value!r} measures {program.members} of curves")
    run = _run(baseline.run, setting, program.components, program.fields, baseline.where)
    check_keys(run, program, baseline.where)
    with told_where_said(run, baseline.where):
        parts = {kind: run[kind].component(kind, {}) for kind in program.components}
        spec = assembled(run, program, parts, {})
    if program.tuned and "step_sizes" not in run:
        raise CatalogueError(f"{baseline.where}.step_sizes", "is missing")
    return baseline.label, stages.finals(spec, program, given_step_sizes(run.get("step_sizes")))


def _run(own: Run, setting: Setting, components: tuple, fields: dict, where: str) -> Run:
    """What the baseline says, and what it takes from the panel."""
    run: dict[str, Said] = {
        key: setting.run[key] for key in (*components, "precision") if key in setting.run
    }
    if "steps" in fields and "steps" not in own:
        run["steps"] = setting.scale.said("steps")
    run |= own
    if "discount" in fields and "learner" in setting.run:
        said = setting.run["learner"]
        learner = said.component("learner", {}).fields
        run.setdefault("discount", Said(learner["discount"], said.where))
        check_same_return(run["discount"].value, learner, f"{where}.discount")
    return run
