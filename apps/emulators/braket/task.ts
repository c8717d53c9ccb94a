// One task of the emulated Braket.

import type { TaskTimes } from '../task-times.js'
import type { Device } from './devices.js'
import type { Program } from './programs.js'

/** What tests change beyond the settings of every emulator. It applies to tasks submitted from now on. */
export interface BraketSettings {
  /** Tasks of others that wait before each new one. */
  queueDepth: number
  /** The share of an analog task's shots that fail. */
  failedShots: number
}

export interface TaskRequest {
  deviceArn: string
  shots: number
  outputS3Bucket: string
  outputS3KeyPrefix: string
  action: string
  clientToken: string
  deviceParameters?: string
  tags: Record<string, string>
}

export interface Task extends TaskTimes {
  readonly id: string
  readonly arn: string
  readonly account: string
  readonly region: string
  readonly request: TaskRequest
  /** The hash of the request's body, by which a repetition is known. */
  readonly sent: string
  readonly device: Device
  readonly program: Program
  readonly seed: number
  readonly noise: number
  readonly queueDepth: number
  readonly failedShots: number
  cancelledAt: number | null
}

export const directoryOf = ({ request, id }: Task): string => `${request.outputS3KeyPrefix}/${id}`
