"""The text for a slide policy: the user's function, shown partials or answers by name."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sash.aggregators.slide_policies import NotCompiledError, SlidePolicy
from sash.aggregators.sources import literal, may_be_null
from sash.operators.monoid import NOT_GIVEN, Monoid

if TYPE_CHECKING:
    from sash.aggregators.generating import Writer

INLINE = '@njit(inline="always")\n'


@dataclass(frozen=True)
class Risks:
    """How a policy may end with an error: it divides, or does something else that can fail."""

    divides: bool
    fails: bool


NO_RISKS = Risks(False, False)


def policy_text(writer: Writer, policy: SlidePolicy) -> tuple[str, Risks]:
    """`policy(total, old)` on whole partials, and what can go wrong with it."""
    shown = [_shown(writer, policy, k) for k in range(len(writer.leaves))]
    members = [name for name, _ in writer.monoid.members]
    own = _own(writer, policy)
    text = [own, *shown]
    if members:
        each = ", ".join(f"m{k}_shown(p[{k}])" for k in range(len(members)))
        text.append(f'Shown = namedtuple("Shown", {members!r})\n')
        text.append(f"{INLINE}def shown(p):\n    return Shown({each})\n\n")
    else:
        text.append("shown = m0_shown\n")
    text.append(f"{INLINE}def policy(total, old):\n")
    text.append("    return bool(own_policy(shown(total), shown(old)))\n\n")
    nodes = list(ast.walk(ast.parse(own)))
    divides = not own or any(isinstance(n, (ast.Div, ast.FloorDiv, ast.Mod)) for n in nodes)
    if any(isinstance(node, ast.Pow) for node in nodes):
        raise NotCompiledError("a power of compiled numbers is not what it is in Python.")
    fails = divides or any(isinstance(n, (ast.Raise, ast.Call, ast.Assert)) for n in nodes)
    nulls = not policy.raw and any(
        may_be_null(leaf) or (null and leaf.empty is None)
        for (_, leaf), null in zip(writer.leaves, writer.nulls, strict=True)
    )
    return "".join(text), Risks(divides, fails or nulls)


def _own(writer: Writer, policy: SlidePolicy) -> str:
    """The user's function; what it takes from a dict of answers, by the name it has here."""
    if isinstance(policy.source, str):
        tree = ByName().visit(_parsed(policy.source))
        return INLINE + ast.unparse(ast.fix_missing_locations(tree)) + "\n\n"
    text = writer.function(policy.source, "own_policy", writer.monoid, takes=2)
    return ast.unparse(ast.fix_missing_locations(ByName().visit(ast.parse(text)))) + "\n\n"


def _parsed(text: str) -> ast.FunctionDef:
    try:
        (tree,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        raise NotCompiledError("the policy's text is not that of one function.") from None
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) != 2:
        raise NotCompiledError("the policy's text is not that of a function of (total, old).")
    known = {a.arg for a in tree.args.args}
    known |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_stored(n)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            raise NotCompiledError("the policy's text imports something.")
        if isinstance(node, ast.Name) and node.id not in known and not hasattr(builtins, node.id):
            raise NotCompiledError(f"the policy's text uses {node.id!r}, which is not known.")
    tree.name = "own_policy"
    tree.decorator_list = []
    return tree


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class ByName(ast.NodeTransformer):
    """answers["name"] as answers.name: here they are a named tuple."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node.slice:
            case ast.Constant(value=str(name)) if name.isidentifier():
                return ast.Attribute(node.value, name, node.ctx)
        return node


def _shown(writer: Writer, policy: SlidePolicy, k: int) -> str:
    """What the policy sees of the k-th leaf: its partial, or its answer."""
    prefix, leaf = writer.leaves[k]
    head = f"{INLINE}def {prefix}shown(p):\n"
    if policy.raw:
        return f"{head}    return p\n\n"
    several = isinstance(leaf.answer, dict)
    nothing = _nothing(leaf, prefix) if writer.nulls[k] else ""
    if several and (nothing or may_be_null(leaf)):
        raise NotCompiledError(f"an answer of {leaf.name} may be null, and is several numbers.")
    if not several:
        return f"{head}{nothing}    return {prefix}lower(p)\n\n"
    names = list(leaf.answer)
    fields = ", ".join(f"found[{i}]" for i in range(len(names)))
    return (
        f'{prefix}Answers = namedtuple("Answers", {names!r})\n'
        f"{head}    found = {prefix}lower(p)\n    return {prefix}Answers({fields})\n\n"
    )


def _nothing(leaf: Monoid, prefix: str) -> str:
    """The answer for no value at all, where `lower` does not tell it from a value."""
    if leaf.empty is NOT_GIVEN:
        return ""
    empty = literal(leaf.empty)
    if empty is None:
        raise NotCompiledError(f"what {leaf.name} answers for no value is not a number.")
    fields = range(len(leaf.fields or ()))
    alike = " & ".join(f"same_bits(p[{i}], none[{i}])" for i in fields)
    return f"    none = {prefix}identity()\n    if {alike}:\n        return {empty}\n"
