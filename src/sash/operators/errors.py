"""The one error of our own: an operator that is written wrongly."""


class OperatorError(TypeError):
    """An operator cannot be used as it is written; the message says why, and what to write."""
