// IBM Quantum (REST API of 2026-04-15): OpenQASM 3 in the instructions of a device, run by the program `sampler`. Its submit is
// not idempotent: our token is the job's tag, by which the list of jobs is searched.
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import {
  type BackendState,
  type CreateProviderCalls,
  type DeviceFacts,
  type Located,
  ProviderFault
} from '../adapter.js'
import { TimedCache } from '../timed-cache.js'
import { answerOf, idOf, partOf } from './answers.js'
import { createIbmApi } from './api.js'
import { deviceOf, factsOf, statesOf } from './device.js'
import { createIam, digest } from './iam.js'
import { adviceFor, instanceOf, type Session, sessionOf } from './instance.js'
import { bodyOf, isTagged, viewOf } from './jobs.js'
import { countsOfResult } from './results.js'

const DEVICES_MAX = 1000
const DESCRIBED_MS = 5 * 60_000

const PAGE = 200
/** A longer list cannot be the jobs with one tag. */
const PAGES_MAX = 50
/** IBM's clock can differ from ours. */
const CLOCK_SLACK_MS = 3_600_000

const jobPath = (id: string) => `/jobs/${encodeURIComponent(id)}`
/** The program is as long as the circuit. */
const withoutProgram = { exclude_params: 'true' }

export const createIbm: CreateProviderCalls<'api' | 'iam'> = (urls = {}, callTimeoutMs) => {
  const iam = createIam(urls.iam, callTimeoutMs)
  const api = createIbmApi(iam, urls.api, callTimeoutMs)
  const devices = new TimedCache<DeviceFacts>(DEVICES_MAX, DESCRIBED_MS)

  /** Calls about a job, in its instance. */
  async function inPlace<T>(at: Located, call: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await call(sessionOf(at))
    } catch (error) {
      throw adviceFor(at, error)
    }
  }

  /** Those that the instance of the credentials opens. */
  async function devicesOf(
    credentials: Credentials,
    query: Record<string, string>,
    signal: AbortSignal
  ): Promise<BackendState[]> {
    try {
      const session = { apiKey: credentials.token!, instance: instanceOf(credentials) }
      return statesOf(await api.get(session, '/backends', signal, query))
    } catch (error) {
      throw ofCredentials(error)
    }
  }

  return {
    // A job that IBM runs twice for two requests with one tag is paid twice.
    submitsOnce: false,
    devicesArePublic: false,
    billsSeconds: true,
    // IBM allows a user five submissions a minute, and documents no limit for the rest.
    rates: { submit: { max: 5, windowSeconds: 60 }, look: { max: 20, windowSeconds: 1 } },

    async verify(credentials, signal) {
      await iam.issue(credentials.token!, signal)
      if (credentials.instance === undefined)
        return { instance: 'not set: jobs need instance', faults: ['instance is not set: jobs need it'] }
      const states = await devicesOf(credentials, {}, signal)
      const { crn, region } = instanceOf(credentials)
      return { instance: crn, region, devices: states.map(({ target }) => target) }
    },

    async place(credentials, target) {
      deviceOf(target)
      const { crn, region } = instanceOf(credentials)
      return { account: crn, region }
    },

    async describe(credentials, { target }, signal) {
      const session = { apiKey: credentials.token!, instance: instanceOf(credentials) }
      const path = `/backends/${deviceOf(target)}`
      const { crn } = session.instance
      return devices.get(`${digest(session.apiKey)} ${crn} ${target}`, async () => {
        const ask = (part: string) =>
          api.get(session, `${path}/${part}`, signal).catch((error) => {
            throw isNotFound(error) ? unknownDevice(error, target) : error
          })
        const configuration = await ask('configuration')
        const status = await ask('status')
        try {
          return factsOf(configuration, status)
        } catch (error) {
          const reason = (error as Error).message
          throw new ProviderFault('refused', `IBM Quantum's configuration of ${target} cannot be read: ${reason}`)
        }
      })
    },

    async stage(at, task, signal) {
      const session = sessionOf(at)
      // The paid request is then the next one.
      await iam.of(session.apiKey, signal)
      const call = { method: 'POST', path: '/jobs', json: bodyOf(task) } as const
      return async (submitSignal) => {
        const id = idOf(answerOf(await api.call(session, call, submitSignal)).id)
        if (id !== null) return id
        throw new ProviderFault('unclear', 'IBM Quantum accepted without naming a job')
      }
    },

    find: (at, { token }, since, signal) =>
      inPlace(at, async (session) => {
        const created_after = new Date(since.getTime() - CLOCK_SLACK_MS).toISOString()
        let offset = 0
        for (let page = 0; page < PAGES_MAX; page++) {
          const range = { created_after, limit: `${PAGE}`, offset: `${offset}` }
          const { jobs } = await api.get(session, '/jobs', signal, { tags: token, ...range, ...withoutProgram })
          // An answer of another form must not look like a list without the job.
          if (!Array.isArray(jobs)) throw new ProviderFault('unclear', 'IBM Quantum listed no jobs')
          const found = jobs.find((job) => isTagged(job, token))
          if (found !== undefined) return foundId(partOf(found).id)
          if (jobs.length === 0) return null
          offset += jobs.length
        }
        throw new ProviderFault('unclear', "IBM Quantum's list of jobs has no end")
      }),

    look: (at, id, signal) =>
      inPlace(at, async (session) => viewOf(await api.get(session, jobPath(id), signal, withoutProgram))),

    async counts(at, id, task, signal) {
      const result = await inPlace(at, (session) =>
        api.call(session, { method: 'GET', path: `${jobPath(id)}/results` }, signal)
      )
      if (result.status === 204) throw new ProviderFault('not_found', 'IBM Quantum has no result of the job yet')
      const { calibration_id } = await inPlace(at, (session) => api.get(session, jobPath(id), signal, withoutProgram))
      try {
        const counts = countsOfResult(result.text, task)
        return { ...counts, executionTimeMs: null, calibrationId: idOf(calibration_id) }
      } catch (error) {
        throw new ProviderFault('refused', `IBM Quantum's results cannot be read: ${(error as Error).message}`)
      }
    },

    cancel: (at, id, signal) =>
      inPlace(at, async (session) => {
        // 409: the job is over.
        await api.call(session, { method: 'POST', path: `${jobPath(id)}/cancel`, answers: [409] }, signal)
      }),

    async backends(credentials, signal) {
      if (!credentials) throw new ProviderFault('unauthorized', 'IBM Quantum shows its devices only with credentials')
      return devicesOf(credentials, { fields: 'wait_time_seconds' }, signal)
    },

    async close() {
      await Promise.all([api.close(), iam.close()])
    }
  }
}

function foundId(value: unknown): string {
  const id = idOf(value)
  if (id !== null) return id
  throw new ProviderFault('unclear', 'IBM Quantum listed the job without its id')
}

/** An instance that is none, or that IBM does not show for the key, is the fault of the credentials. */
const ofCredentials = (error: unknown): unknown =>
  isNotFound(error) || (error instanceof ProviderFault && error.kind === 'refused')
    ? new ProviderFault('unauthorized', error.message)
    : error

const isNotFound = (error: unknown): error is ProviderFault =>
  error instanceof ProviderFault && error.kind === 'not_found'

/** Without the CRN, which holds the account's id: a script can show this reason. */
const unknownDevice = ({ message }: ProviderFault, target: string) =>
  new ProviderFault(
    'refused',
    `${message}; the instance of the team's ibm-quantum credentials has no device ${target}: set another instance, or use another backend`
  )
