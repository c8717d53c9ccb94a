// One job of the emulated workspace.
import type { TaskState, TaskTimes } from '../task-times.js'
import type { Workspace } from './identity/identities.js'
import type { Program } from './programs/program.js'
import type { Place } from './storage/sas.js'
import type { Target } from './targets.js'

/** What tests change beyond the settings of every emulator. */
export interface AzureSettings {
  /** How long after the end of a job its cost is known, in emulated milliseconds. */
  costMs: number
  /** How long a token that is issued now is valid. */
  tokenMs: number
  /** How long an address with a signature that is issued now is valid. */
  sasMs: number
  /** The response to a PUT of a job that exists: the documentation does not say which is Azure's. */
  repeatedPut: 'conflict' | 'same'
}

/** As sent by the client. */
export interface JobRequest {
  id?: string
  name: string
  providerId: string
  target: string
  containerUri: string
  inputDataUri?: string
  inputDataFormat: string
  outputDataFormat: string
  inputParams?: Record<string, unknown>
  metadata?: Record<string, string> | null
  priority?: string
  tags?: string[]
}

export interface Job extends TaskTimes {
  readonly id: string
  readonly workspace: Workspace
  readonly request: JobRequest
  readonly target: Target
  readonly program: Program
  /** Where its input is; null if the request names a place that is not in the storage. */
  readonly input: Place | null
  readonly output: Place
  readonly createdBy: { name: string; type: 'Application' | 'Key' }
  readonly seed: number
  readonly noise: number
  readonly costMs: number
  cancelledAt: number | null
  deleted: boolean
}

export type JobStatus =
  | 'Queued'
  | 'Waiting'
  | 'Executing'
  | 'CancellationRequested'
  | 'Cancelled'
  | 'Succeeded'
  | 'Failed'

export const statusOf: Readonly<Record<TaskState, JobStatus>> = {
  CREATED: 'Queued',
  QUEUED: 'Waiting',
  RUNNING: 'Executing',
  CANCELLING: 'CancellationRequested',
  CANCELLED: 'Cancelled',
  COMPLETED: 'Succeeded',
  FAILED: 'Failed'
}

export const finalStatuses: readonly JobStatus[] = ['Cancelled', 'Succeeded', 'Failed']
