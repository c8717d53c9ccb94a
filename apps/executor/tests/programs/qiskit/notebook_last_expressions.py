# expect: counts {"00": 0.5, "11": 0.5}
# In [1]:
import numpy as np
from qiskit import *
from qiskit.visualization import *

# In [2]:
bell = QuantumCircuit(2)
bell.h(0)
bell.cx(0, 1)
bell.draw(output="text")

# In [3]:
from qiskit.quantum_info import Statevector

state = Statevector.from_instruction(bell)
np.round(state.probabilities(), 3)
state
