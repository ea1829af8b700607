"""What is refused, or ends with an error half-way, leaves the window as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sash

FIFO = [
    card.name
    for card in sash.algorithms()
    if not card.composed and card.name not in ("subtract_on_evict",)
]


@sash.operator(partial=object)
class NotBoth:
    """Letters in a row; an X and a Y are not to meet."""

    def identity():
        return ""

    def lift(v):
        return v

    def combine(a, b):
        both = a + b
        if "X" in both and "Y" in both:
            raise ValueError("X has met Y")
        return both

    def lower(p):
        return p


ANY = [name for name in FIFO if name != "slick_deque"]


@pytest.mark.parametrize("algorithm", ANY)
def test_an_error_half_way_leaves_the_window_whole(algorithm: str) -> None:
    """Some add up when a value comes, some when one leaves, some only when they are asked."""
    window = sash.aggregator(algorithm, NotBoth())
    held = ""
    for letter in "abXcYd":
        try:
            window.insert(letter)
        except ValueError:
            assert letter == "Y"
        else:
            held += letter
        assert len(window) == len(held)
    if "Y" in held:
        with pytest.raises(ValueError, match="X has met Y"):
            window.query()
    else:
        assert window.query() == held
        for _ in range(3):
            window.evict()
        assert window.query() == held[3:]


def test_a_failed_query_of_flat_fit_can_be_asked_again() -> None:
    window = sash.aggregator("flat_fit", NotBoth())
    for letter in "abXcYde":
        window.insert(letter)
    for _ in range(2):
        with pytest.raises(ValueError, match="X has met Y"):
            window.query()
    window.bulk_evict(3)
    assert window.query() == "cYde"
    assert window.query(2) == "de"


def test_what_flat_fat_refuses_does_not_show_up_later() -> None:
    window = sash.aggregator("flat_fat", NotBoth())
    x, c = [window.insert(letter) for letter in "Xc"]
    with pytest.raises(ValueError, match="X has met Y"):
        window.insert("Y")
    with pytest.raises(ValueError, match="X has met Y"):
        window.update({c: "Y"})
    assert window.query() == "Xc"
    window.evict(x)
    assert window.query() == "c"


@pytest.mark.parametrize("handle", [0.5, True, "x", None, 7])
def test_handles_are_whole_numbers_that_were_given_out(handle: Any) -> None:
    window = sash.aggregator("flat_fat", sash.Sum())
    window.insert(1)
    window.insert(2)
    with pytest.raises((TypeError, IndexError), match="handle"):
        window.update({handle: 5})
    assert window.query() == 3
    with pytest.raises(TypeError, match="by handle"):
        window.update([1, 2])


def test_what_per_source_refuses_does_not_stay() -> None:
    @sash.operator(partial=object, commutative=True)
    class Top:
        def identity():
            return None

        def lift(v):
            return v

        def combine(a, b):
            return b if a is None else a if b is None else max(a, b)

        def lower(p):
            return p

    window = sash.aggregator("per_source", Top())
    window.insert((1, 1), "a")
    window.insert((3, 5), "b")
    with pytest.raises(TypeError):
        window.insert((3, "x"), "c")
    assert window.sources() == ["a", "b"]
    window.evict("b")
    assert window.query() == (1, 1)
    window.check_invariants([(1, 1)])


@pytest.mark.parametrize(
    ("values", "sources", "times", "said"),
    [
        ([1, 2, 3], ["a", "b"], None, "3 values and 2 sources"),
        ([1, 2, 3], ["a", "a", "a"], [5, 4, 6], "must not go back"),
        ([1, "x"], ["a", "b"], None, "x"),
        ([1, 2], ["a", None], None, "the source of each row"),
    ],
)
def test_per_source_takes_all_rows_or_none(
    values: Any, sources: Any, times: Any, said: str
) -> None:
    window = sash.aggregator("per_source", sash.Max())
    with pytest.raises((TypeError, ValueError), match=said):
        window.bulk_insert(values, sources, times)
    assert len(window) == 0
    window.insert(1.5, "a")  # nor is the type settled
    assert window.query() == 1.5


@pytest.mark.parametrize("algorithm", ["daba_lite", "fiba", "flat_fat", "pba", "sba"])
def test_no_rows_change_nothing(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Sum())
    window.bulk_insert(np.arange(10))
    assert len(window.slide(np.array([], np.int64), 3)) == 0
    assert (len(window), window.query()) == (10, 45)
    assert window.slide(np.array([10]), 10).tolist() == [55]


@pytest.mark.parametrize("algorithm", ["daba", "b_int", "flat_fit", "fiba"])
def test_counts_and_sizes_are_whole_numbers(algorithm: str) -> None:
    window = sash.aggregator(algorithm, sash.Sum())
    for value in (1, 2, 3):
        window.insert(value)
    with pytest.raises(TypeError, match="whole number"):
        window.bulk_evict(1.5)
    with pytest.raises(TypeError, match="whole number"):
        window.slide([1, 2], 2.5)
    with pytest.raises(TypeError, match="whole number"):
        window.slide([1, 2], "3")
    assert window.query() == 6


def test_sizes_may_be_an_array() -> None:
    window = sash.aggregator("flat_fit", sash.Max())
    assert window.slide([2, 4, 0], np.array([2, 1])) == [[2, 4, 4], [2, 4, 0]]
    with pytest.raises(TypeError, match="whole number"):
        window.query(1.5)


@pytest.mark.parametrize("refused", [[1, "x"], ["x", 1]])
def test_rows_that_are_refused_do_not_settle_the_type(refused: list[Any]) -> None:
    window = sash.aggregator("daba", sash.Sum())
    with pytest.raises(TypeError):
        window.bulk_insert(refused)
    window.insert(1.5)
    assert window.query() == 1.5
