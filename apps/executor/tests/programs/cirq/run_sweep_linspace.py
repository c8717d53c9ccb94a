# expect: counts {"0": cos(0.5)**2, "1": sin(0.5)**2}
# expect-warning: several circuits
import cirq
import numpy as np
import sympy

q = cirq.LineQubit(0)
t = sympy.Symbol("t")
template = cirq.Circuit(cirq.ry(2 * t)(q), cirq.measure(q, key="m"))
sweep = cirq.Linspace("t", start=0, stop=1, length=3)
results = cirq.Simulator(seed=1).run_sweep(template, params=sweep, repetitions=10)
for result in results:
    print(result.params, np.mean(result.measurements["m"]))
chosen = cirq.resolve_parameters(template, cirq.ParamResolver({t: 0.5}))
