# expect-error: no network
# expect-line: 7
import urllib.request

from qiskit import QuantumCircuit

text = urllib.request.urlopen("https://example.com/bell.qasm").read()
