// Saved scripts: their kinds, what is known of one by reading it.

export const scriptTypes = ['script', 'task', 'workflow'] as const
export type ScriptType = (typeof scriptTypes)[number]

/** What the execution service reads in a script without running it. */
export interface ScriptMetadata {
  framework: string | null
  imports: string[]
  functions: {
    name: string
    parameters: string[]
    is_task: boolean
    is_workflow: boolean
    retries: number | null
    timeout: number | null
  }[]
  entry_point: string | null
  qubits?: number
  source_sha256: string
}
