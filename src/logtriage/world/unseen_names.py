"""Names for what is in a drawn world: they say nothing of what they stand for."""

from typing import Final

#: Kinds of faults, and benign ones: birds.
KINDS: Final = (
    "avocet", "bittern", "bulbul", "bunting", "buzzard", "chough", "condor", "coot", "crake",
    "crane", "curlew", "dipper", "dunlin", "egret", "eider", "finch", "fulmar",
    "gannet", "grebe", "harrier", "heron", "hobby", "hoopoe",
    "ibis", "jacana", "kestrel", "kite", "knot", "lapwing", "linnet", "magpie", "merlin",
    "oriole", "osprey", "pipit", "plover", "puffin", "quail", "rook", "ruff", "serin",
    "shrike", "siskin", "skua", "smew", "snipe", "stint", "tern", "thrush",
    "wagtail", "wigeon", "wryneck",
)  # fmt: skip
#: Services: trees and shrubs.
SERVICES: Final = (
    "acacia", "alder", "almond", "aspen", "balsa", "baobab", "bamboo", "beech", "birch", "cedar",
    "cherry", "cypress", "dogwood", "ebony", "elder", "elm", "fig", "ginkgo", "hazel", "hemlock",
    "hickory", "holly", "hornbeam", "juniper", "larch", "laurel", "lime", "linden", "magnolia",
    "mahogany", "mango", "maple", "mulberry", "myrtle", "oak", "olive", "palm", "pear", "pine",
    "plane", "poplar", "rowan", "spruce", "sumac", "sycamore", "tamarisk", "teak", "walnut",
    "willow", "yew",
)  # fmt: skip
#: Teams: stones.
TEAMS: Final = (
    "agate", "amber", "basalt", "beryl", "chalk", "coral",
    "flint", "garnet", "gneiss", "granite", "jade", "jasper",
    "marble", "mica", "onyx", "opal", "pearl", "pumice",
    "quartz", "ruby", "shale", "slate", "topaz", "tuff",
)  # fmt: skip
#: Topologies: rivers.
TOPOLOGIES: Final = (
    "amur", "danube", "dnieper", "douro", "ebro", "elbe", "ganges", "garonne", "indus", "loire",
    "mekong", "neva", "niger", "oder", "orinoco", "rhine", "rhone", "severn", "tagus", "tiber",
    "ural", "vistula", "volga", "yukon",
)  # fmt: skip
