"""A picture in the language of Graphviz."""

from __future__ import annotations

from bayeswise.networks.drawing.boxes import few, line_of
from bayeswise.networks.drawing.lettering import allowed
from bayeswise.networks.drawing.values import DrawnNode, Kind, Picture

_STYLES = {Kind.chance: "style=rounded", Kind.decision: "style=solid", Kind.utility: "shape=diamond"}


def text(picture: Picture) -> str:
    """One line for each node and each edge; the lines of a node are its name, its notes and its bars."""
    lines = [f"  label={quoted(picture.title)};"] if picture.title else []
    lines += ["  node [shape=box];"]
    lines += [f"  {quoted(node.name)} [{_attributes(node)}];" for node in picture.nodes]
    for start, end in picture.edges:
        dashed = " [style=dashed]" if (start, end) in picture.dashed else ""
        lines.append(f"  {quoted(start)} -> {quoted(end)}{dashed};")
    return "\n".join(["digraph {", *lines, "}"])


def _attributes(node: DrawnNode) -> str:
    parts = [_STYLES[node.kind]] + (["penwidth=2"] if node.marked else [])
    below = [*node.notes, *map(line_of, few(node.bars))]
    if below:
        parts.append(f"label={quoted(chr(10).join([node.name, *below]))}")
    return ", ".join(parts)


def quoted(name: str) -> str:
    r"""A name as Graphviz reads it back.

    >>> print(quoted('say "yes"\n'))
    "say \"yes\"\n"
    """
    escaped = allowed(name).replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
