import { describe, expect, test } from '@jest/globals'
import type { Circuit } from '../../../apps/console/circuit/circuit.js'
import { simulate } from '../../../apps/console/simulators/own/simulate.js'
import { type AnswerMessage, type RunMessage, serve } from '../../../apps/console/simulators/protocol.js'
import { runInWorker, type SimulatorWorker } from '../../../apps/console/simulators/run-in-worker.js'
import { type Simulate, SimulationRefused } from '../../../apps/console/simulators/simulation.js'
import { gate, measured } from '../support/circuits.js'

const bell = measured(2, [gate('h', [], [], 0), gate('x', [], [0], 1)])

/** Workers that run in this process, with messages that are copied as a browser copies them. */
class Workers {
  readonly alive = new Set<SimulatorWorker>()
  started = 0

  constructor(readonly simulate: Simulate) {}

  start = (): SimulatorWorker => {
    this.started++
    const scope = {
      onmessage: null as ((event: { data: RunMessage }) => void) | null,
      postMessage: (_: AnswerMessage) => {}
    }
    const worker: SimulatorWorker = {
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage: (message) => queueMicrotask(() => scope.onmessage?.({ data: structuredClone(message) })),
      terminate: () => this.alive.delete(worker)
    }
    scope.postMessage = (message) => {
      if (this.alive.has(worker)) worker.onmessage?.({ data: structuredClone(message) })
    }
    serve(this.simulate, scope)
    this.alive.add(worker)
    return worker
  }
}

const run = (
  workers: Workers,
  circuit: Circuit,
  signal = new AbortController().signal,
  onProgress = (_: number) => {}
) => runInWorker(workers.start, 'statevector-js', circuit, 100, 1, onProgress, signal)

describe('a run in a worker', () => {
  test('has the result of the simulator, and leaves no worker', async () => {
    const workers = new Workers(simulate)
    const { counts } = await run(workers, bell)
    expect(counts).toEqual((await simulate(bell, 100, 1, () => {})).counts)
    expect([workers.started, workers.alive.size]).toEqual([1, 0])
  })

  test('reports progress, and no more often than a page can show', async () => {
    const shares: number[] = []
    const busy: Simulate = async (circuit, shots, seed, onProgress) => {
      for (let k = 0; k < 1000; k++) onProgress(k / 1000)
      return simulate(circuit, shots, seed, () => {})
    }
    await run(new Workers(busy), bell, undefined, (share) => shares.push(share))
    expect(shares[0]).toBe(0)
    expect(shares.length).toBeLessThan(20)
  })

  test('that is cancelled rejects with the reason, and leaves no worker', async () => {
    const workers = new Workers(() => new Promise(() => {}))
    const controller = new AbortController()
    const running = run(workers, bell, controller.signal)
    expect(workers.alive.size).toBe(1)
    controller.abort(new Error('cancelled'))
    await expect(running).rejects.toThrow('cancelled')
    expect(workers.alive.size).toBe(0)
  })

  test('that is cancelled before it starts makes no worker', async () => {
    const workers = new Workers(simulate)
    await expect(run(workers, bell, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled')
    expect(workers.started).toBe(0)
  })

  test('passes a refusal on as one, and leaves no worker', async () => {
    const workers = new Workers(simulate)
    await expect(run(workers, measured(21, []))).rejects.toThrow(SimulationRefused)
    expect(workers.alive.size).toBe(0)
  })

  test('says what failed, and leaves no worker', async () => {
    const workers = new Workers(() => Promise.reject(new RangeError('out of memory')))
    await expect(run(workers, bell)).rejects.toThrow('statevector-js failed: out of memory')
    expect(workers.alive.size).toBe(0)
  })

  test('whose file does not load fails with that, and leaves no worker', async () => {
    const workers = new Workers(() => new Promise(() => {}))
    const running = run(workers, bell)
    for (const worker of workers.alive) worker.onerror?.({})
    await expect(running).rejects.toThrow('its worker could not be started')
    expect(workers.alive.size).toBe(0)
  })
})
