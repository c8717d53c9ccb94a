"""Prints the probabilities that Amazon's own simulators find for the programs on standard input.

Input: {"gates": [OpenQASM text], "analog": [program]}. Output: the probabilities by bits, first qubit leftmost, and by the
states g and r of the filled sites.
"""

import json
import sys

import numpy as np
from braket.analog_hamiltonian_simulator.rydberg import rydberg_simulator
from braket.default_simulator import StateVectorSimulator
from braket.ir.ahs import Program as AnalogProgram
from braket.ir.openqasm import Program


def gates(source):
    program = Program(source=source + "\n#pragma braket result probability all")
    values = StateVectorSimulator().run_openqasm(program, shots=0).resultTypes[0].value
    width = int(np.log2(len(values)))
    return {format(index, f"0{width}b"): float(value) for index, value in enumerate(values)}


def analog(action):
    simulator = rydberg_simulator.RydbergAtomSimulator()
    last = []
    sample = rydberg_simulator.sample_state
    # It returns shots only; the state that it draws them from is the exact result.
    rydberg_simulator.sample_state = lambda state, shots: last.append(state) or sample(state, shots)
    simulator.run(AnalogProgram.parse_raw(json.dumps(action)), shots=1, steps=2000)
    rydberg_simulator.sample_state = sample
    weights = np.abs(last[0]) ** 2
    return dict(zip(simulator.configurations, map(float, weights / weights.sum()), strict=True))


given = json.load(sys.stdin)
print(json.dumps({"gates": [gates(one) for one in given["gates"]], "analog": [analog(one) for one in given["analog"]]}))
