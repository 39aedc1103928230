"""Walks the one-way street: experiments → runs → tables → figures and pages.

Everything about what a figure needs stands in experiments/ and is expanded here, once, when
Snakemake starts. The rules only say which command makes which file.
"""

import gc
import os
import shlex
import sys
from pathlib import Path

from untruncated.catalogue import not_among
from untruncated.basics.errors import SuiteError
from untruncated.basics.places import check_environment, check_for_jobs, name_user
from untruncated.basics.messages import tell
from untruncated.experiments.plan import RULES, make_plan

# Snakemake holds many objects for each of thousands of jobs: Python need not search all of them for
# rubbish after every few hundred new ones.
gc.set_threshold(100_000)

try:
    name_user()
    check_environment(Path(sys.executable))
    PLAN = make_plan(config, workflow.config_settings.config_args or ())
except (SuiteError, OSError) as error:
    sys.exit(f"error: {error}")

BIN = shlex.quote(os.path.dirname(sys.executable))
# Every job takes one core, also in the libraries, and finds this environment's commands.
shell.prefix(f"set -eu; export NPROC=1 PATH={BIN}:$PATH; ")


for file in PLAN.figures.broken:
    tell(f"warning: {file.error}; the other figures are not affected")


def asked(function):
    """The function with its errors told in one line, when Snakemake asks for what is broken."""

    def answer(wildcards):
        try:
            return function(wildcards)
        except (SuiteError, OSError) as error:
            sys.exit(f"error: {error}")

    return answer


@asked
def tuning_result(wildcards):
    return PLAN.tuning_path(wildcards.run)


def cores(wildcards):
    """One, or all where time is measured."""
    return workflow.cores if PLAN.all_cores(wildcards.run) and workflow.cores else 1


def spec(wildcards):
    return PLAN.run(wildcards.run).json


@asked
def table_runs(wildcards):
    return PLAN.table_runs(wildcards.figure, wildcards.panel)


def runs_folder(wildcards):
    return os.path.dirname(PLAN.run_path("any"))


@asked
def tables(wildcards):
    return PLAN.tables(wildcards.figure, wildcards.panel)


def tables_folder(wildcards):
    return PLAN.tables_folder


def experiment(wildcards):
    return str(PLAN.figures[wildcards.figure].source)


@asked
def plot_modules(wildcards):
    return PLAN.plot_modules(wildcards.figure, wildcards.panel)


@asked
def page_sources(wildcards):
    return PLAN.page_sources()


def refusal(error):
    """An input function of a target that a broken file stands in the way of."""
    return lambda wildcards: sys.exit(f"error: {error}")


def unknown(wildcards):
    """Ends with what may be meant."""
    names = ["docs", *PLAN.targets(), *PLAN.figures.blocked()]
    sys.exit(f"error: {not_among(wildcards.target, dict.fromkeys(names), 'target')}")


onstart:
    if workflow.executor_plugin.common_settings.non_local_exec:
        try:
            check_for_jobs(Path(sys.executable), Path.cwd())
        except SuiteError as error:
            sys.exit(f"error: {error}")


wildcard_constraints:
    run="[0-9a-f]{16}",
    figure="|".join([*PLAN.figures, *(file.name for file in PLAN.figures.broken)]),
    panel="[a-z]?",


refused = {
    target: refusal(error)
    for target, error in PLAN.figures.blocked().items()
    if target.isidentifier() and target not in RULES
}

for target, files in (PLAN.targets() | refused).items():

    rule:
        name:
            target
        default_target: target == "all"
        input:
            files,
        localrule: True


rule:
    # What looks like a target and is none.
    input:
        unknown,
    output:
        "{target}",
    wildcard_constraints:
        target=r"[A-Za-z]\w*",
    localrule: True


if PLAN.compute:

    rule run:
        # The tuning result is chosen by its content's name: its age says nothing. An old result
        # stays until the new one takes its place, whoever asks Snakemake to make it again.
        input:
            tuning=ancient(tuning_result),
        output:
            update(f"{PLAN.results}/runs/{{run}}.json"),
        log:
            "logs/run/{run}.log",
        conda:
            "environment.yml"
        threads: cores
        params:
            spec=spec,
        shell:
            "untruncated run {params.spec:q} --output {output:q} --log {log:q}"


rule table:
    input:
        runs=table_runs,
        experiment=experiment,
    output:
        f"{PLAN.tables_folder}/{{figure}}{{panel}}.csv",
    log:
        f"logs/table/{PLAN.scale}/{{figure}}{{panel}}.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=PLAN.scale,
        experiments=PLAN.experiments,
        runs=runs_folder,
    shell:
        "untruncated table {wildcards.figure}{wildcards.panel} --scale {params.scale}"
        " --experiments {params.experiments:q} --runs {params.runs:q}"
        " --output {output:q} --log {log:q}"


rule figure:
    input:
        tables=tables,
        experiment=experiment,
        modules=plot_modules,
    output:
        multiext(
            f"{PLAN.figures_folder}/{PLAN.scale}/{{figure}}{{panel}}", ".pdf", ".png"
        ),
    log:
        f"logs/figure/{PLAN.scale}/{{figure}}{{panel}}.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=PLAN.scale,
        experiments=PLAN.experiments,
        tables=PLAN.tables_folder,
    shell:
        "untruncated plot {wildcards.figure}{wildcards.panel} --scale {params.scale}"
        " --experiments {params.experiments:q} --tables {params.tables:q}"
        " --output {output:q} --log {log:q}"


if PLAN.pages:

    rule docs:
        input:
            page_sources,
        output:
            PLAN.pages,
        log:
            "logs/docs.log",
        localrule: True
        conda:
            "environment.yml"
        params:
            tables=tables_folder,
        shell:
            "untruncated docs --tables {params.tables:q} --log {log:q}"

else:

    rule docs:
        log:
            "logs/docs.log",
        localrule: True
        conda:
            "environment.yml"
        shell:
            "echo 'error: docs/ is rendered from docs/templates and the results that are committed:"
            " leave scale, results, figures and experiments as they are' | tee {log:q} >&2; exit 1"
