// IonQ's own service, REST v0.4 (docs.ionq.com; OpenAPI of September 2026). Its submit is not idempotent: our token is in
// the job's metadata, and is looked up in the list of jobs. Results are probabilities by decimal integer, in which bit i is
// qubit i.
import {
  addUp,
  bitsOfInteger,
  canonicalBits,
  countsOfHistogram,
  countsOfProbabilities
} from '../../domain/backends/provider-counts.js'
import type { Credentials } from '../../domain/backends/provider-credentials.js'
import {
  type BackendState,
  type CreateProviderCalls,
  ProviderFault,
  type ProviderJobRequest,
  type ProviderJobView
} from './adapter.js'
import { createProviderHttp, type ProviderResponse } from './http.js'
import { answerOf, parsed } from './json-answers.js'

const IONQ_API_URL = 'https://api.ionq.co/v0.4'

const TOKEN_KEY = 'qjs_token'
const PAGE = 100
/** IonQ returns no more at once. It measures a machine about once a day. */
const CHARACTERIZATIONS = 10
/** A longer list cannot be one account's recent jobs. */
const PAGES_MAX = 200
/** The provider's clock can differ from ours. */
const CLOCK_SLACK_MS = 3_600_000

interface IonqTask {
  id: string
  status: string
  /** Such as `simulator` or `qpu.forte-1`. */
  backend?: string
  submitted_at?: string
  started_at?: string | null
  metadata?: Record<string, string> | null
  failure?: { code?: string; error?: string; message?: string } | null
  predicted_wait_time_ms?: number | null
  execution_duration_ms?: number | null
}

export const createIonq: CreateProviderCalls<'api'> = ({ api: baseUrl = IONQ_API_URL } = {}, callTimeoutMs) => {
  const messageOf = ({ text }: ProviderResponse) => textOf(parsed<{ message?: unknown }>(text)?.message)
  const http = createProviderHttp('IonQ', { messageOf }, callTimeoutMs)
  const headersOf = ({ api_key }: Credentials) => ({ authorization: `apiKey ${api_key}` })
  const get = async <T extends object>(credentials: Credentials, path: string, signal: AbortSignal): Promise<T> =>
    ionqAnswer<T>(await http.call({ method: 'GET', url: `${baseUrl}${path}`, headers: headersOf(credentials), signal }))
  const getPublic = async <T extends object>(path: string, signal: AbortSignal): Promise<T> =>
    ionqAnswer<T>(await http.call({ method: 'GET', url: `${baseUrl}${path}`, headers: {}, signal }))

  /** IonQ's newest characterization of the machine from before the job began. A fault here must not lose its counts. */
  async function calibrationOf({ backend, started_at }: IonqTask, signal: AbortSignal): Promise<string | null> {
    const began = Date.parse(started_at ?? '')
    if (!backend?.startsWith('qpu.') || Number.isNaN(began)) return null
    try {
      const path = `/backends/${encodeURIComponent(backend)}/characterizations?limit=${CHARACTERIZATIONS}`
      return newestBefore(began, (await getPublic<{ characterizations?: unknown }>(path, signal)).characterizations)
    } catch (error) {
      if (error instanceof ProviderFault) return null
      throw error
    }
  }

  const taskPath = (id: string) => `/jobs/${encodeURIComponent(id)}`

  return {
    submitsOnce: false,
    devicesArePublic: true,
    billsSeconds: false,
    rates: null,

    async verify(credentials, signal) {
      await get(credentials, '/whoami', signal)
      return {}
    },

    // A key does not say whose it is.
    place: async () => ({}),

    /** IonQ compiles to the gates of its machines itself. */
    describe: async (_credentials, { width }) => ({
      target: { format: 'ionq', num_qubits: width },
      status: 'online',
      shots: null,
      price: null
    }),

    async stage({ credentials }, task) {
      const call = { method: 'POST', url: `${baseUrl}/jobs`, headers: headersOf(credentials) } as const
      const body = { json: bodyOf(task) }
      return async (signal) => {
        const { id } = ionqAnswer<{ id?: unknown }>(await http.call({ ...call, body, signal }))
        if (typeof id === 'string' && id !== '') return id
        throw new ProviderFault('unclear', 'IonQ accepted without naming a task')
      }
    },

    async find({ credentials }, { token }, since, signal) {
      let next: string | null = null
      for (let page = 0; page < PAGES_MAX; page++) {
        const query: string = `?limit=${PAGE}${next ? `&next=${encodeURIComponent(next)}` : ''}`
        const list: { jobs?: IonqTask[]; next?: string | null } = await get(credentials, `/jobs${query}`, signal)
        const tasks = list.jobs ?? []
        const found = tasks.find((task) => task.metadata?.[TOKEN_KEY] === token)
        if (found) return found.id
        next = list.next ?? null
        // Newest first: our job cannot be older than our first try.
        const oldest = Date.parse(tasks.at(-1)?.submitted_at ?? '')
        if (!next || oldest < since.getTime() - CLOCK_SLACK_MS) return null
      }
      throw new ProviderFault('unclear', "IonQ's list of tasks has no end")
    },

    async look({ credentials }, id, signal) {
      const task = await get<IonqTask>(credentials, taskPath(id), signal)
      const over = task.status === 'completed' || task.status === 'failed' || task.status === 'canceled'
      return viewOf(task, over ? await costOf(id) : null)

      /** What it charged, if the service reports that in USD; the outcome must not be lost because of a fault here. */
      async function costOf(taskId: string): Promise<bigint | null> {
        try {
          return usdOf((await get<{ cost?: unknown }>(credentials, `${taskPath(taskId)}/cost`, signal)).cost)
        } catch (error) {
          if (error instanceof ProviderFault && error.kind === 'not_found') return null
          throw error
        }
      }
    },

    async counts({ credentials }, id, { program, shots }, signal) {
      const [probabilities, task] = await Promise.all([
        get<Record<string, number>>(credentials, `${taskPath(id)}/results/probabilities`, signal),
        get<IonqTask>(credentials, taskPath(id), signal)
      ])
      const calibrationId = await calibrationOf(task, signal)
      try {
        const byBits = addUp(
          Object.entries(probabilities).map(
            ([key, value]) =>
              [canonicalBits(bitsOfInteger(key, program.qubits), program.readout), Number(value)] as const
          )
        )
        // A quantum computer returns shares of its shots; the ideal simulator returns exact probabilities.
        const measured = task.backend?.startsWith('qpu.') ? countsOfHistogram(byBits, shots) : null
        return {
          counts: Object.fromEntries(measured ?? countsOfProbabilities(byBits, shots)),
          source: measured ? 'provider_counts' : 'probability_derived',
          probabilities: Object.fromEntries(byBits),
          executionTimeMs: numberOf(task.execution_duration_ms),
          calibrationId
        }
      } catch (error) {
        throw new ProviderFault('refused', `IonQ's result cannot be read: ${(error as Error).message}`)
      }
    },

    async cancel({ credentials }, id, signal) {
      const url = `${baseUrl}${taskPath(id)}/status/cancel`
      await http.call({ method: 'PUT', url, headers: headersOf(credentials), signal })
    },

    async backends(_credentials, signal) {
      type Backend = Parameters<typeof backendState>[0]
      return (await getPublic<Backend[]>('/backends', signal)).map(backendState)
    },

    close: () => http.close()
  }
}

