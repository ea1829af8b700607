"""`sash algorithms` and `sash operators`."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner, Result

import sash
from sash.cli.lists import algorithms, operators
from sash.operators.catalogue import catalogue

app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
app.command()(algorithms)
app.command()(operators)

PUBLIC = [
    name
    for name in sash.__all__
    if isinstance(getattr(sash, name), type)
    and issubclass(getattr(sash, name), sash.Operator)
    and name != "Operator"
]


def run(*arguments: str, columns: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": columns})


def words(text: str) -> list[str]:
    return text.split()


class TestAlgorithms:
    def test_all(self) -> None:
        told = run("algorithms")
        assert told.exit_code == 0
        lines = told.stdout.splitlines()
        assert words(lines[0]) == ["algorithm", "order", "needs", "time", "space", "year"]
        for card in sash.algorithms():
            assert any(line.startswith(f"{card.name} ") for line in lines)
        assert max(map(len, lines)) <= 120

    @pytest.mark.parametrize("columns", ["60", "80", "120", "300"])
    def test_nothing_is_cut_off(self, columns: str) -> None:
        """Nor coloured: it is piped here."""
        told = run("algorithms", columns=columns).stdout
        assert "\x1b" not in told
        assert all(line == line.rstrip() for line in told.splitlines())
        found = set(words(told))
        for card in sash.algorithms():
            assert {*words(card.needs), *words(card.time), *words(card.space)} <= found

    @pytest.mark.parametrize("name", [card.name for card in sash.algorithms()])
    def test_one(self, name: str) -> None:
        told = run("algorithms", name, columns="300").stdout
        (card,) = (card for card in sash.algorithms() if card.name == name)
        for text in (card.title, card.order, card.needs, card.time, card.space, card.paper):
            assert text in told

    def test_one_with_its_invariants(self) -> None:
        told = run("algorithms", "daba").stdout
        assert told.startswith("daba\nDABA, the de-amortised")
        assert "\nInvariants" in told

    def test_json(self) -> None:
        told = json.loads(run("algorithms", "--json").stdout)
        assert [each["name"] for each in told] == [card.name for card in sash.algorithms()]
        one = json.loads(run("algorithms", "sba", "--json").stdout)
        assert (one["name"], one["year"], one["composed"]) == ("sba", 2022, False)


class TestOperators:
    def test_all(self) -> None:
        told = run("operators")
        assert told.exit_code == 0
        lines = told.stdout.splitlines()
        for name in PUBLIC:
            assert any(line.startswith(f"{name} ") for line in lines)
        assert "\x1b" not in told.stdout and max(map(len, lines)) <= 120

    @pytest.mark.parametrize("columns", ["60", "80", "300"])
    def test_nothing_is_cut_off(self, columns: str) -> None:
        found = set(words(run("operators", columns=columns).stdout))
        for entry in catalogue().values():
            for text in (entry.answers, entry.columns_told, entry.options_told, entry.traits):
                assert set(words(text)) <= found

    def test_one(self) -> None:
        told = run("operators", "ArgMax").stdout.splitlines()
        assert told == [
            "ArgMax",
            "What the row with the largest value holds in other columns; the first row wins a tie.",
            "",
            "columns  1 of numbers, decimals, text or times, then 1 or more of anything",
            "options  none",
            "traits   selective",
            "partial  hi as the column, row int64",
            "empty    null",
        ]

    def test_json(self) -> None:
        told = json.loads(run("operators", "--json").stdout)
        assert sorted(each["name"] for each in told) == sorted(PUBLIC)
        one = json.loads(run("operators", "TopK", "--json").stdout)
        assert (one["must"], one["empty"], one["partial"]) == (["k"], [], "object")
        assert one["commutative"] is True


@pytest.mark.parametrize(
    ("command", "name", "hint"),
    [
        ("algorithms", "dabba", "did you mean daba?"),
        ("algorithms", "Daba-Lite", "did you mean daba_lite?"),
        ("algorithms", "quicksort", "`sash algorithms` lists all."),
        ("operators", "max", "did you mean Max?"),
        ("operators", "StdDv", "did you mean StdDev?"),
        ("operators", "IntegerSum", "`sash operators` lists all."),
        ("operators", "zzz", "`sash operators` lists all."),
    ],
)
def test_unknown(command: str, name: str, hint: str) -> None:
    told = run(command, name)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.count("\n") == 1
    assert f"there is no {command[:-1]} {name!r}; {hint}" in told.stderr


class TestCatalogue:
    def test_all_that_is_public(self) -> None:
        assert sorted(catalogue()) == sorted(PUBLIC)

    @pytest.mark.parametrize("name", [name for name in PUBLIC if name != "Together"])
    def test_what_it_takes(self, name: str) -> None:
        """What is told of text is what happens to text."""
        entry = catalogue()[name]
        columns = [f"c{k}" for k in range(max(entry.columns[0], 1))]
        operator = getattr(sash, name)(*columns, **dict.fromkeys(entry.must, 2))
        table = pa.table(dict.fromkeys(columns, pa.array(["a", "b"])))
        if entry.takes and "text" not in entry.takes:
            with pytest.raises(TypeError):
                sash.rolling(table, 2, operator)
        else:
            sash.rolling(table, 2, operator)

    @pytest.mark.parametrize("name", [name for name in PUBLIC if name != "Together"])
    def test_what_no_value_answers(self, name: str) -> None:
        entry = catalogue()[name]
        columns = [f"c{k}" for k in range(entry.columns[0])]
        operator = getattr(sash, name)(*columns, **dict.fromkeys(entry.must, 2))
        kind = pa.string() if entry.takes[:1] == ("text",) else pa.float64()
        window = sash.Window(operator, 2)
        table = pa.table(dict.fromkeys(columns, pa.array([None], kind)))
        (found,) = window.push_many(table)
        assert (found.as_py() if isinstance(found, pa.Scalar) else found) == entry.empty


def test_no_spark() -> None:
    """Lists are shown at once: PySpark is not even imported."""
    code = "import sys, sash.cli.lists; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
