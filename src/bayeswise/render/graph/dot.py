"""A picture in the language of Graphviz."""

from __future__ import annotations

from bayeswise.render.graph.boxes import few, line_of
from bayeswise.render.graph.picture import DrawnNode, Kind, Picture, line_width
from bayeswise.render.labels import allowed

_STYLES = {Kind.chance: "style=rounded", Kind.decision: "style=solid", Kind.utility: "shape=diamond"}


def text(picture: Picture) -> str:
    """One line for each node and each edge; the lines of a node are its name, its notes and its bars."""
    below = [picture.title] if picture.title else []
    if picture.legend is not None:
        samples = ", ".join(f"{sample.value} {line_width(sample):.2g}" for sample in picture.legend.samples)
        below.append(f"width: {picture.legend.words}" + (f" ({samples} points)" if samples else ""))
    lines = [f"  label={quoted(chr(10).join(below))};"] if below else []
    lines += ["  node [shape=box];"]
    lines += [f"  {quoted(node.name)} [{_attributes(node)}];" for node in picture.nodes]
    for start, end in picture.edges:
        lines.append(f"  {quoted(start)} -> {quoted(end)}{_of_edge(picture, (start, end))};")
    return "\n".join(["digraph {", *lines, "}"])


def _of_edge(picture: Picture, edge: tuple[str, str]) -> str:
    parts = ["style=dashed"] if edge in picture.dashed else []
    width = picture.widths.get(edge)
    if width is not None:
        parts += [f"penwidth={line_width(width):.2f}", f"tooltip={quoted(width.value)}"]
    return f" [{', '.join(parts)}]" if parts else ""


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
