// The events of a job, as its stream sends them.
import type { components } from '../../api/schema.js'

interface StatusEvent {
  seq: number
  type: 'status'
  status: components['schemas']['JobSummary']['status']
  reason: string | null
  at: string
}
interface AttemptEvent {
  seq: number
  type: 'attempt'
  task: string
  number: number
  state: string
  at: string
}
export interface OutputEvent {
  seq: number
  type: 'output'
  task?: string
  attempt: number
  text: string
  truncated_bytes?: number
  removed?: true
  at: string
}
export type JobEvent = StatusEvent | AttemptEvent | OutputEvent
