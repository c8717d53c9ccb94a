// PROVISIONAL (integrator): E writes this.
import { ApplicationFailure } from '@temporalio/workflow'
import type { JobHandOver } from '../domain/dispatch.js'

export async function runCircuit(
  _job: JobHandOver,
  _ref: { task: string; ask: number }
): Promise<'answered' | 'cancel' | 'stop'> {
  throw ApplicationFailure.nonRetryable('circuits of scripts at providers are not there yet', 'not_available')
}
