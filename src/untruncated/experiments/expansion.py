"""Experiment files: one YAML per figure, expanded at a scale into the runs that the figure needs.

The way is straight: a file is read once, and gives what it says with the place of each part
(`experiment_files`); at a scale (`expanded_files`), its curves give configurations
(`configurations`), and those their runs (`stages`). The library knows nothing of either paper: what
a figure shows stands in `experiments/` alone. See `docs/experiments.md` for the keys.
"""

from functools import cached_property
from pathlib import Path

from untruncated.basics.errors import SpecError
from untruncated.catalogue.entry import not_among
from untruncated.experiments.expanded_files import ExpandedFile, errors_of
from untruncated.experiments.experiment_files import ExperimentFile, read_experiment
from untruncated.experiments.figures import SCALES, Broken, Experiments, Figure
from untruncated.experiments.reading import read_yaml
from untruncated.experiments.spec import RunSpec


def load_figures(folder: Path, scale: str) -> Experiments:
    """All figures under an experiments folder, by name: `<paper>_<file name>`.

    A file that is not valid is `broken`, with its error; the others are read all the same.

    Raises:
        SpecError: There is no such scale, or no file.
    """
    return Folder(folder).at(scale)


def load_figure(path: Path, scale: str) -> Figure:
    """One experiment file, expanded at a scale.

    Raises:
        SpecError: The file is not valid; says where in it, and what is allowed.
    """
    return Folder(path.parents[1]).figure(path, scale)


def check_scale(scale: str, where: str = "--scale") -> None:
    """Raises a SpecError unless `scale`, which was given as `where`, is one."""
    if scale not in SCALES:
        raise SpecError(f"{where}: {not_among(scale, SCALES)}")


class Folder:
    """An experiments folder. Each file is read once, and expanded once at each scale asked for."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._files: dict[Path, ExperimentFile | SpecError] = {}
        self._expansions: dict[tuple[Path, str], ExpandedFile] = {}
        self._at: dict[str, Experiments] = {}
        self._runs: dict[str, dict[str, RunSpec]] = {}

    @cached_property
    def paths(self) -> list[Path]:
        """The files, but for hidden ones, which are an editor's.

        Raises:
            SpecError: There is none, or the folder cannot be read.
        """
        try:
            papers = [paper for paper in sorted(self.path.iterdir()) if paper.is_dir()]
            found = [path for paper in papers for path in sorted(paper.iterdir())]
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                raise SpecError(f"{error.filename}: cannot be read: {error.strerror}") from error
            found = []
        paths = [path for path in found if path.suffix == ".yaml" and path.name[0] != "."]
        if not paths:
            raise SpecError(f"{self.path}: no experiment files (<paper>/<figure>.yaml) here")
        return paths

    def at(self, scale: str) -> Experiments:
        """All figures at a scale; see `load_figures`."""
        check_scale(scale)
        if scale not in self._at:
            self._at[scale] = self._figures(scale)
        return self._at[scale]

    def runs(self, scale: str) -> dict[str, RunSpec]:
        """All runs of a scale, by hash."""
        if scale not in self._runs:
            figures = self.at(scale).values()
            self._runs[scale] = {name: run for one in figures for name, run in one.runs.items()}
        return self._runs[scale]

    def _figures(self, scale: str) -> Experiments:
        figures, broken = {}, []
        for path in self.paths:
            try:
                figure = self.figure(path, scale)
            except SpecError as error:
                broken.append(Broken(path.parent.name, path.stem, error))
            else:
                figures[figure.name] = figure
        return Experiments(figures, broken)

    def figure(self, path: Path, scale: str) -> Figure:
        """One figure at a scale; see `load_figure`."""
        expansion = self.expansion(path, scale)
        with errors_of(path):
            return expansion.figure()

    def expansion(self, path: Path, scale: str) -> ExpandedFile:
        """What is made of a file at a scale.

        Raises:
            SpecError: The file is not valid.
        """
        if (path, scale) not in self._expansions:
            self._expansions[path, scale] = ExpandedFile(self._file(path), scale, self)
        return self._expansions[path, scale]

    def _file(self, path: Path) -> ExperimentFile:
        if path not in self._files:
            try:
                with errors_of(path):
                    self._files[path] = read_experiment(path, read_yaml(path))
            except SpecError as error:
                self._files[path] = error
        found = self._files[path]
        if isinstance(found, SpecError):
            raise found
        return found
