"""The README's picture of a replay."""

from scripts.replay_picture import DIGEST, digest


def test_the_picture_shows_the_page_of_this_version() -> None:
    assert DIGEST.read_text() == f"{digest()}\n", "take the pictures anew: make picture"
