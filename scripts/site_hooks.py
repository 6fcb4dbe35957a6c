"""What the documentation site needs beyond docs/: pages of the repository's root, and links there.

On disk the pages link to the README, to examples and to sources by relative paths, so that
they can be followed in a checkout. On the site docs/home.md stands for the README as first page;
the changelog and the page for contributors are pages like any other; a source or an example has a
page that shows it.
"""

import ast
import re
import shutil
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
#: Where the site has pages of the repository that do not stand there on disk.
MOVED = {
    "docs/home.md": "index.md",
    "docs/index.md": "pages.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
#: A heading of the reference, with the path of what it is about.
ANCHOR = re.compile(r'<h2[^>]* id="(logtriage[\w.]*)"')
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
#: Where files of the repository that are linked to are shown.
SHOWN = "files"
LANGUAGES = {".md": "markdown", ".py": "python", ".sh": "bash", ".toml": "toml", ".yaml": "yaml"}


#: The names on the pages of the reference, by package. A large package has several pages.
DOCUMENTED: dict[str, set[str]] = {}
#: What scripts/browser_files.py made for docs/play.md, and where that page looks for it.
BROWSER_FILES = ROOT / "build" / "browser"
BROWSER_PLACE = "browser/files"


def place_of(path: str) -> str:
    """Where the site has a page or another file of the repository."""
    if path in MOVED or path == "README.md":
        return MOVED.get(path, "index.md")
    return path.removeprefix("docs/") if path.startswith("docs/") else f"{SHOWN}/{path}.md"


def target_of(link: str, page: str) -> str | None:
    """The path in the repository that a link of the page at ``page`` names; None if outside."""
    if "://" in link or link.startswith("mailto:"):
        return None
    return normpath(f"{dirname(page) or '.'}/{link}")


def site_link(link: str, page: str) -> str:
    """A link of a page as the site has it."""
    target = target_of(link, page)
    return link if target is None else relpath(place_of(target), dirname(place_of(page)) or ".")


def relinked(markdown: str, page: str) -> str:
    """A page with its links as the site has them; code blocks are left alone."""
    parts = FENCED.split(markdown)
    parts[::2] = [
        LINK.sub(lambda found: found[1] + site_link(found[2], page) + found[3], part)
        for part in parts[::2]
    ]
    return "".join(parts)


def linked_files() -> set[str]:
    """Files and directories outside docs/ that pages link to, by their path in the repository."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in MOVED)]
    found = set()
    for page in pages:
        where = page.relative_to(ROOT).as_posix()
        for part in FENCED.split(page.read_text(encoding="utf-8"))[::2]:
            found |= {target_of(link, where) for _, link, _ in LINK.findall(part)}
    apart = {*MOVED, "README.md"}
    return {one for one in found if one and not one.startswith("docs/") and one not in apart}


def file_page(path: str) -> str:
    """The page of a file, or of a directory with the files in it.

    Raises:
        FileNotFoundError: for a link that leads nowhere.
    """
    place = ROOT / path
    inside = sorted(place.rglob("*")) if place.is_dir() else [place]
    shown = [f"# {path}\n"]
    for one in inside:
        if one.is_file() and one.suffix in LANGUAGES:
            name, text = one.relative_to(ROOT).as_posix(), one.read_text(encoding="utf-8")
            shown.append(f"## `{name}`\n\n````{LANGUAGES[one.suffix]}\n{text}````\n")
    return "\n".join(shown)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the pages of the repository's root in place, and add those that show linked files."""
    for path in MOVED:
        if (page := files.get_file_from_path(path.removeprefix("docs/"))) is not None:
            files.remove(page)
    for path, name in MOVED.items():
        text = relinked((ROOT / path).read_text(encoding="utf-8"), path)
        files.append(File.generated(config, name, content=text))
    for path in sorted(linked_files()):
        page = File.generated(config, place_of(path), content=file_page(path))
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links out of docs/ to the pages that stand for what they name."""
    if page.file.generated_by is not None:
        return markdown
    return relinked(markdown, f"docs/{page.file.src_uri}")


def exported(package: str) -> list[str]:
    """What a package exports, read from its source: its ``__all__``."""
    source = ROOT / "src" / Path(*package.split(".")) / "__init__.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name("__all__")], value=value):
                return sorted(ast.literal_eval(value))
    raise PluginError(f"{source}: expected a list __all__ for the reference")


def on_page_content(html: str, page: Page, **_: Any) -> None:
    """Note the names that a page of the reference has."""
    if page.file.src_uri.startswith("api/"):
        package = str(page.title).partition(":")[0]
        shown = DOCUMENTED.setdefault(package, set())
        shown |= {name.rpartition(".")[2] for name in ANCHOR.findall(html)}


def on_post_build(config: MkDocsConfig) -> None:
    """Check the reference, and put the files of the browser's page beside it, if they are there.

    A function that is named after its module is hidden behind it, and left out without a word.

    Raises:
        PluginError: naming a package and the names that its pages lack.
    """
    for package, shown in DOCUMENTED.items():
        if lacking := [name for name in exported(package) if name not in shown]:
            raise PluginError(f"docs/api lacks {', '.join(lacking)} of {package}")
    if BROWSER_FILES.is_dir():
        shutil.copytree(BROWSER_FILES, Path(config.site_dir) / BROWSER_PLACE)
