"""Plain names of services: which names of pods, containers, hosts and namespaces are of one."""

import re
from collections import Counter, defaultdict
from typing import Final

from logtriage._lib.names import as_name
from logtriage.errors import BundleError
from logtriage.recorded.figures import CUT
from logtriage.recorded.importing.left_out import LeftOut

#: The longest name of a service, of an alert, or of a signal without its unit, in characters.
MAX_NAME: Final = 80
#: The mark where a name was cut, which takes no other characters.
_CUT_NAME: Final = "..."
#: Names that actions give another meaning.
_RESERVED: Final = ("all", "none")
#: The name of a service's host in Kubernetes: a pod perhaps, the service, its namespace, ``svc``.
_HOST: Final = re.compile(r"(?:[\w-]+\.)?([\w-]+)\.([\w-]+)\.svc(?:\.[\w-]+)*\.?(?::\d+)?")
#: What may be such a name in short: the service, its namespace perhaps, a port perhaps.
_PERHAPS_HOST: Final = re.compile(r"([\w-]+)(?:\.([\w-]+))?\.?(?::\d+)?")
#: Containers whose names say nothing of what runs in them.
GENERIC: Final = frozenset(
    {"api", "app", "application", "container", "exporter", "java", "main", "metrics", "server"}
    | {"service", "web", "worker"}
)
#: Targets that measure others; by name, because a small system may have a single container.
EXPORTERS: Final = re.compile(r"(?i)cadvisor|kubelet|kube-state-metrics")
#: The name of a pod: the workload's name, then the random letters or number of its controllers.
_POD: Final = re.compile(
    r"(.+?)(?:-(?=[a-z]*\d)[a-z0-9]{4,10}-[a-z0-9]{1,5}"
    r"|-[bcdfghjklmnpqrstvwxz2456789]{5}|-\d+)"
)
#: The end of the name of a workload that runs beside another one of its service.
RELEASE: Final = re.compile(r"-(?:blue|green|canary|stable|primary|preview|baseline|v?\d+)$")
#: The name of a container of Docker Compose: project, service and number.
_COMPOSED: Final = re.compile(r"(.+[-_].+)[-_]\d+")
_HEADLESS: Final = "-headless"
#: A word in the name of an object of Kubernetes.
_WORD: Final = re.compile(r"-(?!hpa\b)(?=[a-z]*[aeiou])[a-z]{3,}(?:-|$)")


def plain_name(name: str) -> str:
    """The name with a ``-`` for every run of characters that a topology does not allow.

    Letters that look like others are spelled. Empty if nothing is left of it.
    """
    kept = (letter if letter.isalnum() or letter in "-_." else " " for letter in name)
    return as_name("-".join("".join(kept).split()))


def shortened(text: str, most: int) -> str:
    """The text, cut to ``most`` characters with the mark :data:`CUT` at its end."""
    return text if len(text) <= most else f"{text[: most - len(CUT)].rstrip()}{CUT}"


def hosted(name: str) -> str:
    """The service whose host in Kubernetes has that full name; any other name as it is."""
    match = _HOST.fullmatch(name)
    return name if match is None else match[1]


def workload_of(pod: str) -> str:
    """The workload in the name of a pod, such as its deployment; any other name as it is."""
    match = _POD.fullmatch(pod)
    return pod if match is None else match[1]


def _runs_as(service: str, name: str) -> bool:
    """Whether an object of Kubernetes has the name of a service and an end without words.

    Ends that are drawn at random have no vowels.
    """
    if not name.casefold().startswith(f"{service}-".casefold()):
        return False
    end = name[len(service) :]
    return RELEASE.search(end) is not None or _WORD.search(end) is None


def named_in(label: str, value: str) -> tuple[str, str]:
    """(service, namespace or nothing) that a label names; a job may be ``namespace/service``."""
    space, _, service = value.rpartition("/") if label.endswith("job") else ("", "", value)
    return service, space


