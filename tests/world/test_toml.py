"""TOML that is written for the folder of a world."""

from logtriage.world.schema.toml import toml_text


def test_tables_in_a_list_stand_on_lines_of_their_own() -> None:
    said = {"n": 1, "rows": [{"a": "x\n", "b c": True}], "table": {"row": {}}}
    assert toml_text(said) == (
        'n = 1\nrows = [\n  { a = "x\\n", "b c" = true },\n]\n\n[table]\nrow = {}\n'
    )
