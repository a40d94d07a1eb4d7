"""An ONNX graph that predicts like the model, in double precision, for services without Python.

Every column that the model reads is an input with an entry for each row: text as strings, all else as doubles. A
missing number is NaN, a missing text the text under `missing_text` in the metadata. The same model gives the same
bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayeswise import __version__
from bayeswise.exports.answers import Answer, answer_of
from bayeswise.foundation.errors import ExportError, NotInstalledError
from bayeswise.render.expression import Expression, Levels, in_order
from bayeswise.render.labels import distinct_texts
from bayeswise.tables.schema.names import free_name

OPSET, IR_VERSION = 19, 9  # the first ones that compare strings; ONNX Runtime reads them since 1.16
PROBABILITIES = "probabilities"
_ROWS = "rows"


def to_onnx(model: Any, *, costs: Any = None) -> bytes:
    """The graph of a model as the bytes of an .onnx file; with costs it has the action of least expected cost too."""
    onnx = _onnx()
    proto = _Graph(answer_of(model, costs, columns=()), onnx).model()
    onnx.checker.check_model(proto)
    return bytes(proto.SerializeToString(deterministic=True))


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise NotInstalledError(
            "ONNX graphs are written with onnx, which is not installed", fix="pip install 'bayeswise[onnx]'"
        ) from None
    return onnx


class _Graph:
    """Nodes and constants in the order in which they are needed; values are identified by their names."""

    def __init__(self, answer: Answer, onnx: Any) -> None:
        self.answer, self.onnx = answer, onnx
        self.nodes: list[Any] = []
        self.constants: dict[tuple[str, bytes, tuple[int, ...]], Any] = {}
        self.order = list(in_order(answer.outputs.values()))
        self.columns = _columns(self.order)
        texts = [label for node in self.order if _is_text(node) for label in node.value.labels]
        self.missing_text = free_name(["", "(missing)"], set(map(str, texts)), str)
        outputs = {name.casefold() for name in (*answer.outputs, PROBABILITIES)}
        self.inputs = {column: column for column in self.columns}
        self._taken = {*self.columns, *answer.outputs, PROBABILITIES}
        twice = [column for column in self.columns if column.casefold() in outputs and column in answer.outputs]
        if twice or any("\x00" in column for column in self.columns):
            name = twice[0] if twice else next(column for column in self.columns if "\x00" in column)
            raise ExportError(f"the column {name!r} cannot be an input of a graph", fix="rename it, and fit again")
        self.names: dict[int, str] = {}

    # -- the model ----------------------------------------------------------------------------------------------------
    def model(self) -> Any:
        helper, double, string = self.onnx.helper, self.onnx.TensorProto.DOUBLE, self.onnx.TensorProto.STRING
        for node in self.order:
            self.names[id(node)] = self._written(node)
        rows = self._added("Shape", [next(iter(self.inputs.values()))]) if self.inputs else self.constant([1], np.int64)
        outputs, posterior = [], []
        for name, node in self.answer.outputs.items():
            found = self._added("Expand", [self.names[id(node)], rows])
            if name in self.answer.probabilities and self.answer.model.capabilities.classes:
                posterior.append(self._added("Unsqueeze", [found, self.constant([1], np.int64)]))
                continue
            self.nodes.append(helper.make_node("Identity", [found], [name]))
            kind = string if node.op == "label" else double
            outputs.append(helper.make_tensor_value_info(name, kind, [_ROWS]))
        if posterior:
            self.nodes.append(helper.make_node("Concat", posterior, [PROBABILITIES], axis=1))
            outputs.append(helper.make_tensor_value_info(PROBABILITIES, double, [_ROWS, len(posterior)]))
        inputs = [
            helper.make_tensor_value_info(column, string if column in self._texts else double, [_ROWS])
            for column in self.inputs
        ]
        graph = helper.make_graph(self.nodes, "bayeswise", inputs, outputs, list(self.constants.values()))
        made = helper.make_model(
            graph,
            producer_name="bayeswise",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        for key, value in self._facts().items():
            entry = made.metadata_props.add()
            entry.key, entry.value = key, value
        return made

    @property
    def _texts(self) -> set[str]:
        return {node.value.column for node in self.order if _is_text(node)}

    def _facts(self) -> dict[str, str]:
        """Metadata for a service, in addition to names and types."""
        facts = {"missing_text": self.missing_text}
        if self.answer.model.capabilities.classes:
            facts["classes"] = json.dumps(list(self.answer.model.classes), ensure_ascii=False)
        return facts

    # -- values -------------------------------------------------------------------------------------------------------
    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """The name of a constant; equal ones are shared."""
        array = np.asarray(value, dtype=dtype)
        encoded = repr(array.tolist()).encode() if dtype is object else array.tobytes()
        key = np.dtype(dtype).str, encoded, array.shape
        if key not in self.constants:
            name = self._fresh("k", len(self.constants))
            if dtype is object:
                texts = [str(each).encode("utf-8", "surrogatepass") for each in array.ravel()]
                kind = self.onnx.TensorProto.STRING
                self.constants[key] = self.onnx.helper.make_tensor(name, kind, array.shape, texts)
            else:
                self.constants[key] = self.onnx.numpy_helper.from_array(array, name)
        return str(self.constants[key].name)

    def _added(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = self._fresh("v", len(self.nodes))
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def _fresh(self, prefix: str, number: int) -> str:
        name = f"{prefix}{number}"
        while name in self._taken:
            name += "_"
        return name

    def _written(self, node: Expression) -> str:
        args = [self.names[id(arg)] for arg in node.args]
        if node.op in _SAME:
            return self._added(_SAME[node.op], args)
        if node.op in ("largest", "least"):
            return self._added("Max" if node.op == "largest" else "Min", args)
        if node.op in ("below", "at most", "equal"):
            if node.args[0].op == "slot":
                args[1] = self.constant(int(node.args[1].value), np.int64)
            return self._added({"below": "Less", "at most": "LessOrEqual", "equal": "Equal"}[node.op], args)
        if node.op in ("and", "or"):
            found = args[0]
            for other in args[1:]:
                found = self._added(node.op.capitalize(), [found, other])
            return found
        return _WRITERS[node.op](self, node, args)

    def _cell(self, node: Expression, args: list[str]) -> str:
        """A number, NaN if it is infinite, as such a row has no answer."""
        infinite = self._added("IsInf", [self.inputs[node.value]])
        return self._added("Where", [infinite, self.constant(np.nan), self.inputs[node.value]])

    def _unreadable(self, node: Expression, args: list[str]) -> str:
        first, *rest = (self._added("IsInf", [self.inputs[column]]) for column in node.value)
        for other in rest:
            first = self._added("Or", [first, other])
        return first

    def _slot(self, node: Expression, args: list[str]) -> str:
        levels = node.value
        if not isinstance(levels, Levels):
            missing = self._added("IsNaN", args)
            return self._place(
                args[0], self.constant([levels.cuts]), "LessOrEqual", 0, np.ones(len(levels.cuts)), missing, levels
            )
        cell = self.inputs[levels.column]
        if levels.column in self._texts:
            missing = self._added("Equal", [cell, self.constant(self.missing_text, object)])
            labels = self.constant([[str(label) for label in levels.labels]], object)
        else:
            missing = self._added("IsNaN", [cell])
            labels = self.constant([[float(label) for label in levels.labels]])
        away = np.arange(len(levels.labels)) - float(levels.unseen)
        return self._place(cell, labels, "Equal", levels.unseen, away, missing, levels)

    def _place(self, cell: str, labels: str, op: str, start: int, steps: Any, missing: str, levels: Any) -> str:
        """start + the steps of all labels for which the comparison with the cell is true."""
        if not len(steps):
            found = self.constant(start, np.int64)
        else:
            column = self._added("Unsqueeze", [cell, self.constant([1], np.int64)])
            order = [column, labels] if op == "Equal" else [labels, column]
            met = self._added("Cast", [self._added(op, order)], to=self.onnx.TensorProto.DOUBLE)
            moved = self._added("MatMul", [met, self.constant(steps)])
            place = self._added("Add", [moved, self.constant(float(start))])
            found = self._added("Cast", [place], to=self.onnx.TensorProto.INT64)
        return self._added("Where", [missing, self.constant(levels.missing, np.int64), found])

    def _lookup(self, node: Expression, args: list[str]) -> str:
        place = args[0]
        for slot, arg in zip(node.args[1:], args[1:], strict=True):
            scaled = self._added("Mul", [place, self.constant(slot.value.unseen + 1, np.int64)])
            place = self._added("Add", [scaled, arg])
        return self._added("Gather", [self.constant(node.value), place])

    def _label(self, node: Expression, args: list[str]) -> str:
        """The label as text; empty where there is no answer."""
        valid, *conditions = args
        labels = [*distinct_texts(node.value), ""]
        place = self.constant(len(labels) - 2, np.int64)
        for k, condition in reversed(list(enumerate(conditions))):
            place = self._added("Where", [condition, self.constant(k, np.int64), place])
        place = self._added("Where", [valid, place, self.constant(len(labels) - 1, np.int64)])
        return self._added("Gather", [self.constant(labels, object), place])


_SAME = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "log": "Log",
    "exp": "Exp",
    "root": "Sqrt",
    "absolute": "Abs",
    "floor": "Floor",
    "missing": "IsNaN",
    "not": "Not",
    "choose": "Where",
}
_WRITERS: dict[str, Callable[[_Graph, Expression, list[str]], str]] = {
    "number": lambda graph, node, args: graph.constant(node.value),
    "nothing": lambda graph, node, args: graph.constant(np.nan),
    "cell": _Graph._cell,
    "unreadable": _Graph._unreadable,
    "slot": _Graph._slot,
    "square": lambda graph, node, args: graph._added("Mul", [args[0], args[0]]),
    "bounded": lambda graph, node, args: args[0],
    "lookup": _Graph._lookup,
    "label": _Graph._label,
}


def _is_text(node: Expression) -> bool:
    return node.op == "slot" and isinstance(node.value, Levels) and any(isinstance(k, str) for k in node.value.labels)


def _columns(nodes: Sequence[Expression]) -> list[str]:
    """The columns that are read, each once."""
    names: dict[str, None] = {}
    for node in nodes:
        if node.op == "cell":
            names[node.value] = None
        elif node.op == "unreadable":
            names.update(dict.fromkeys(node.value))
        elif node.op == "slot" and isinstance(node.value, Levels):
            names[node.value.column] = None
    return list(names)