class Names:
    """Gives services plain names, and keeps services apart whose plain names are the same.

    ``Search/prod_AWS::ECS`` becomes ``Search-prod_AWS-ECS``; if ``Search/prod_AWS:ECS`` comes
    later, it becomes ``Search-prod_AWS-ECS-2``, and a note says so. A name in a namespace, or of a
    container, is a mark until all names are known. Then :meth:`fold` maps marks, hosts such as
    ``cache.shop.svc.cluster.local`` and containers of Docker Compose to services.
    """

    def __init__(self, left_out: LeftOut | None = None) -> None:
        self._left_out = left_out or LeftOut()
        self._plain: dict[str, str] = {}
        self._original: dict[str, str] = {}
        #: Rows by mark, which has the name, the namespace, and the workload of a container.
        self._marks: Counter[tuple[str, str, str]] = Counter()
        #: Addresses of callees.
        self._addresses: set[str] = set()
        #: Names of services that are no mere addresses, and their namespaces as far as recorded.
        self._spaces: defaultdict[str, set[str]] = defaultdict(set)
        self._known_spaces: set[str] = set()
        #: Services whose hosts are named in full.
        self._hosted: set[str] = set()
        #: Final names by plain name or mark, where they differ.
        self.folded: dict[str, str] = {}

    def __call__(
        self,
        name: str,
        where: str = "",
        *,
        space: str = "",
        workload: str = "",
        is_address: bool = False,
    ) -> str:
        """The plain name of a service, or a mark; a BundleError for an empty one names ``where``.

        ``space`` is its namespace in Kubernetes, if known. ``workload``: the name is that of a
        container in a pod of that workload. ``is_address``: nothing of the service itself was
        recorded by that name.
        """
        if space or workload:
            _checked(name, where)
            self._marks[name, space, workload] += 1
            return "/".join((name, space, workload))  # no plain name has a slash
        if name not in self._plain:
            self._plain[name] = self._new(name, where)
        plain = self._plain[name]
        if not is_address:
            self._spaces.setdefault(plain, set())
        return plain

    def address(self, name: str) -> str:
        """A mark of an address, which becomes the service that has it, or nothing."""
        self._addresses.add(name)
        return f"/{name}"

    def fold(self) -> None:
        """Settle marks, and map the hosts of Kubernetes and Docker to their services; notes say so.

        Services of one name in several namespaces stay apart.
        """
        self._settle_marks()
        originals = list(self._original.items())
        sure = [match for _, name in originals if (match := _HOST.fullmatch(name))]
        self._hosted = {match[1] for match in sure}
        self._known_spaces = {match[2] for match in sure}.union(*self._spaces.values())
        hosts = {plain: host for plain, name in originals if (host := self._host(plain, name))}
        for plain, (service, space) in hosts.items():
            host_spaces = {other for same, other in hosts.values() if same == service and other}
            homes = self._spaces.get(self.known(service) or "") or host_spaces
            is_alone = len(homes) == 1 or len(host_spaces) == 1  # nothing else has the name
            if not space or (space in homes and is_alone):
                final = self.known(service) or self(service, is_address=True)
                why = "the name is that of its host in Kubernetes"
            else:
                final = self(f"{service}.{space}", is_address=True)
                others = ", ".join(sorted((homes | host_spaces) - {space}))
                why = f"{service!r} is in namespace {others}, too"
            self._fold(plain, final, why)
        for plain, name in originals:
            stem, composed = name.removesuffix(_HEADLESS), _COMPOSED.fullmatch(name)
            if stem != name and (home := self.known(stem)) is not None:
                self._fold(plain, home, "the name is that of its headless service")
            elif composed is not None:
                ends = (
                    own for own in self._original if composed[1].endswith((f"-{own}", f"_{own}"))
                )
                final = max(ends, key=len, default=plain)
                self._fold(plain, final, "the name is that of its container in Docker Compose")
        for address in self._addresses:
            match = _HOST.fullmatch(address)
            final = self.settled(address) if match is None else self.settled(match[1], match[2])
            self.folded[f"/{address}"] = final if final in self._original else ""

    def _fold(self, plain: str, final: str, why: str) -> None:
        if final != plain and plain not in self.folded:
            self.folded[plain] = final
            self._left_out.note(
                f"service {self._original[plain]!r:.80} is called {final!r:.80}: {why}"
            )

    def _settle_marks(self) -> None:
        """Give each mark the name of a service.

        A container is a service if it is of one workload (but for those that run beside another
        one, such as ``cart-canary``), and its name says more than the workload's. Of a name in
        several namespaces, the one with the most services keeps it.
        """
        bases = self._bases_of_containers()
        rows = defaultdict[str, Counter[str]](Counter)
        for (name, space, workload), count in self._marks.items():
            rows[bases.get((name, workload), name)][space] += count
        sizes = Counter(space for spaces in rows.values() for space in spaces)
        finals: dict[tuple[str, str], str] = {}
        for base, counts in rows.items():
            spaces = sorted(filter(None, counts), key=lambda one: (-sizes[one], -counts[one], one))
            keepers = ("", *spaces[:1])
            for space in counts:
                finals[base, space] = base if space in keepers else f"{base}.{space}"
            if spaces[1:]:
                others = ", ".join(repr(finals[base, space]) for space in spaces[1:])
                self._left_out.note(
                    f"service {base!r:.80} runs in namespaces {', '.join(spaces)}: that of "
                    f"{spaces[0]} keeps the name, beside {others}"
                )
        for name, space, workload in self._marks:
            plain = self(finals[bases.get((name, workload), name), space])
            self._spaces[plain].update(filter(None, (space,)))
            self.folded["/".join((name, space, workload))] = plain

    def _bases_of_containers(self) -> dict[tuple[str, str], str]:
        """The workload of a container by (name, workload), where the container is no service."""
        workloads = defaultdict[str, set[str]](set)
        for name, _, workload in self._marks:
            workloads[name].update(filter(None, (workload,)))
        bases: dict[tuple[str, str], str] = {}
        for name, every in workloads.items():
            homes = {RELEASE.sub("", workload) for workload in every}
            home = homes.pop() if len(homes) == 1 else ""
            is_part = f"-{name}-" in f"-{home}-"
            is_own = home == name or (is_part and (name not in GENERIC or self.is_named(name)))
            if home and (is_own or (name not in GENERIC and not self.is_named(home))):
                continue
            bases |= {(name, workload): workload for workload in every}
            if len(every) > 1:
                self._left_out.note(
                    f"container {name!r:.80} is in pods of {', '.join(sorted(every))}: these "
                    "workloads are the services"
                )
        return bases

    def settled(self, name: str, space: str = "") -> str:
        """The final plain name of a service, also where only an alert has this name.

        In a ``space`` in which the service of that name does not run, it is another one.
        """
        name = f"{name}.{space}" if space and f"{name}.{space}" in self._plain else name
        plain = self._plain.get(name, plain_name(name))
        host = None if name in self._plain else self._host(plain, name)
        plain = plain if host is None else self.known(host[0]) or plain
        final = self.folded.get(plain, plain)
        homes = self._spaces.get(final) or {space}
        return f"{final}.{space}" if space and space not in homes else final

    def _host(self, plain: str, name: str) -> tuple[str, str] | None:
        """The (service, namespace or nothing) of which a name is the host; None if of none."""
        if match := _HOST.fullmatch(name):
            return match[1], match[2]
        match = _PERHAPS_HOST.fullmatch(name)
        if match is None or (match[1] not in self._hosted and not self.known(match[1])):
            return None
        is_own = plain in self._spaces and match[2] not in self._known_spaces
        return None if is_own else (match[1], match[2] or "")

    def known(self, name: str) -> str | None:
        """The plain name of a service that was named before, in any letter case; else None."""
        return self._plain.get(name) or self._alike(plain_name(name))

    def _alike(self, plain: str) -> str | None:
        """The plain name that is taken already, in any letter case; None if it is not."""
        if plain in self._original:
            return plain
        return next((each for each in self._original if each.casefold() == plain.casefold()), None)

    def is_named(self, name: str) -> bool:
        """Whether anything else than a container was named so, in a namespace or without."""
        marked = any(mark[0] == name and not mark[2] for mark in self._marks)
        return marked or self.known(name) is not None

    def owner(self, name: str, space: str = "") -> str | None:
        """The service that runs as a pod, a replica set or another object of that name."""
        owners = (own for own in self._original if _runs_as(own, name))
        service = self.known(name) or max(owners, key=len, default=None)
        final = None if service is None else self.settled(service, space)
        return final if final in self._original else None

    def _new(self, name: str, where: str) -> str:
        plain = _checked(name, where)
        place = f"{where}: " if where else ""
        if len(plain) > MAX_NAME:
            plain = plain[: MAX_NAME - len(_CUT_NAME)] + _CUT_NAME
            self._left_out.note(f"{place}service {name!r:.80} is called {plain!r}: its name is cut")
        if plain.casefold() in _RESERVED:
            plain = f"{plain}-service"
        free, number = plain, 2
        while free in self._original:
            free, number = f"{plain}-{number}", number + 1
        if (alike := self._alike(plain)) is not None:
            other = self._original[plain] if alike == plain else alike
            called = f"is called {free!r}: another is" if free != name else "has the letters of"
            self._left_out.note(f"{place}service {name!r:.80} {called} {other!r:.80}")
        self._original[free] = name
        return free


def _checked(name: str, where: str) -> str:
    """The plain name; a BundleError, naming the place, if it has no letter and no digit."""
    plain = plain_name(name)
    if not plain.strip("-_."):
        place = where and f"{where}: "
        raise BundleError(f"{place}service {name!r:.80} has neither a letter nor a digit")
    return plain
