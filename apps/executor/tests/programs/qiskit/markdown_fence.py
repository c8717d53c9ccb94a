# expect-error: '```python' is not part of the program
# expect-line: 3
```python
from qiskit import QuantumCircuit

circuit = QuantumCircuit(1)
```
