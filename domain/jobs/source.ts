// Where the code of a job comes from, and the formats of a circuit.

export const sourceKinds = ['inline', 'circuit', 'script'] as const
export type SourceKind = (typeof sourceKinds)[number]

export const circuitFormats = ['qasm2', 'qasm3'] as const
export type CircuitFormat = (typeof circuitFormats)[number]
