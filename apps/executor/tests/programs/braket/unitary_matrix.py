# expect: counts {"01": 1}
import numpy as np
from braket.circuits import Circuit

flip_second = np.kron(np.eye(2), [[0, 1], [1, 0]])
circuit = Circuit().unitary(matrix=flip_second, targets=[0, 1], display_name="my flip")
