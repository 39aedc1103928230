"""The command that prints what experiment files may say."""

from untruncated.cli import main
from untruncated.experiments.field_tables import field_page
from untruncated.experiments.schema import schema_text


def test_the_schema_is_printed_or_written_and_so_is_the_page(tmp_path, capsys):
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == schema_text()
    outputs = [tmp_path / "schema.json", tmp_path / "fields.md"]
    assert main(["schema", "--output", *map(str, outputs)]) == 0
    assert capsys.readouterr().out.split() == [str(path) for path in outputs]
    assert [path.read_text() for path in outputs] == [schema_text(), field_page()]
