"""A rubric by its name: the id of a built-in one, or ``module:name`` of one's own."""

from logtriage._lib.references import imported, is_reference
from logtriage.errors import InvalidInput
from logtriage.grading.grade import get_rubric
from logtriage.grading.rubric import Rubric


def rubric_named(name: str) -> Rubric:
    """The rubric of that name; ``module:name`` imports, and so runs, a module.

    Raises:
        UnknownName: for an id that is not built in, listing those that are.
        InvalidInput: if the module or the name is missing, or names no rubric.
    """
    if not is_reference(name):
        return get_rubric(name)
    found = imported(name)
    if not isinstance(found, Rubric):
        raise InvalidInput(f"{name}: expected a Rubric, found {type(found).__name__}")
    return found
