// Tasks as Braket shows them.
import type { ProviderJobView } from '../adapter.js'
import { wholeNumber } from './device.js'

export interface BraketTask {
  quantumTaskArn?: unknown
  deviceArn?: unknown
  status?: unknown
  failureReason?: unknown
  outputS3Bucket?: unknown
  outputS3Directory?: unknown
  /** ISO-8601. */
  endedAt?: unknown
  queueInfo?: { position?: unknown } | null
}

const statuses: Readonly<Record<string, ProviderJobView['status']>> = {
  CREATED: 'queued',
  QUEUED: 'queued',
  RUNNING: 'running',
  // It can still complete.
  CANCELLING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled'
}

export function viewOf({ status, deviceArn, failureReason, queueInfo }: BraketTask): ProviderJobView {
  const raw = String(status).slice(0, 100)
  // A paid job is not given up because of an unknown word.
  const known = Object.hasOwn(statuses, raw) ? statuses[raw]! : 'running'
  return {
    status: known,
    raw,
    queuePosition: known === 'queued' ? wholeNumber(queueInfo?.position) : null,
    predictedWaitSeconds: null,
    cost: isFree(raw, deviceArn) ? 0n : null,
    failure: typeof failureReason === 'string' && failureReason !== '' ? failureReason.slice(0, 1000) : null
  }
}

/**
 * Braket's bill comes with that of the account. Amazon's own cost tracker (braket.tracking) counts nothing for tasks of quantum
 * computers that failed or were cancelled; simulators charge for the time until then.
 */
const isFree = (status: string, deviceArn: unknown): boolean =>
  (status === 'FAILED' || status === 'CANCELLED') && typeof deviceArn === 'string' && deviceArn.includes(':device/qpu/')

/** Whether the task's results lie in a folder of this name. */
export const isInFolder = ({ outputS3Directory }: BraketTask, folder: string): boolean =>
  typeof outputS3Directory === 'string' && outputS3Directory.split('/').includes(folder)
