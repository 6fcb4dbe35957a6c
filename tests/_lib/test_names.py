import pytest

from logtriage._lib.names import as_name, is_name
from logtriage.recorded.importing.names import Names


@pytest.mark.parametrize("name", ["web", "склад", "订单-api", "café", "a.b_c-9", "ǧ"])
def test_names_of_one_script_are_names_as_they_are(name: str) -> None:
    assert is_name(name)
    assert as_name(name) is name


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("ord\u0435rs", "ordu0435rs"),  # one Cyrillic letter
        ("\u043e\u0441\u0430", "u043eu0441u0430"),  # all of them Cyrillic, and all read as Latin
        ("\u03bf\u03bd", "u03bfu03bd"),  # Greek
        ("\u0251pi", "u0251pi"),  # phonetic
        ("a\u3164", "au3164"),  # a filler
        ("x\u00b2", "xu00b2"),  # raised
        ("svc-\u0661", "svc-u0661"),  # a digit of another script
    ],
)
def test_what_reads_as_another_name_is_spelled(name: str, written: str) -> None:
    assert not is_name(name)
    assert as_name(name) == written
    assert is_name(written)


def test_services_whose_names_read_the_same_are_kept_apart() -> None:
    names = Names()
    assert (names("orders"), names("\u043erders")) == ("orders", "u043erders")
