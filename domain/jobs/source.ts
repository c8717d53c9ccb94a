// Where the code of a job comes from, and the formats of a circuit.

export const sourceKinds = ['inline', 'circuit', 'circuits', 'script'] as const
export type SourceKind = (typeof sourceKinds)[number]

/** The values of `source.kind` in the record of a job: `capsule` for jobs that a capsule run created. */
export const recordedSourceKinds = [...sourceKinds, 'capsule'] as const

export const openqasmFormats = ['qasm2', 'qasm3'] as const
export type OpenqasmFormat = (typeof openqasmFormats)[number]

/** `ahs`: an analog program in place of a circuit (circuits/analog-program.ts). */
export const circuitFormats = [...openqasmFormats, 'ahs'] as const
export type CircuitFormat = (typeof circuitFormats)[number]

/** What a backend has to be able to run. Programs that build circuits are circuits to it. */
export const programKinds = ['circuit', 'analog'] as const
export type ProgramKind = (typeof programKinds)[number]

export const programKindOf = (source: { kind: string; format?: string | null }): ProgramKind =>
  source.kind === 'circuit' && source.format === 'ahs' ? 'analog' : 'circuit'

/**
 * The texts of a source of many circuits, one for each point of the job.
 * @param text a JSON array, as it is stored.
 */
export const payloadsOf = (text: string): string[] => JSON.parse(text) as string[]
