// Simulators that run in the reader's browser (interface specification 8.4). The service runs none of them.

/** From how many qubits a page warns of time and memory, and the most that it simulates. */
export const browserSimulator = { warn_from_qubits: 17, qubits_max: 20 } as const

/** As reports of the playground name them: the two of the specification, and ours (docs/decisions/0023-a-simulator-of-our-own.md). */
export const browserSimulators = ['quantum-circuit', 'qulacs-wasm', 'statevector-js'] as const
