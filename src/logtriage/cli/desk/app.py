"""The console as a Textual app: services, screens and the prompt on one page of 80 by 24."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar, Final

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Static, TabbedContent, TabPane

from logtriage.actions import Action, Malformed, describe
from logtriage.beliefs.explain import Explanation, explain, why_unexplained
from logtriage.cli.desk.pages import help_page, journal, map_of, now, plain, services, who
from logtriage.cli.desk.prompt import Prompt
from logtriage.cli.desk.session import LEAVE, YES, Session
from logtriage.cli.hindsight import hindsight
from logtriage.cli.runbook import runbook
from logtriage.cli.screens import debrief
from logtriage.cli.typed import completions, read_action
from logtriage.errors import UnknownName
from logtriage.grading import grade
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rendering.sparklines import edge
from logtriage.state import State

#: Answers that decline without a warning.
_NO: Final = ("", "n", "no")
#: Below this many columns the services stand above the page, not beside it.
_WIDE: Final = 100


class Desk(App[State]):
    """The full-screen console: a person plays one incident. The app returns the last state."""

    TITLE = "logtriage"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "page('help')", "Help", priority=True),
        Binding("f2", "page('now')", "Screen", priority=True),
        Binding("f3", "page('journal')", "Journal", priority=True),
        Binding("f4", "page('rules')", "Rules", priority=True),
        Binding("f5", "page('map')", "Map", priority=True),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
        Binding("ctrl+q", "leave", "Quit", priority=True),
        Binding("ctrl+c", "leave", show=False, priority=True),
    ]
    CSS = """
    #head { height: 1; background: $primary; color: $text; padding: 0 1; }
    #edge { height: 1; padding: 0 1; color: $text-muted; }
    #services { width: auto; padding: 0 1 0 1; border-right: solid $primary; }
    #glances { width: auto; }
    .-narrow #desk { layout: vertical; }
    .-narrow #services { width: 1fr; height: auto; max-height: 8; }
    .-narrow #services { border-right: none; border-bottom: solid $primary; }
    #services.closed { display: none; }
    TabbedContent { width: 1fr; }
    Tabs, Tabs #tabs-scroll, Tabs #tabs-list { height: 1; }
    Underline { display: none; }
    Tab { height: 1; }
    Tab.-active { background: $primary; color: $text; }
    TabPane { padding: 0; }
    VerticalScroll { padding: 0 1; }
    #said { height: auto; max-height: 3; padding: 0 1; }
    #line { height: 1; }
    #mark { width: 3; padding: 0 0 0 1; color: $success; }
    #prompt { width: 1fr; }
    """

    def __init__(
        self,
        incident: Incident,
        *,
        practice: bool = False,
        explains: bool = True,
        on_state: Callable[[State], None] | None = None,
    ) -> None:
        super().__init__()
        #: Called with the new state after each action and each undo.
        self.on_state = on_state
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]
        self.session = Session.begin(incident, practice=practice)
        #: The explanation of the finished episode; None until it is computed.
        self.explanation: Explanation | None = None
        self._explains = explains and why_unexplained(incident) is None
        #: The action that waits for a confirmation, if any; None in the list stands for leaving.
        self._pending: list[Action | None] = []

    def compose(self) -> ComposeResult:
        """Lay out the page; :meth:`_show` fills in what changes."""
        yield Static(id="head")
        yield Static(id="edge")
        with Horizontal(id="desk"):
            with VerticalScroll(id="services", can_focus=False):
                yield Static(id="glances")
            with TabbedContent(initial="now"):
                yield _pane("Screen", "now")
                yield _pane("Journal", "journal")
                yield _pane("Rules", "rules", runbook(self.session.incident))
                yield _pane("Map", "map", map_of(self.session.incident.topology))
                yield _pane("Help", "help", help_page(self.session.incident))
                yield _pane("Debrief", "debrief")
        yield Static(id="said")
        with Horizontal(id="line"):
            yield Static(">", id="mark")
            yield Prompt(lambda typed: completions(typed, self.session.incident))
        yield Footer()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The commands of the palette: the pages, and leaving."""
        del screen
        for page in ("now", "journal", "rules", "map", "help"):
            title = {"now": "Screen"}.get(page, page.capitalize())
            yield SystemCommand(title, f"Show the page {title}", partial(self.action_page, page))
        yield SystemCommand("Quit", "Leave the incident", self.action_leave)

    def on_mount(self) -> None:
        """Show the first screen, and focus the prompt."""
        self._show()
        self.query_one(TabbedContent).hide_tab("debrief")
        self._say("Type an action, or help. Tab completes, PgDn scrolls.")
        self.query_one(Prompt).focus()

    # -- what is typed --------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run the typed command, or take it as the answer to an open question."""
        words = event.value.strip()
        self.query_one(Prompt).keep(words)
        if self._pending:
            self._answer(words)
        elif words:
            self._do(words)

    def _do(self, words: str) -> None:
        verb, _, rest = words.partition(" ")
        match verb.lower():
            case "help" | "h" | "?":
                self.action_page("help")
            case "rules" | "screen" | "map" as page:
                self.action_page({"screen": "now"}.get(page, page))
            case "who":
                self._who(rest.strip())
            case "undo":
                self._undo()
            case "quit" | "exit" | "q":
                self.action_leave()
            case _:
                self._act(words)

    def _act(self, words: str) -> None:
        if self.session.state.is_closed:
            self._say("The incident is closed: quit leaves, undo takes back (with --practice).")
            return
        action = read_action(words, self.session.incident.topology)
        if isinstance(action, Malformed):
            self._say(f"{action.reason} (help lists the commands)", "yellow")
            return
        question = self.session.question_before(action)
        if question is None:
            self._take(action)
        else:
            self._ask(question, action)

    def _ask(self, question: str, action: Action | None) -> None:
        self._pending = [action]
        self._say(f"{question} Type y to confirm.", "bold yellow")

    def _answer(self, words: str) -> None:
        (action,) = self._pending
        self._pending = []
        if words.lower() not in YES:
            refused = words.lower() in _NO
            self._say("Not done." if refused else f"Neither that nor {words!r:.60} was done.")
        elif action is None:
            self.exit(self.session.state)
        else:
            self._take(action)

    def _take(self, action: Action) -> None:
        self.session = self.session.after(action)
        self._keep()
        self._say(describe(action), "green")
        self._show()
        self.action_page("now")
        if self.session.state.is_closed:
            self._close()

    def _undo(self) -> None:
        if not self.session.practice:
            self._say("undo is for practice: play with --practice", "yellow")
        elif len(self.session.states) == 1:
            self._say("There is nothing to take back.", "yellow")
        else:
            self.session, self.explanation = self.session.undone(), None
            self._keep()
            self._show()
            self.action_page("now")
            self.query_one(TabbedContent).hide_tab("debrief")
            self._say("Taken back.")

    def _keep(self) -> None:
        if self.on_state is not None:
            self.on_state(self.session.state)

    def _who(self, name: str) -> None:
        seen = observe(self.session.state)
        try:
            self._say(who(name, seen.topology, seen.directory))
        except UnknownName as error:
            self._say(str(error), "yellow")

    # -- keys -----------------------------------------------------------------------------

    def action_page(self, page: str) -> None:
        """Show one of the pages on the right."""
        self.query_one(TabbedContent).active = page

    def action_scroll(self, pages: int) -> None:
        """Scroll the page on the right."""
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None:
            shown = pane.query_one(VerticalScroll)
            shown.scroll_relative(y=pages * max(1, shown.size.height - 1), animate=False)

    def action_leave(self) -> None:
        """Leave; ask first while the incident is open."""
        if self.session.state.is_closed or self._pending == [None]:  # asked a second time
            self.exit(self.session.state)
        else:
            self._ask(LEAVE, action=None)

    # -- what is shown --------------------------------------------------------------------

    def _show(self) -> None:
        seen = observe(self.session.state)
        head = f"{self.session.incident.id}  tick {seen.tick}/{seen.horizon}"
        if seen.worth_of_hand_over is not None:
            head += f"  HAND-OVER is worth {seen.worth_of_hand_over:g}"
        if seen.open_loop:
            head += "  recording: remedies change nothing"
        if self.session.practice:
            head += "  practice"
        self._put("head", Text(head, "bold", no_wrap=True))
        panel = Text("" if seen.edge is None else edge(seen.edge), no_wrap=True)
        self._put("edge", panel)
        self._show_services()
        self._put("now-text", now(seen))
        self.query_one("#services").set_class(seen.closing is not None, "closed")
        self._put("journal-text", journal(self.session))

    def on_resize(self) -> None:
        """Lay out the services for the new size."""
        if self.query("#glances"):
            self._show_services()

    def _show_services(self) -> None:
        narrow = self.size.width < _WIDE
        self._put("glances", services(self.session, room=self.size.width if narrow else 0))

    def _close(self) -> None:
        """Show the debrief; a thread adds the belief a few seconds later."""
        self._put("debrief-text", self._debrief())
        self.query_one(TabbedContent).show_tab("debrief")
        self.action_page("debrief")
        self._say("The incident is closed. PgDn scrolls the debrief; quit leaves.", "bold")
        if self._explains:
            state = self.session.state
            self.run_worker(
                lambda: self.call_from_thread(self._explained, state, explain(state)),
                thread=True,
                exclusive=True,
            )

    def _explained(self, state: State, explanation: Explanation) -> None:
        if state == self.session.state:  # nothing was taken back meanwhile
            self.explanation = explanation
            self._put("debrief-text", self._debrief())

    def _debrief(self) -> RenderableType:
        state = self.session.state
        if self.explanation is not None:
            why, luck = hindsight(state, self.explanation)
            return Group(debrief(state, grade(state), luck=luck), why)
        if not self._explains:
            return debrief(state, grade(state))
        waits = Text("The belief beside each action is being computed …", "dim")
        return Group(debrief(state, grade(state)), waits)

    def _put(self, name: str, shown: RenderableType) -> None:
        self.query_one(f"#{name}", Static).update(shown)

    def _say(self, text: str, style: str = "") -> None:
        self._put("said", Text(plain(text), style))


def _pane(title: str, name: str, shown: RenderableType = "") -> TabPane:
    inside = VerticalScroll(Static(shown, id=f"{name}-text"), can_focus=False)
    return TabPane(title, inside, id=name)
