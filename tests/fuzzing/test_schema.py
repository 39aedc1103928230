"""Spoiled experiment files that are read all the same are valid by the JSON schema."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.experiments.expansion import load_figure
from untruncated.experiments.figures import SCALES
from untruncated.experiments.reading import read_yaml
from untruncated.experiments.schema import experiment_schema

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = [EXPERIMENTS / f"{name}.yaml" for name in ("rtu/figure8", "pes/figure4", "pes/table1")]
CHECK = jsonschema.Draft202012Validator(experiment_schema())

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("source", FILES, ids=lambda path: path.stem)
def test_what_the_suite_takes_an_editor_takes(source, tmp_path, spoil, of_seed):
    read, path = 0, tmp_path / source.parent.name / source.name
    path.parent.mkdir()
    for seed in range(100):
        tree = spoil(yaml.safe_load(source.read_text()), seed)
        text = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            for scale in SCALES:
                load_figure(path, scale)
        except SpecError:
            continue
        with of_seed(seed):
            CHECK.validate(read_yaml(path))
            read += 1
    assert read