function bodyOf({ token, target, program, shots, name }: ProviderJobRequest) {
  return {
    type: 'ionq.circuit.v1',
    backend: target,
    shots,
    name: name.replaceAll(/[^A-Za-z0-9 _-]/g, '-').slice(0, 100),
    metadata: { [TOKEN_KEY]: token },
    input: JSON.parse(program.text) as unknown
  }
}

const statuses: Record<string, ProviderJobView['status']> = {
  submitted: 'queued',
  ready: 'queued',
  started: 'running',
  completed: 'completed',
  failed: 'failed',
  canceled: 'cancelled'
}

function viewOf(task: IonqTask, cost: bigint | null): ProviderJobView {
  const waitMs = numberOf(task.predicted_wait_time_ms)
  const { code, message, error } = task.failure ?? {}
  return {
    // A paid job is not given up because of an unknown word.
    status: Object.hasOwn(statuses, task.status) ? statuses[task.status]! : 'running',
    raw: String(task.status).slice(0, 100),
    queuePosition: null,
    predictedWaitSeconds: waitMs === null ? null : Math.round(waitMs / 1000),
    cost,
    failure: task.failure ? [code, message ?? error].filter(Boolean).join(': ').slice(0, 1000) : null
  }
}

function backendState(entry: { backend: string; status: string; average_queue_time?: number }): BackendState {
  const queueMs = numberOf(entry.average_queue_time)
  return {
    target: entry.backend,
    status: entry.status === 'available' ? 'online' : entry.status === 'retired' ? 'retired' : 'offline',
    queueTimeSeconds: queueMs === null ? null : Math.round(queueMs / 1000),
    queueLength: null
  }
}

function newestBefore(time: number, characterizations: unknown): string | null {
  if (!Array.isArray(characterizations)) return null
  const dated = (characterizations as ({ id?: unknown; date?: unknown } | null)[])
    .map((one) => ({ id: textOf(one?.id), at: Date.parse(textOf(one?.date) ?? '') }))
    .filter(({ id, at }) => id !== null && id.length <= 100 && at <= time)
  return (
    dated.reduce((newest, one) => (newest && newest.at >= one.at ? newest : one), null as (typeof dated)[0] | null)
      ?.id ?? null
  )
}

/** Micro-USD of `{ value, unit }`; other units are not money. */
function usdOf(cost: unknown): bigint | null {
  const { value, unit } = (cost ?? {}) as { value?: unknown; unit?: unknown }
  const isUsd = typeof unit === 'string' && unit.toLowerCase() === 'usd'
  return isUsd && typeof value === 'number' && value >= 0 && value < 1e9 ? BigInt(Math.round(value * 1e6)) : null
}

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null

const ionqAnswer = <T extends object>(response: ProviderResponse): T => answerOf<T>(response, 'IonQ')

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
