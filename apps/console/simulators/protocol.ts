// The messages between the page and a worker that simulates. A run is cancelled by ending its worker.
import type { Circuit } from '../circuit/circuit.js'
import type { Simulate, Simulation } from './simulation.js'
import { SimulationRefused } from './simulation.js'

export interface RunMessage {
  kind: 'run'
  circuit: Circuit
  shots: number
  seed: number
}

/** The compiled code of a simulator that has some, or why there is none. The page sends it beside the run. */
export type CompiledCode = { kind: 'compiled code' } & ({ code: ArrayBuffer } | { fault: string })

export type AnswerMessage =
  | { kind: 'progress'; share: number }
  | { kind: 'done'; simulation: Simulation }
  /** `isRefusal`: the simulator cannot do this run, and says why; else it has failed. */
  | { kind: 'failed'; message: string; isRefusal: boolean }

/** Milliseconds between two reports of progress. */
const REPORT_EVERY_MS = 100

/** What a worker's file needs of its own global object. */
export interface WorkerScope {
  onmessage: ((event: { data: RunMessage }) => void) | null
  postMessage(message: AnswerMessage): void
}

/** Makes a worker of a simulator. */
export function serve(simulate: Simulate, scope: WorkerScope): void {
  scope.onmessage = ({ data }) => {
    let reported = Number.NEGATIVE_INFINITY
    const onProgress = (share: number): void => {
      const now = performance.now()
      if (now - reported < REPORT_EVERY_MS) return
      reported = now
      scope.postMessage({ kind: 'progress', share })
    }
    simulate(data.circuit, data.shots, data.seed, onProgress).then(
      (simulation) => scope.postMessage({ kind: 'done', simulation }),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        scope.postMessage({ kind: 'failed', message, isRefusal: error instanceof SimulationRefused })
      }
    )
  }
}
