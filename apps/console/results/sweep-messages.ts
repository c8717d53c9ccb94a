// The messages between the page and the worker that reads a sweep. Its first request opens the result, and is answered with the
// overview; the worker keeps the text until it is ended.
import type { Reading, ResultCounts } from './counts.js'
import type { ProvenanceFact } from './provenance.js'
import type { SweepData } from './sweep.js'
import { openSweep, type PointRow, type SweepOverview, type SweepReader } from './sweep-reader.js'

interface Answers {
  open: { ask: { bytes: ArrayBuffer }; answer: Reading<SweepOverview> | null }
  plot: { ask: { parameter: string | null }; answer: SweepData }
  rows: { ask: { from: number; to: number }; answer: PointRow[] }
  counts: { ask: { index: number }; answer: Reading<ResultCounts> | null }
  provenance: { ask: { index: number }; answer: ProvenanceFact[] }
}

export type SweepRequest = { [Kind in keyof Answers]: { kind: Kind; id: number } & Answers[Kind]['ask'] }[keyof Answers]

export type SweepAnswer = { id: number } & ({ value: Answers[keyof Answers]['answer'] } | { fault: string })

/** What a worker's file needs of its own global object. */
interface WorkerScope {
  onmessage: ((event: { data: SweepRequest }) => void) | null
  postMessage(message: SweepAnswer): void
}

export function serveSweep(scope: WorkerScope): void {
  let reader: SweepReader | null = null
  const answer = (request: SweepRequest): Answers[keyof Answers]['answer'] => {
    if (request.kind === 'open') {
      const reading = openSweep(new TextDecoder().decode(request.bytes))
      if (reading?.kind !== 'read') return reading
      reader = reading.value
      return { kind: 'read', value: reader.overview }
    }
    if (reader === null) throw new Error('the result is not open')
    if (request.kind === 'plot') return reader.plot(request.parameter)
    if (request.kind === 'rows') return reader.rows(request.from, request.to)
    return request.kind === 'counts' ? reader.counts(request.index) : reader.provenance(request.index)
  }
  scope.onmessage = ({ data }) => {
    try {
      scope.postMessage({ id: data.id, value: answer(data) })
    } catch (error) {
      scope.postMessage({ id: data.id, fault: (error as Error).message })
    }
  }
}

/** The part of a browser's `Worker` that is used. */
export interface SweepWorker {
  onmessage: ((event: { data: SweepAnswer }) => void) | null
  onerror: ((event: { message?: string }) => void) | null
  postMessage(message: SweepRequest, transfer: ArrayBuffer[]): void
  terminate(): void
}

export interface SweepClient {
  /** @param bytes of the result; they move to the worker. */
  open(bytes: ArrayBuffer): Promise<Reading<SweepOverview> | null>
  plot(parameter: string | null): Promise<SweepData>
  rows(from: number, to: number): Promise<PointRow[]>
  counts(index: number): Promise<Reading<ResultCounts> | null>
  provenance(index: number): Promise<ProvenanceFact[]>
  end(): void
}

export function sweepClient(worker: SweepWorker): SweepClient {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let last = 0
  const failAll = (message: string) => {
    for (const { reject } of waiting.values()) reject(new Error(message))
    waiting.clear()
  }
  worker.onmessage = ({ data }) => {
    const asked = waiting.get(data.id)
    waiting.delete(data.id)
    if ('fault' in data) asked?.reject(new Error(data.fault))
    else asked?.resolve(data.value as never)
  }
  worker.onerror = ({ message }) => failAll(message || 'the points cannot be read: their worker could not be started')
  const ask = <Kind extends keyof Answers>(
    kind: Kind,
    given: Answers[Kind]['ask'],
    transfer: ArrayBuffer[] = []
  ): Promise<Answers[Kind]['answer']> =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject })
      worker.postMessage({ kind, id: last, ...given } as unknown as SweepRequest, transfer)
    })
  return {
    open: (bytes) => ask('open', { bytes }, [bytes]),
    plot: (parameter) => ask('plot', { parameter }),
    rows: (from, to) => ask('rows', { from, to }),
    counts: (index) => ask('counts', { index }),
    provenance: (index) => ask('provenance', { index }),
    end() {
      worker.terminate()
      failAll('the page of the sweep was left')
    }
  }
}
