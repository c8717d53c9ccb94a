# expect: value {"angles": [0.0, 1.5707963, 3.1415926], "ones": [0.0, 0.5, 1.0]}
# expect-warning: shots, engine, engine_version and optimization_level are null
import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.quantum_info import Statevector


def main():
    theta = Parameter("t")
    qc = QuantumCircuit(1)
    qc.rx(theta, 0)
    angles = np.linspace(0, np.pi, 3)
    ones = [Statevector(qc.assign_parameters([a])).probabilities()[1] for a in angles]
    return {"angles": angles, "ones": np.array(ones)}
