// Runs a circuit in a worker of its own, which is gone once the run has ended, however it ended.
import type { Circuit } from '../circuit/circuit.js'
import type { AnswerMessage, RunMessage } from './protocol.js'
import { type OnProgress, type Simulation, SimulationRefused, type SimulatorName } from './simulation.js'

/** The part of a browser's `Worker` that is used. */
export interface SimulatorWorker {
  onmessage: ((event: { data: AnswerMessage }) => void) | null
  onerror: ((event: { message?: string }) => void) | null
  onmessageerror: ((event: unknown) => void) | null
  postMessage(message: RunMessage): void
  terminate(): void
}

/** The file of a worker could not be loaded. */
export class WorkerMissing extends Error {}

/** Starts the worker of a simulator; the page knows where its file is. */
export type StartWorker = (simulator: SimulatorName) => SimulatorWorker

/** Rejects with SimulationRefused for what the simulator cannot do, and with the reason of `signal` once that is aborted. */
export function runInWorker(
  startWorker: StartWorker,
  simulator: SimulatorName,
  circuit: Circuit,
  shots: number,
  seed: number,
  onProgress: OnProgress,
  signal: AbortSignal
): Promise<Simulation> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = startWorker(simulator)
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', cancel)
      worker.onmessage = worker.onerror = worker.onmessageerror = null
      worker.terminate()
      settle()
    }
    const cancel = (): void => end(() => reject(signal.reason))
    const fail = (message: string): void => end(() => reject(new Error(`${simulator} failed: ${message}`)))
    signal.addEventListener('abort', cancel)
    worker.onmessage = ({ data }) => {
      if (data.kind === 'progress') onProgress(data.share)
      else if (data.kind === 'done') end(() => resolve(data.simulation))
      else if (data.isRefusal) end(() => reject(new SimulationRefused(data.message)))
      else fail(data.message)
    }
    // An error that left the simulator has a message, a file that did not load has none.
    worker.onerror = ({ message }) =>
      message
        ? fail(message)
        : end(() => reject(new WorkerMissing(`${simulator} failed: its worker could not be started`)))
    worker.onmessageerror = () => fail('its answer could not be read')
    try {
      worker.postMessage({ kind: 'run', circuit, shots, seed })
    } catch (error) {
      fail((error as Error).message)
    }
  })
}
