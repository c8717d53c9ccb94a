// What the executor reports about a script, and the part that is stored.
import type { Framework } from '../jobs/framework.js'
import type { ScriptMetadata, ScriptType } from './script.js'

/** The response of `/analyse`; docs/operations/executor.md describes it. */
export interface ScriptReading {
  framework: Framework | null
  script_type: ScriptType
  imports: string[]
  functions: {
    name: string
    parameters: { name: string; kind: string }[]
    is_task: boolean
    is_workflow: boolean
    retries: number | null
    timeout: number | null
  }[]
  entry_point: string | null
  qubits: number | null
  source_sha256: string
  errors: { message: string; line: number | null; column: number | null; source: 'code' | 'requirements' }[]
  warnings: { id: string; message: string; line?: number }[]
}

/** The stored part of a reading. */
export const metadataOf = (reading: ScriptReading): ScriptMetadata => ({
  framework: reading.framework,
  imports: reading.imports,
  functions: reading.functions.map(({ name, parameters, is_task, is_workflow, retries, timeout }) => ({
    name,
    parameters: parameters.map(parameterText),
    is_task,
    is_workflow,
    retries,
    timeout
  })),
  entry_point: reading.entry_point,
  ...(reading.qubits !== null && { qubits: reading.qubits }),
  source_sha256: reading.source_sha256
})

const stars: Readonly<Record<string, string>> = { var_positional: '*', var_keyword: '**' }

const parameterText = ({ name, kind }: { name: string; kind: string }): string => `${stars[kind] ?? ''}${name}`
