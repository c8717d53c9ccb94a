"""Reads OpenQASM 3 into a circuit with qiskit's importer, and corrects or refuses its known misreadings.

Where the importer differs from the language: it binds the parameters of a `gate` in alphabetical order; it broadcasts
one measured qubit into a whole register; it divides integers downwards; it forgets the names of single bits; it calls a
custom gate by a standard gate's name; it reads `id` as another gate. The phase of `U` differs between revisions of
the language, and that of `u2` and `u3` between the language and the importer, which shows once such a gate is
controlled or taken to a fractional power: that is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from openqasm3 import ast
from qiskit import ClassicalRegister, QuantumCircuit
from qiskit.circuit import Gate, Parameter, Qubit
from qiskit.circuit.classical import expr
from qiskit.circuit.classical.types import Bool
from qiskit.circuit.exceptions import CircuitError
from qiskit.circuit.library import IGate
from qiskit_qasm3_import import ConversionError
from qiskit_qasm3_import import types as qasm3_types
from qiskit_qasm3_import.converter import ConvertVisitor
from qiskit_qasm3_import.data import Scope, Symbol
from qiskit_qasm3_import.state import GateScope, LocalScope, State

from ..refusals import JobError, Unsupported
from .gate_names import TRIED_ANGLES, distinct, standard_gate
from .openqasm3_calls import read_calls
from .openqasm3_nodes import is_control, is_evaluated, is_integer, leaves_loop, nodes, shows_phase, uses_gate
from .openqasm3_parsing import parsed
from .openqasm3_slices import FaithfulResolver, without_slices
from .openqasm_text import CLBITS_MAX, placed, too_many_qubits
from .runtime_expressions import condition, expression
from .size import OPERATIONS_MAX

UNROLLED_STATEMENTS_MAX = 100_000
"""Statements of loops written out while reading; the reader handles some ten thousand a second."""

BOUND_OPERATIONS_MAX = 10_000
"""Operations of a gate with parameters: each call copies them all to bind their values."""

COMPARED_OPERATIONS_MAX = 100
"""Operations of a definition that is compared with the standard gate of its name; the longest standard one has 33."""

_NODE = re.compile(r"node of type '?(\w+)'? is not supported")
_STATEMENTS = {
    "SubroutineDefinition": "'def' (a subroutine; write its gates out, or define a gate)",
    "ReturnStatement": "'return'",
    "ExternDeclaration": "'extern'",
    "Box": "'box'",
    "DelayInstruction": "'delay'",
    "CalibrationGrammarDeclaration": "'defcalgrammar'",
    "CalibrationDefinition": "'defcal'",
    "CalibrationStatement": "'cal'",
    "IODeclaration": "'input' or 'output'",
    "Pragma": "'pragma' (for #pragma braket, choose the framework marqov)",
    "EndStatement": "'end'",
    "ClassicalAssignment": "an assignment to a classical variable",
    "ExpressionStatement": "a call or an expression as a statement",
}
"""What the parser's kinds of statements are called in the language."""
NO_INCLUDE = (
    "OpenQASM 3: gate '{}' is not defined, because the program includes no gates: write include \"stdgates.inc\"; after"
    " the version line; a program in Amazon Braket's dialect (cnot, #pragma braket) needs the framework marqov"
)


def load_version_3(
    text: str, max_qubits: int, backend: str, prepare: Callable[[ast.Program], None] | None = None
) -> QuantumCircuit:
    """The circuit of an OpenQASM 3 program; `prepare` changes the parsed program first. Raises JobError with the
    line."""
    if prepare is None:
        called = read_calls(text, max_qubits, lambda part, qubits: load_version_3(part, qubits, backend))
        if called is not None:
            return called
    program = parsed(text)
    if prepare is not None:
        prepare(program)
    visitor = FaithfulVisitor(max_qubits, backend)
    try:
        circuit: QuantumCircuit = visitor.convert(program).circuit
        return circuit
    except JobError as error:
        error.line = error.line or visitor.line
        raise
    except ConversionError as error:
        message, line = placed(error.message)
        raise Unsupported(f"OpenQASM 3: {_NODE.sub(_in_the_languages_words, message)}", line) from None
    except RecursionError:
        raise JobError("OpenQASM 3: the program is nested too deeply") from None
    except (CircuitError, TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError) as error:
        detail = str(getattr(error, "message", "") or error)[:500]
        if isinstance(error, TypeError) and detail.startswith("index must be"):
            detail = (
                "a register's index has to be a constant; the variable of a loop with break or continue is not constant"
            )
        raise Unsupported(f"OpenQASM 3: {detail}", visitor.line) from None


