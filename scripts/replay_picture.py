"""Take the README's pictures of a replay anew, one in each colour scheme: ``make picture``.

Plays one incident, writes its replay page, and opens it in a headless Chromium at the tick and the
size of the picture. The page is drawn from the incident alone, so that only a change of the
page changes the picture (but for the fonts of the machine). Beside the pictures stands the digest
of what the page is made of, and a test compares it: an older picture fails.
"""

import sys
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import logtriage as lt
from logtriage.evaluation import RunSpec, evaluate
from logtriage.report.replay import write_replay
from logtriage.report.replay.page import PARTS
from tests.chromium import Browser, find_chromium

ROOT: Final = Path(__file__).resolve().parent.parent
TASK: Final = "cascading_failure-v4"
NUMBER: Final = 246
POLICIES: Final = ("observer", "expert", "first_error")
ADDRESS: Final = f"#/e/observer/{TASK}/test/{NUMBER}?t=1&truth=1"
WIDTH: Final = 1400
HEIGHT: Final = 1100
#: The digest of the page that the pictures show.
DIGEST: Final = ROOT / "docs" / "images" / "replay.sha256"


def digest() -> str:
    """A digest of the page's sources and of the screens that the picture shows."""
    opened = lt.initial_state(lt.make_incident(f"{TASK}/test/{NUMBER}"))
    asked = lt.transition(opened, lt.RequestMetrics(opened.incident.topology.names[0]))
    texts = [lt.render_observation(lt.observe(state)) for state in (opened, asked)]
    texts += [files("logtriage.report.replay").joinpath(name).read_text("utf-8") for name in PARTS]
    return sha256("\n".join(texts).encode()).hexdigest()


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    if find_chromium() is None:
        sys.exit("no Chromium found: install it, or name it in CHROMIUM")
    with TemporaryDirectory() as made:
        run, page = Path(made) / "example", Path(made) / "example.html"
        evaluate(RunSpec(list(POLICIES), [TASK], episodes=1, start=NUMBER), run)
        write_replay(run, page, incident=f"{TASK}/test/{NUMBER}")
        with Browser(Path(made) / "profile") as tab:
            for name, dark in (("replay.png", False), ("replay-dark.png", True)):
                tab.see(WIDTH, height=HEIGHT, dark=dark)
                tab.open(page, ADDRESS)
                tab.picture(out / name, whole=False)
            if tab.errors:
                sys.exit(f"the page has errors: {tab.errors}")
    (out / DIGEST.name).write_text(f"{digest()}\n")
    print(out)


if __name__ == "__main__":
    main()
