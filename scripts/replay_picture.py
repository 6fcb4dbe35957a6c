"""Take the README's pictures of a replay anew, one in each colour scheme: ``make picture``.

Plays one incident, writes its replay page, and opens it in a headless Chromium at the tick and the
size of the picture. The page is drawn from the incident alone, so that only a change of the
page changes the picture (but for the fonts of the machine).
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from logtriage.evaluation import RunSpec, evaluate
from logtriage.report.replay import write_replay
from tests.chromium import Browser, find_chromium

ROOT: Final = Path(__file__).resolve().parent.parent
TASK: Final = "cascading_failure-v4"
NUMBER: Final = 246
POLICIES: Final = ("observer", "expert", "first_error")
ADDRESS: Final = f"#/e/observer/{TASK}/test/{NUMBER}?t=1&truth=1"
WIDTH: Final = 1400
HEIGHT: Final = 1010


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
    print(out)


if __name__ == "__main__":
    main()