def _in_the_languages_words(found: re.Match[str]) -> str:
    return _STATEMENTS.get(found[1], f"a statement of the kind {found[1]}") + " is not supported"


class FaithfulVisitor(ConvertVisitor):  # type: ignore[misc]
    """The importer with the corrections that the module's text lists. `line` is its current line."""

    def __init__(self, max_qubits: int, backend: str) -> None:
        super().__init__()
        self.line: int | None = None
        self._max_qubits = max_qubits
        self._backend = backend
        self._qubits = 0
        self._clbits = 0
        self._includes = False
        # Names of gates whose phase readers interpret differently: U with a nonzero first angle, and gates built on it.
        self._phase_unclear = {"U", "u2", "u3"}
        # Integers that a switch tests; the one that the statement before assigned, and what this one assigns.
        self._switched: set[str] = set()
        self._before: tuple[str, ast.Expression] | None = None
        self._assigned: tuple[str, ast.Expression] | None = None
        # How many operations each defined gate stands for.
        self._sizes: dict[str, int] = {}

    def visit(self, node: ast.QASMNode, context: Any = None) -> Any:
        if isinstance(node, ast.Statement) and node.span is not None:
            self.line = node.span.start_line
        if isinstance(node, ast.Statement):
            self._before, self._assigned = self._assigned, None
        return super().visit(node, context)

    def visit_Program(self, node: ast.Program, context: State) -> State:
        targets = [inner.target for inner in nodes(node.statements) if isinstance(inner, ast.SwitchStatement)]
        declared = {inner.identifier.name for inner in node.statements if is_integer(inner)}
        self._switched = {target.name for target in targets if isinstance(target, ast.Identifier)} & declared
        return super().visit_Program(node, context)

    def visit_Include(self, node: ast.Include, context: State) -> State:
        context = super().visit_Include(node, context)
        self._includes = True
        # The importer reads it as U(0, 0, 0), which noise and gate counts know by another name.
        context.symbol_table.get("id", node).data = IGate
        return context

    def visit_QubitDeclaration(self, node: ast.QubitDeclaration, context: State) -> State:
        self._qubits += 1 if node.size is None else self._resolve_constant_int(node.size, context)
        if self._qubits > self._max_qubits:
            raise Unsupported(too_many_qubits(self._qubits, self._backend, self._max_qubits), self.line)
        return super().visit_QubitDeclaration(node, context)

    def visit_ClassicalDeclaration(self, node: ast.ClassicalDeclaration, context: State) -> State:
        if isinstance(node.type, ast.BitType):
            size = 1 if node.type.size is None else self._resolve_constant_int(node.type.size, context)
            self._clbits += size
            if self._clbits > CLBITS_MAX:
                message = f"circuit declares {self._clbits} classical bits, at most {CLBITS_MAX} are possible"
                raise Unsupported(message, self.line)
            if isinstance(node.init_expression, ast.QuantumMeasurement):
                self._check_widths(self._resolve_qarg(node.init_expression.qubit, context), size)
            if node.type.size is None and context.scope is Scope.GLOBAL:
                return self._declare_bit(node, context)
        elif node.identifier.name in self._switched and node.init_expression is None:
            return context
        return super().visit_ClassicalDeclaration(node, context)

    def _declare_bit(self, node: ast.ClassicalDeclaration, context: State) -> State:
        """A single bit becomes a register of one, which keeps its name and its place among the registers."""
        if node.init_expression is not None and not isinstance(node.init_expression, ast.QuantumMeasurement):
            raise Unsupported("OpenQASM 3: initialisation of classical bits is not supported", self.line)
        register = ClassicalRegister(1, node.identifier.name)
        context.circuit.add_register(register)
        context.symbol_table.insert(Symbol(node.identifier.name, register[0], qasm3_types.Bit(), context.scope, node))
        if node.init_expression is not None:
            context.circuit.measure(self._resolve_qarg(node.init_expression.qubit, context), register[0])
        return context

    def visit_ClassicalAssignment(self, node: ast.ClassicalAssignment, context: State) -> State:
        """`int x; x = c; switch (x) { ... }`, as qiskit's exporter writes a switch over bits. The switch itself reads
        the bits, so it has to follow at once."""
        name = node.lvalue.name if isinstance(node.lvalue, ast.Identifier) else None
        if name not in self._switched or node.op is not ast.AssignmentOperator["="]:
            return self.generic_visit(node, context)
        self._assigned = (name, node.rvalue)
        return context

    def visit_SwitchStatement(self, node: ast.SwitchStatement, context: State) -> State:
        target: Any = node.target
        if isinstance(target, ast.Identifier) and target.name in self._switched:
            if self._before is None or self._before[0] != target.name:
                raise Unsupported(
                    f"OpenQASM 3: '{target.name}' in switch has to be assigned in the statement before it", self.line
                )
            target = self._before[1]
        tested = expression(target, lambda inner: self._resolve_generic(inner, context, strict=True)[0])
        if not isinstance(tested, expr.Var):
            raise Unsupported("OpenQASM 3: switch takes a bit or a register, not an expression", self.line)
        with context.circuit.switch(tested) as case:
            for values, block in node.cases:
                labels = [self._resolve_constant_int(value, context) for value in values]
                with case(*(bool(label) if tested.type.kind is Bool else label for label in labels)):
                    self._block(block.statements, context)
            if node.default is not None:
                with case(case.DEFAULT):
                    self._block(node.default.statements, context)
        return context

    def _block(self, statements: list[ast.Statement], context: State) -> None:
        with LocalScope(context) as inner:
            for statement in statements:
                self.visit(statement, inner)

    def visit_ConstantDeclaration(self, node: ast.ConstantDeclaration, context: State) -> State:
        value, kind = self._resolve_generic(node.init_expression, context, strict=False)
        numbers = (qasm3_types.Int, qasm3_types.Uint, qasm3_types.Float)
        if not isinstance(kind, numbers) or not kind.const:
            raise Unsupported("OpenQASM 3: only constant numbers can be declared const", self.line)
        if isinstance(node.type, ast.IntType | ast.UintType) and isinstance(value, int):
            declared: Any = qasm3_types.Int(const=True)
        elif isinstance(node.type, ast.FloatType | ast.AngleType):
            value, declared = float(value), qasm3_types.Float(const=True)
        else:
            raise Unsupported("OpenQASM 3: the constant's value does not have its declared type", self.line)
        context.symbol_table.insert(Symbol(node.identifier.name, value, declared, context.scope, node))
        return context

    def visit_QuantumMeasurementStatement(self, node: ast.QuantumMeasurementStatement, context: State) -> State:
        if node.target is not None:
            target = self._resolve_carg(node.target, context)
            self._check_widths(
                self._resolve_qarg(node.measure.qubit, context), len(target) if hasattr(target, "__len__") else 1
            )
        return super().visit_QuantumMeasurementStatement(node, context)

    def _check_widths(self, measured: Any, size: int) -> None:
        qubits = 1 if isinstance(measured, Qubit) else len(measured)
        if qubits != size:
            raise Unsupported(f"OpenQASM 3: {qubits} qubits cannot be measured into {size} bits", self.line)

    def visit_QuantumGateDefinition(self, node: ast.QuantumGateDefinition, context: State) -> State:
        calls = [statement for statement in node.body if isinstance(statement, ast.QuantumGate)]
        size = sum(self._sizes.get(call.name.name, 1) for call in calls)
        size_max = BOUND_OPERATIONS_MAX if node.arguments else OPERATIONS_MAX
        if size > size_max:
            raise Unsupported(f"gate '{node.name.name}' expands to more than {size_max} operations", self.line)
        self._sizes[node.name.name] = size
        with GateScope(context) as inner:
            parameters = [Parameter(name.name) for name in node.arguments]
            for parameter in parameters:
                inner.symbol_table.insert(Symbol(parameter.name, parameter, qasm3_types.Angle(), Scope.GATE, node))
                inner.all_parameters.add(parameter)
            bits = [Qubit() for _ in node.qubits]
            inner.circuit.add_bits(bits)
            for name, bit in zip(node.qubits, bits, strict=True):
                inner.symbol_table.insert(Symbol(name.name, bit, qasm3_types.Qubit(), Scope.GATE, node))
            for statement in node.body:
                self.visit(statement, inner)
        if any(uses_gate(call, self._phase_unclear) for call in calls):
            self._phase_unclear.add(node.name.name)
        builder: Any = self._standard(node.name.name, inner.circuit, parameters)
        builder = builder or _GateBuilder(distinct(node.name.name), inner.circuit, parameters)
        return self._define_gate(node.name.name, builder, len(parameters), len(bits), node, context)

    def _standard(self, name: str, definition: QuantumCircuit, parameters: list[Parameter]) -> type[Gate] | None:
        """The standard gate that a program defines under its own name, as every exporter does for gates beyond
        "stdgates.inc"."""
        if self._sizes[name] > COMPARED_OPERATIONS_MAX or len(parameters) > len(TRIED_ANGLES):
            return None
        tried = dict(zip(parameters, TRIED_ANGLES, strict=False))
        return standard_gate(name, definition.assign_parameters(tried, strict=False), len(parameters))

    def visit_ForInLoop(self, node: ast.ForInLoop, context: State) -> State:
        """A loop whose body reads its variable is written out, so that the variable can be an index; one with a break
        or continue of its own stays a loop, and its variable can only be an angle."""
        name = node.identifier.name
        reads = any(isinstance(inner, ast.Identifier) and inner.name == name for inner in nodes(node.block))
        if not reads or leaves_loop(node.block):
            return super().visit_ForInLoop(node, context)
        values = self._loop_values(node, context)
        if len(values) * len(node.block) > UNROLLED_STATEMENTS_MAX:
            message = f"OpenQASM 3: the loop is longer than {UNROLLED_STATEMENTS_MAX} statements once written out"
            raise Unsupported(message, self.line)
        for value in values:
            with LocalScope(context) as inner:
                inner.symbol_table.insert(Symbol(name, value, qasm3_types.Int(const=True), Scope.LOCAL, node))
                for statement in node.block:
                    self.visit(statement, inner)
        return context

    def _loop_values(self, node: ast.ForInLoop, context: State) -> Sequence[int]:
        if not isinstance(node.type, ast.IntType | ast.UintType):
            raise Unsupported("OpenQASM 3: only integer loop variables are supported", self.line)
        values, kind = self._resolve_generic(node.set_declaration, context, strict=True)
        if isinstance(kind, qasm3_types.Sequence):
            return list(values)
        if isinstance(kind, qasm3_types.Range) and values.start is not None and values.stop is not None:
            return range(values.start, values.stop, 1 if values.step is None else values.step)
        raise Unsupported("OpenQASM 3: a loop needs a range with both ends, or a set of integers", self.line)

    def visit_QuantumGate(self, node: ast.QuantumGate, context: State) -> State:
        if node.name.name in self._phase_unclear and any(map(shows_phase, node.modifiers)):
            raise Unsupported(
                f"OpenQASM 3: '{node.name.name}' with ctrl, negctrl or a fractional pow: the phase of the built-in U,"
                " of u2 and of u3, on which this gate rests, is not read alike everywhere, and the modifier makes it"
                ' visible; build on the other gates of "stdgates.inc" (x, ry, p, cu, ...) instead',
                self.line,
            )
        symbol = context.symbol_table.get(node.name.name, node)
        if symbol is None and not self._includes:
            raise Unsupported(NO_INCLUDE.format(node.name.name), self.line)
        expected = symbol.type.n_classical if symbol is not None and isinstance(symbol.type, qasm3_types.Gate) else None
        if isinstance(expected, int) and expected != len(node.arguments):
            message = f"OpenQASM 3: gate '{node.name.name}' takes {expected} parameters (got {len(node.arguments)})"
            raise Unsupported(message, self.line)
        node.modifiers = self._merged(node.modifiers, context)
        return super().visit_QuantumGate(node, context)

    def visit_QuantumPhase(self, node: ast.QuantumPhase, context: State) -> State:
        node.modifiers = self._merged(node.modifiers, context)
        controls = sum(modifier.argument.value for modifier in node.modifiers if is_control(modifier))
        if controls and not node.qubits:
            # The importer drops it.
            raise Unsupported(f"OpenQASM 3: gphase with {controls} controls takes {controls} qubits (got 0)", self.line)
        return super().visit_QuantumPhase(node, context)

    def _resolve_angle(self, node: ast.Expression, context: State) -> Any:
        angle = super()._resolve_angle(node, context)
        if isinstance(angle, int | float) and not math.isfinite(angle):
            raise Unsupported(f"OpenQASM 3: an angle has to be finite (got {angle})", self.line)
        return angle

    def _merged(self, modifiers: list[ast.QuantumGateModifier], context: State) -> list[ast.QuantumGateModifier]:
        """Neighbouring controls as one: each further stacked control doubles the importer's time."""
        merged: list[ast.QuantumGateModifier] = []
        for modifier in modifiers:
            if not is_control(modifier):
                merged.append(modifier)
                continue
            count = 1 if modifier.argument is None else self._resolve_constant_int(modifier.argument, context)
            if count < 1:
                raise Unsupported(f"OpenQASM 3: a gate needs at least one control (got {count})", self.line)
            if merged and merged[-1].modifier is modifier.modifier:
                count += merged.pop().argument.value
            if count > self._max_qubits:
                raise Unsupported(f"OpenQASM 3: a gate with {count} controls is wider than any circuit here", self.line)
            merged.append(ast.QuantumGateModifier(modifier.modifier, ast.IntegerLiteral(count)))
            merged[-1].span = modifier.span
        return merged

    def _resolve_condition(self, node: ast.Expression, context: State) -> Any:
        if self._is_simple(node, context):
            whole = without_slices(self._with_boolean(node, context), context)
            return super()._resolve_condition(whole, context)
        return condition(node, lambda inner: self._resolve_generic(inner, context, strict=True)[0])

    def _is_simple(self, node: ast.Expression, context: State) -> bool:
        """Whether a condition is `bit`, `!bit`, `bit == constant` or `register == constant`, which need no evaluation
        while the circuit runs."""
        if isinstance(node, ast.UnaryExpression):
            return not isinstance(node.expression, ast.UnaryExpression | ast.BinaryExpression)
        if not isinstance(node, ast.BinaryExpression):
            return True
        sides = (node.lhs, node.rhs)
        if node.op.name not in ("==", "!=") or any(is_evaluated(side) for side in sides):
            return False
        kinds = [self._resolve_generic(side, context, strict=True)[1] for side in sides]
        classical = (qasm3_types.Bit, qasm3_types.BitArray)
        both = all(isinstance(kind, classical) for kind in kinds)
        return not both and (node.op.name == "==" or not any(isinstance(kind, qasm3_types.BitArray) for kind in kinds))

    def _with_boolean(self, node: ast.Expression, context: State) -> ast.Expression:
        """`bit == 1` as `bit == true`: the language compares a bit with either, the importer only with the latter."""
        if not isinstance(node, ast.BinaryExpression):
            return node
        for side, literal in ((node.lhs, node.rhs), (node.rhs, node.lhs)):
            if isinstance(literal, ast.IntegerLiteral) and literal.value in (0, 1):
                _, kind = self._resolve_generic(side, context, strict=True)
                if isinstance(kind, qasm3_types.Bit):
                    comparison = ast.BinaryExpression(node.op, side, ast.BooleanLiteral(bool(literal.value)))
                    comparison.span = node.span
                    return comparison
        return node

    def _resolve_generic(self, node: ast.Expression, context: State, strict: bool) -> tuple[Any, Any]:
        self._refuse_inexact_division(node, context)
        resolved: tuple[Any, Any] = FaithfulResolver(context, strict).resolve(node)
        return resolved

    def _refuse_inexact_division(self, node: Any, context: State) -> None:
        """1/2 is 0 between integers, which is never meant in an angle."""
        if isinstance(node, ast.UnaryExpression):
            self._refuse_inexact_division(node.expression, context)
        if not isinstance(node, ast.BinaryExpression):
            return
        for side in (node.lhs, node.rhs):
            self._refuse_inexact_division(side, context)
        if node.op is ast.BinaryOperator["/"]:
            (left, left_type), (right, right_type) = (
                super(FaithfulVisitor, self)._resolve_generic(side, context, False) for side in (node.lhs, node.rhs)
            )
            integers = (qasm3_types.Int, qasm3_types.Uint)
            whole = isinstance(left_type, integers) and isinstance(right_type, integers)
            known = isinstance(left, int) and isinstance(right, int) and right != 0
            if whole and not (known and left % right == 0):
                message = (
                    f"OpenQASM 3: {left}/{right} divides integers inexactly; write one of them with a decimal point"
                )
                raise Unsupported(message, self.line)


class _GateBuilder:
    """Makes calls of a defined gate. Calls without parameters share one definition, so that nested definitions do not
    multiply."""

    def __init__(self, name: str, definition: QuantumCircuit, parameters: list[Parameter]) -> None:
        self._name = name
        self._definition = definition
        self._parameters = parameters

    def __call__(self, *values: Any) -> Gate:
        if len(values) != len(self._parameters):
            raise ConversionError(f"gate '{self._name}' takes {len(self._parameters)} parameters, got {len(values)}")
        gate = Gate(self._name, self._definition.num_qubits, list(values))
        gate.definition = (
            self._definition.assign_parameters(dict(zip(self._parameters, values, strict=True)))
            if values
            else self._definition
        )
        return gate
