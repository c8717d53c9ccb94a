// Tasks and devices as Braket returns them.
import { isoTime } from '../clock.js'
import { capabilitiesOf } from './capabilities.js'
import type { Device } from './devices.js'
import type { BraketParts } from './parts.js'
import { directoryOf, type Task } from './task.js'

/** Beyond it, Braket says only that there are more. */
const positionMax = 2000

export function taskView(task: Task, { tasks }: BraketParts, withQueue: boolean): Record<string, unknown> {
  const failureReason = tasks.failureReason(task)
  const { deviceParameters } = task.request
  return {
    ...taskSummary(task, { tasks }),
    ...(failureReason !== null && { failureReason }),
    deviceParameters: deviceParameters ?? '{}',
    ...(withQueue && { queueInfo: queueInfo(tasks.position(task)) })
  }
}

export function taskSummary(task: Task, { tasks }: Pick<BraketParts, 'tasks'>): Record<string, unknown> {
  const { state, endedAt } = tasks.course(task)
  return {
    quantumTaskArn: task.arn,
    status: state,
    deviceArn: task.device.arn,
    shots: task.request.shots,
    outputS3Bucket: task.request.outputS3Bucket,
    outputS3Directory: directoryOf(task),
    createdAt: isoTime(task.submittedAt),
    ...(endedAt !== null && { endedAt: isoTime(endedAt) }),
    tags: task.request.tags
  }
}

const queueInfo = (position: number | null): Record<string, unknown> => ({
  queue: 'QUANTUM_TASKS_QUEUE',
  position: position === null ? 'None' : position > positionMax ? `>${positionMax}` : String(position),
  queuePriority: 'Normal'
})

export const deviceSummary = (device: Device, { devices }: BraketParts): Record<string, unknown> => ({
  deviceArn: device.arn,
  deviceName: device.name,
  providerName: device.provider,
  deviceType: device.simulator ? 'SIMULATOR' : 'QPU',
  deviceStatus: devices.status(device)
})

export function deviceView(device: Device, parts: BraketParts): Record<string, unknown> {
  const size = parts.tasks.queueSize(device)
  const queueSize = size > positionMax ? `>${positionMax}` : String(size)
  return {
    ...deviceSummary(device, parts),
    deviceCapabilities: JSON.stringify(capabilitiesOf(device)),
    deviceQueueInfo: [
      { queue: 'QUANTUM_TASKS_QUEUE', queueSize, queuePriority: 'Normal' },
      { queue: 'QUANTUM_TASKS_QUEUE', queueSize: '0', queuePriority: 'Priority' },
      { queue: 'JOBS_QUEUE', queueSize: '0' }
    ]
  }
}
