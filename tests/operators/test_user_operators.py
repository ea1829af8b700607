"""Operators as users write them: what works, and what is said when something is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cases import Affine, PlainMean, Spread

import sash
from sash.testing import BrokenLaw, check_operator

VALUES = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
SCALE = 10.0


def scaled(v):
    return v * SCALE


def made(partial: Any = None, **functions: Any) -> sash.Operator:
    """A sum, with some of its functions replaced."""
    body = {
        "identity": lambda: 0.0,
        "lift": lambda v: v,
        "combine": lambda a, b: a.t + b.t,
        "lower": lambda p: p.t,
    }
    body.update(functions)
    written = type("Mine", (), {k: v for k, v in body.items() if v is not None})
    return sash.operator(partial=partial or {"t": "float64"})(written)()


class TestWorks:
    def test_as_in_the_manual(self) -> None:
        assert sash.rolling(VALUES, 2, PlainMean()).tolist() == [3.0, 2.0, 2.5, 2.5, 3.0]
        assert sash.rolling(VALUES, 3, Spread()).tolist() == [0.0, 2.0, 3.0, 3.0, 4.0]

    def test_one_field_returned_bare_or_as_a_tuple(self) -> None:
        bare = made()
        as_tuple = made(lift=lambda v: (v,), combine=lambda a, b: (a.t + b.t,))
        expected = sash.rolling(VALUES, 2, sash.Sum())
        assert np.array_equal(sash.rolling(VALUES, 2, bare), expected)
        assert np.array_equal(sash.rolling(VALUES, 2, as_tuple), expected)

    def test_globals_helpers_modules_and_closures(self) -> None:
        factor = 3.0

        @sash.operator(partial={"t": "float64"}, commutative=True)
        class Helped:
            def identity():
                return 0.0

            def lift(v):
                return scaled(v) * factor

            def combine(a, b):
                return a.t + b.t

            def lower(p):
                return math.sqrt(p.t) + np.floor(0.5)

        found = sash.rolling(VALUES, 2, Helped())
        np.testing.assert_allclose(found, np.sqrt(sash.rolling(VALUES, 2, sash.Sum()) * 30.0))

    def test_two_operators_of_one_name_do_not_meet(self) -> None:
        twice = made(lift=lambda v: 2 * v)
        thrice = made(lift=lambda v: 3 * v)
        assert sash.rolling(VALUES, 1, twice).tolist() == (2 * VALUES).tolist()
        assert sash.rolling(VALUES, 1, thrice).tolist() == (3 * VALUES).tolist()

    def test_without_source(self) -> None:
        scope: dict[str, Any] = {}
        exec(  # as in a bare interpreter: nothing to read back
            "import sash\n"
            "@sash.operator(partial={'n': 'int64'})\n"
            "class Rows:\n"
            "    def identity(): return 0\n"
            "    def lift(v): return 1\n"
            "    def combine(a, b): return a.n + b.n\n"
            "    def lower(p): return p.n\n",
            scope,
        )
        assert sash.rolling(VALUES, 2, scope["Rows"]()).tolist() == [1, 2, 2, 2, 2]

    def test_options(self) -> None:
        @sash.operator(partial={"t": "float64"})
        class Power:
            def identity():
                return 0.0

            def lift(v, *, power=2):
                return v**power

            def combine(a, b):
                return a.t + b.t

            def lower(p, *, power=2):
                return p.t ** (1 / power)

        assert sash.rolling(VALUES, 1, Power()).tolist() == VALUES.tolist()
        cubes = sash.rolling(VALUES, 2, Power(power=3))
        assert cubes[1] == pytest.approx((27 + 1) ** (1 / 3))
        assert repr(Power("x", power=3)) == "Power('x', power=3)"

    def test_several_answers_and_null(self) -> None:
        @sash.operator(
            partial={"n": "int64", "t": "float64"}, answer={"n": "int64", "mean": "float64"}
        )
        class Both:
            def identity():
                return 0, 0.0

            def lift(v):
                return 1, v

            def combine(a, b):
                return a.n + b.n, a.t + b.t

            def lower(p):
                if p.n < 2:
                    return None
                return p.n, p.t / p.n

        assert sash.rolling([2.0, 4.0], 2, Both()) == [None, {"n": 2, "mean": 3.0}]
        found = sash.rolling(np.array([2.0, 4.0, 9.0]), 2, Both(), closed="both")
        assert found[2].tolist() == (3.0, 5.0)

    def test_object_partials(self) -> None:
        @sash.operator(partial=object)
        class Words:
            def identity():
                return ()

            def lift(v):
                return tuple(v.split())

            def combine(a, b):
                return a + b

            def lower(p):
                return " ".join(sorted(p))

        assert sash.rolling(["b a", None, "c"], 2, Words()) == ["a b", "a b", "c"]

    def test_a_subclass_keeps_what_it_does_not_rewrite(self) -> None:
        class RootMeanSquare(sash.Mean):
            def lift(v):
                return 1, v * v, -0.0

            def lower(p):
                return math.sqrt((p.total + p.error) / p.n) if p.n else None

        assert sash.rolling(np.array([3.0, 4.0]), 2, RootMeanSquare())[1] == math.sqrt(12.5)


class TestSaysWhatIsWrong:
    @pytest.mark.parametrize(
        ("functions", "sentence"),
        [
            ({"combine": None}, "Mine has no combine"),
            ({"combine": lambda a: a.t}, "Mine.combine takes 1 parameters and should take 2"),
            ({"lift": lambda: 0.0}, "must take the value to lift"),
            ({"identity": lambda self: 0.0}, "has a parameter self"),
            ({"combine": max}, "must be a plain function"),
            ({"identity": lambda: (0.0, 1.0)}, "identity returned 2 values, but its partial has 1"),
            ({"combine": lambda a, b: a.x}, "fails on its own identity: AttributeError.*'x'"),
        ],
    )
    def test_when_it_is_defined(self, functions: Any, sentence: str) -> None:
        with pytest.raises(sash.OperatorError, match=sentence):
            made(**functions)

    @pytest.mark.parametrize(
        ("partial", "sentence"),
        [
            ({"t": "str"}, "field t has type str"),
            ({"1t": "int64"}, "'1t' cannot be the name of a field"),
            ("float64", "partial must be a dict"),
            ({}, "partial must be a dict"),
        ],
    )
    def test_the_partial(self, partial: Any, sentence: str) -> None:
        with pytest.raises(sash.OperatorError, match=sentence):
            sash.operator(partial=partial)(type("Mine", (), dict(vars(_Sum))))

    @pytest.mark.parametrize(
        ("functions", "sentence"),
        [
            ({"lift": lambda v: {"a": v}}, "returned {'a': 3.0} for the field t"),
            ({"lift": lambda v: (v, v)}, "Mine.lift returned 2 values"),
            ({"lift": lambda v: v.upper()}, r"Mine.lift\(3.0\) fails: AttributeError"),
            ({"identity": lambda: 5.0}, r"identity is not one: with x = lift\(3.0\)"),
            ({"lower": lambda p: p.missing}, "Mine.lower fails"),
        ],
    )
    def test_before_it_runs(self, functions: Any, sentence: str) -> None:
        with pytest.raises(sash.OperatorError, match=sentence):
            sash.rolling(VALUES, 2, made(**functions))

    def test_a_float_for_an_integer_field_is_not_cut_off(self) -> None:
        with pytest.raises(sash.OperatorError, match=r"3.5 for the field t, which is"):
            sash.rolling([3.5], 1, made(partial={"t": "int64"}, identity=lambda: 0))

    def test_what_does_not_compile(self) -> None:
        @sash.operator(partial={"t": "float64"})
        class Opens:
            def identity():
                return 0.0

            def lift(v):
                return v

            def combine(a, b):
                return open("file").read() if a.t > 1e300 else a.t + b.t

            def lower(p):
                return p.t

        with pytest.raises(sash.OperatorError, match=r"Opens.combine does not compile.*object"):
            sash.rolling(VALUES, 2, Opens())

    def test_several_answers_without_names(self) -> None:
        with pytest.raises(sash.OperatorError, match="returns several values: name them"):
            sash.rolling(VALUES, 2, made(lower=lambda p: (p.t, 1.0)))


class _Sum:
    def identity():
        return 0.0

    def lift(v):
        return v

    def combine(a, b):
        return a.t + b.t

    def lower(p):
        return p.t


class TestLaws:
    @pytest.mark.parametrize("operator", [Spread(), PlainMean(), Affine()], ids=repr)
    def test_kept(self, operator: sash.Operator) -> None:
        check_operator(operator, range(20))

    def test_of_ours(self) -> None:
        for operator in (
            sash.Max(),
            sash.Sum(),
            sash.StdDev(),
            sash.Product(),
            sash.First(),
            sash.ArgMin(),
            sash.LongestRise(),
            sash.Kurtosis(),
        ):
            check_operator(
                operator, [(v, v) if operator.takes == "rest" else v for v in (1.0, -2.0, 0.0, 3.5)]
            )

    def broken(self, operator: sash.Operator, values: Any = (7.5, 2.25, 3.0)) -> str:
        with pytest.raises(BrokenLaw) as raised:
            check_operator(operator, values)
        return str(raised.value)

    def test_associativity_with_the_smallest_example(self) -> None:
        halfway = made(combine=lambda a, b: (a.t + b.t) / 2 if a.t and b.t else a.t + b.t)
        said = self.broken(halfway)
        assert said.startswith("Mine breaks associativity on the values ")
        shown = said.partition("values ")[2].partition(":")[0].split(", ")
        assert all(abs(float(v)) <= 3 for v in shown), said

    def test_identity(self) -> None:
        assert "breaks identity on the values 0.0" in self.broken(made(identity=lambda: 1.0))

    def test_commutativity_only_if_claimed(self) -> None:
        first = {"combine": lambda a, b: a.t if a.t else b.t}
        check_operator(made(**first), [1.0, 2.0])
        body = {**{k: v for k, v in vars(_Sum).items() if not k.startswith("__")}, **first}
        claimed = sash.operator(partial={"t": "float64"}, commutative=True)(type("Mine", (), body))
        assert "breaks commutativity" in self.broken(claimed())

    def test_selectivity_only_if_claimed(self) -> None:
        body = {k: v for k, v in vars(_Sum).items() if not k.startswith("__")}
        claimed = sash.operator(partial={"t": "float64"}, selective=True)(type("Mine", (), body))
        assert "neither a" in self.broken(claimed())

    def test_inverse(self) -> None:
        assert "breaks inverse" in self.broken(made(inverse=lambda total, old: total.t))

    def test_closure(self) -> None:
        halves = made(
            partial={"t": "int64"},
            identity=lambda: 0,
            combine=lambda a, b: a.t + b.t if a.t == 0 or b.t == 0 else (a.t + b.t) / 2,
        )
        assert "breaks closure" in self.broken(halves, [1, 2, 3])

    def test_needs_values_and_an_instance(self) -> None:
        with pytest.raises(ValueError, match="at least one value"):
            check_operator(Spread(), [])
        with pytest.raises(TypeError, match=r"write Spread\(\)"):
            check_operator(Spread, [1.0])


class TestNames:
    """Whatever things are called, compiled and plain Python mean the same."""

    n = 0

    def check(self, operator: sash.Operator) -> None:
        window = sash.aggregator("recalc", operator)
        expected = []
        for value in VALUES.tolist():
            window.insert(value)
            expected.append(window.query())
        found = sash.rolling(VALUES, len(VALUES), operator)
        np.testing.assert_allclose(found, expected)

    def test_an_option_and_a_field_called_like_a_global(self) -> None:
        self.check(_Clashing(total=2.0))

    def test_parameters_called_like_ours(self) -> None:
        self.check(
            made(lift=lambda rows: rows, combine=lambda p, r: p.t + r.t, lower=lambda r: r.t)
        )

    def test_guarded_lower_with_a_parameter_of_ours(self) -> None:
        @sash.operator(partial={"lower": "float64", "Partial": "int64"})
        class Odd:
            def identity():
                return 0.0, 0

            def lift(a0):
                return a0, 1

            def combine(found, none):
                return found.lower + none.lower, found.Partial + none.Partial

            def lower(r):
                return r.lower / r.Partial

        self.check(Odd())

    def test_members_whose_names_begin_alike(self) -> None:
        both = sash.Together(x=sash.Max(), x_own=sash.Min(), own=sash.Sum(), use0=Spread())
        found = sash.aggregator("daba", both).slide(VALUES, 2)
        assert found["x_own"].tolist() == [3.0, 1.0, 1.0, 1.0, 1.0]
        assert found["own"].tolist() == [3.0, 4.0, 5.0, 5.0, 6.0]

    @pytest.mark.parametrize("name", ["class", "_a", "a b"])
    def test_names_that_cannot_be(self, name: str) -> None:
        with pytest.raises(sash.OperatorError, match="cannot be the name"):
            sash.Together(**{name: sash.Max()})

    def test_a_decorated_function_is_never_compiled_without_its_decorator(self) -> None:
        with pytest.raises(sash.OperatorError, match=r"Mine.lift does not compile"):
            sash.rolling(VALUES, 2, made(lift=_doubled(lambda v: v)))

    def test_options_that_are_arrays(self) -> None:
        @sash.operator(partial={"t": "float64"})
        class Looked:
            def identity():
                return 0.0

            def lift(v, *, table=None):
                return table[int(v)]

            def combine(a, b):
                return a.t + b.t

            def lower(p):
                return p.t

        one, other = np.zeros(3_000), np.zeros(3_000)
        other[4] = 7.0
        assert sash.rolling(VALUES, 1, Looked(table=one)).sum() == 0.0
        assert sash.rolling(VALUES, 1, Looked(table=other)).sum() == 7.0


total = 1e9


@sash.operator(partial={"total": "float64"})
class _Clashing:
    def identity():
        return 0.0

    def lift(v):
        return v

    def combine(a, b):
        return a.total + b.total

    def lower(p, *, total=1.0):
        return p.total / total


def _doubled(function: Any) -> Any:
    def twice(v):
        return 2.0 * function(v)

    twice.__wrapped__ = function
    return twice


class TestSlips:
    def test_the_row_comes_last(self) -> None:
        with pytest.raises(sash.OperatorError, match="the parameter row comes last"):
            made(lift=lambda row, v: v)

    def test_combine_must_fit_the_field_too(self) -> None:
        halves = made(
            partial={"t": "int64"},
            identity=lambda: 0,
            combine=lambda a, b: a.t + b.t + 0.5 if a.t and b.t else a.t + b.t,
        )
        with pytest.raises(sash.OperatorError, match=r"Mine.combine returned 6.5 for the field t"):
            sash.rolling([3, 4], 2, halves)

    def test_falling_off_the_end_is_null(self) -> None:
        @sash.operator(partial={"t": "float64"})
        class Sometimes:
            def identity():
                return 0.0

            def lift(v):
                return v

            def combine(a, b):
                return a.t + b.t

            def lower(p):
                if p.t > 2.0:
                    return p.t

        assert sash.rolling([1.0, 2.0], 2, Sometimes()) == [None, 3.0]

    def test_objects_that_cannot_be_compared(self) -> None:
        class Bag:
            def __init__(self, items: tuple[Any, ...]) -> None:
                self.items = items

        @sash.operator(partial=object)
        class Bagged:
            def identity():
                return Bag(())

            def lift(v):
                return Bag((v,))

            def combine(a, b):
                return Bag(a.items + b.items)

            def lower(p):
                return len(p.items)

        assert sash.rolling([5, 6, 7], 2, Bagged()) == [1, 2, 2]

    def test_a_subclass_of_sum(self) -> None:
        class Half(sash.Sum):
            def lower(p):
                return (p.total + p.error) / 2

        assert sash.rolling([2.0, 4.0], 2, Half()) == [1.0, 3.0]

    def test_dividing_by_zero_says_who(self) -> None:
        upside_down = made(lower=lambda p: 1.0 / (p.t - 4.0))
        with pytest.raises(ZeroDivisionError, match="Mine divides by zero"):
            sash.rolling(VALUES, 2, upside_down)
