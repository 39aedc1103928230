"""From configurations to their runs: tuning, then the final stage on other seeds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from untruncated.catalogue import CatalogueError
from untruncated.catalogue.programs import ProgramEntry
from untruncated.experiments.configurations import Configuration
from untruncated.experiments.figures import Point
from untruncated.experiments.keys import STEP_SIZE
from untruncated.experiments.said import Said
from untruncated.experiments.scales import Choice, Scale
from untruncated.experiments.spec import RunSpec, number_list, seed_block
from untruncated.results.result_files import canonical_json


class SideBySide(NamedTuple):
    """A run that measures several agents, and the place of each."""

    run: RunSpec
    places: dict[str, int]


@dataclass(frozen=True, eq=False)
class Stages:
    """The seeds and step sizes of a file at a scale.

    `ten` are the configurations that are tuned on ten seeds, and `edges` those whose step size may
    be at the edge of its grid, both by identity.
    """

    scale: Scale
    seeds: Mapping[str, int] | None
    ten: Mapping[str, Choice] = field(default_factory=dict)
    edges: Mapping[str, Choice] = field(default_factory=dict)

    def side_by_side(self, configurations: Iterable[Configuration]) -> dict[str, SideBySide]:
        """The runs of those that are measured side by side, by identity.

        All configurations that differ in their agents alone share one run, in which each agent
        stands once: times are compared within a run.
        """
        groups: dict[str, dict[str, Configuration]] = {}
        for one in configurations:
            if one.agent is not None:
                groups.setdefault(one.identity, {}).setdefault(_agent(one), one)
        found = {}
        for identity, agents in groups.items():
            first = next(iter(agents.values()))
            run = first.run.measuring(first.program.members, [one.agent for one in agents.values()])
            run = run.at({"seeds": [self._first_seed("final")]})
            found[identity] = SideBySide(run, {agent: place for place, agent in enumerate(agents)})
        return found

    def point(
        self, one: Configuration, shown: tuple[str, ...], side_by_side: Mapping[str, SideBySide]
    ) -> Point:
        """A configuration with its runs, as far as a plot shows these stages of them."""
        tuning, finals, place = None, [], None
        if one.agent is not None:
            group = side_by_side[one.identity]
            finals, place = [group.run], group.places[_agent(one)]
        elif one.is_tuned:
            tuning = one.run.at(self._tuning(one))
            if "final" in shown:
                chosen = {"tuning": tuning.hash, "selection": one.program.objective.rule}
                finals = self.finals(one.run, one.program, chosen)
        else:
            finals = self.finals(one.run, one.program, given_step_sizes(one.step_sizes))
        return Point(
            curve=one.curve,
            label=one.label,
            configuration=one.name,
            fields=one.fields if one.agent is not None else (tuning or finals[0]).fields,
            sweep=one.sweep,
            costs=one.costs,
            tuning=tuning,
            finals=finals if "final" in shown else [],
            agent=place,
            edge=self.edges[one.identity].why if self.edges and one.identity in self.edges else "",
        )

    def finals(
        self, run: RunSpec, program: ProgramEntry, step_sizes: Mapping[str, Any]
    ) -> list[RunSpec]:
        """The runs of the final stage, one for each block of seeds."""
        return [run.at({**step_sizes, "seeds": block}) for block in self._final_seeds(program)]

    def _final_seeds(self, program: ProgramEntry) -> list[list[int]]:
        """Blocks of seeds; one seed of a program that is not random."""
        first = self._first_seed("final")
        if not program.random:
            return [[first]]
        return [seed_block(first, block) for block in range(self.scale.need("final_blocks"))]

    def _tuning(self, one: Configuration) -> dict[str, Any]:
        if one.step_sizes is not None:
            raise CatalogueError(
                one.step_sizes.where, "all curves are tuned on the scale's grid: leave it out"
            )
        first = self._first_seed("tuning")
        blocks = 2 if self.ten and one.identity in self.ten else 1
        seeds = [seed for block in range(blocks) for seed in seed_block(first, block)]
        return {"step_sizes": self.scale.need("step_sizes"), "seeds": seeds}

    def _first_seed(self, stage: str) -> int:
        if self.seeds is None:
            raise CatalogueError("seeds", "is missing")
        return self.seeds[stage]


def given_step_sizes(said: Said | None) -> dict[str, list[float]]:
    """The step sizes of a run that is not tuned, if it has any."""
    return {} if said is None else {"step_sizes": number_list(said.value, STEP_SIZE, said.where)}


def _agent(one: Configuration) -> str:
    """The agent, in a text that all that are alike share."""
    return canonical_json({kind: part.canonical for kind, part in (one.agent or {}).items()})
