"""A rubric by its name: a built-in id, or ``module:name`` of your own."""

from logtriage._lib.references import imported, is_reference
from logtriage.errors import InvalidInput
from logtriage.grading.grade import get_rubric
from logtriage.grading.rubric import Rubric


def rubric_named(name: str) -> Rubric:
    """The rubric of that name; ``module:name`` imports, and so runs, a module.

    Raises:
        UnknownName: if no built-in rubric has this id; the message lists them.
        InvalidInput: if the module or the name is missing, or names no rubric.
    """
    if not is_reference(name):
        return get_rubric(name)
    rubric = imported(name)
    if not isinstance(rubric, Rubric):
        raise InvalidInput(f"{name}: expected a Rubric, found {type(rubric).__name__}")
    return rubric
