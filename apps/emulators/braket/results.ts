// The content of results.json, in the schemas of amazon-braket-schemas.
import { isoTime } from '../clock.js'
import { drawNoisy, type Operation, touchedBy, weightsOf } from '../simulator/execution.js'
import { analogShots } from './analog-shots.js'
import type { Task } from './task.js'

const headerOf = (name: string) => ({ braketSchemaHeader: { name: `braket.task_result.${name}`, version: '1' } })

/** Of a task that has completed. */
export function resultBody(task: Task, endedAt: number): Buffer {
  const { program, request, device } = task
  if (program.kind === 'failed') throw new Error(`task ${task.arn} failed and has no result`)
  const action: unknown = JSON.parse(request.action)
  const taskMetadata = {
    ...headerOf('task_metadata'),
    id: task.arn,
    shots: request.shots,
    deviceId: device.arn,
    createdAt: isoTime(task.submittedAt),
    endedAt: isoTime(endedAt),
    status: 'COMPLETED'
  }
  if (program.kind === 'analog') {
    const measurements = analogShots(program.analog, task)
    const numSuccessfulShots = measurements.filter(({ shotMetadata }) => shotMetadata.shotStatus === 'Success').length
    return json({
      ...headerOf('analog_hamiltonian_simulation_task_result'),
      taskMetadata,
      measurements,
      additionalMetadata: {
        action,
        queraMetadata: { ...headerOf('quera_metadata'), numSuccessfulShots }
      }
    })
  }
  return json({
    ...headerOf('gate_model_task_result'),
    measurements: rowsOf(program.operations, program.measured, task),
    measuredQubits: program.measured,
    resultTypes: [],
    taskMetadata,
    additionalMetadata: {
      action,
      ...(device.simulator && {
        simulatorMetadata: { ...headerOf('simulator_metadata'), executionDuration: task.endsAt - task.startsAt }
      })
    }
  })
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** One row for each shot, with one column for each measured qubit. */
function rowsOf(
  operations: readonly Operation[],
  measured: readonly number[],
  { request, seed, noise, device }: Task
): number[][] {
  const touched = touchedBy(operations)
  // A qubit that no gate touches is zero.
  const places = measured.map((qubit) => touched.indexOf(qubit))
  return drawNoisy(
    weightsOf(operations, touched),
    request.shots,
    { seed, noise: device.simulator ? 0 : noise },
    {
      of: (index) => places.map((place) => (place < 0 ? 0 : (index >> place) & 1)),
      any: (random) => measured.map(() => (random() < 0.5 ? 1 : 0))
    }
  )
}
