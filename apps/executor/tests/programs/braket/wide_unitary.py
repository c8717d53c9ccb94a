# expect-error: Unitary
# expect-error: more than 8 qubits
# expect-line: 6
import numpy as np
from braket.circuits import Circuit
circuit = Circuit().unitary(matrix=np.eye(512), targets=range(9))
