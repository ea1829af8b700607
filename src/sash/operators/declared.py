"""What an operator says of its answers: checked where it is written, and as an Arrow type."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa

from sash.operators.errors import OperatorError
from sash.operators.functions import VALUE, VALUES

PLAIN = {bool: "bool", int: "int64", float: "float64", str: "string", bytes: "binary"}


def checked_answer(name: str, answer: Any, fixed_width: bool) -> Any:
    """The type of answers as the rest of the library takes it; a sentence if it is none.

    It is None, "value", "values", a function of the column's type, a type, or a dict of types.
    What is compiled gets NumPy's name of a number.
    """
    if answer is None or isinstance(answer, FunctionType):
        return answer
    if isinstance(answer, dict):
        of_column = [part for part, kind in answer.items() if fixed_width and kind == VALUE]
        if of_column:
            raise OperatorError(
                f"{name}: only an answer of one part can be of the column's type, {VALUE!r}; give "
                f"{of_column[0]!r} a type of numbers, such as 'float64'."
            )
        return {part: checked_answer(name, kind, fixed_width) for part, kind in answer.items()}
    if isinstance(answer, str) and answer in ((VALUE,) if fixed_width else (VALUE, VALUES)):
        return answer
    if isinstance(answer, type) and answer in PLAIN:
        answer = PLAIN[answer]
    try:
        return _number(answer) if fixed_width else arrow_type(answer)
    except (TypeError, ValueError, NotImplementedError):
        what = "a type of numbers" if fixed_width else "a type that Arrow knows"
        example = '"float64"' if fixed_width else '"string", or pyarrow.list_(pyarrow.int64())'
        raise OperatorError(
            f"{name}: answer={answer!r} is not {what}; write such as answer={example}."
        ) from None


def _number(answer: Any) -> str:
    dtype = np.dtype(answer.to_pandas_dtype() if isinstance(answer, pa.DataType) else answer)
    if dtype.kind not in "biuf":
        raise TypeError
    return str(dtype.name)


def arrow_type(answer: Any) -> pa.DataType:
    """A declared type as Arrow's."""
    if isinstance(answer, pa.DataType):
        return answer
    if isinstance(answer, str):
        try:
            return pa.type_for_alias(answer)
        except ValueError:
            pass
    return pa.from_numpy_dtype(np.dtype(answer))
