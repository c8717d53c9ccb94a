// expect-error: the language could not be detected
// expect-error: qiskit, cirq, pennylane, openqasm, marqov
// expect-error: add the import statement
Please entangle two qubits: a Bell pair, measured.
