// The emulated IBM Quantum: the Qiskit Runtime REST API, with the part of IBM Cloud's IAM that belongs to it.
import type { EmulatedClock } from '../clock.js'
import type { EmulatedProvider, ProviderReply, RequestLine, Timing } from '../provider.js'
import { ibmControls } from './control-routes.js'
import { Devices } from './devices.js'
import { refusalOf, refusalOfStatus, unauthenticated } from './errors.js'
import { ApiKeys, describedKey } from './iam/accounts.js'
import { iamError, iamPath, isIam } from './iam/iam.js'
import { AccessTokens } from './iam/tokens.js'
import type { IbmSettings } from './job.js'
import { JobStore } from './jobs.js'
import type { IbmParts } from './parts.js'
import { ibmRoutes } from './routes.js'
import { StartRate } from './start-rate.js'

const basePath = '/api/v1'
/** Of IBM's open plan and of all others. */
const START_RATE = 5
const defaultSettings: Omit<IbmSettings, 'startsPerMinute'> = {
  queueDepth: 0,
  usageLagMs: 2_000,
  qpuSeconds: null,
  usageLimitSeconds: null
}

export function createIbm(
  clock: EmulatedClock,
  { timing, startsPerMinute = START_RATE }: { timing?: Partial<Timing>; startsPerMinute?: number } = {}
): EmulatedProvider {
  const firstSettings = { ...defaultSettings, startsPerMinute }
  const settings = { ...firstSettings }
  const devices = new Devices(() => clock.now())
  const jobs = new JobStore(clock, devices, settings, timing)
  const parts: IbmParts = {
    clock,
    keys: new ApiKeys(),
    tokens: new AccessTokens(clock),
    devices,
    jobs,
    starts: new StartRate(),
    settings
  }
  return {
    name: 'ibm-quantum',
    basePath,
    credentials: { token: describedKey.token, instance: describedKey.instance },
    variables: (address) => ({
      IBM_QUANTUM_API_URL: `${address}${basePath}`,
      IAM_URL: `${address}${basePath}${iamPath}`
    }),
    routes: (app) => ibmRoutes(app, parts),
    controlRoutes: (app) => ibmControls(app, parts),
    refusal: (status, message, line) =>
      isIam(line) ? iamError(status, 'BXNIM0000E', message, clock.now()) : refusalOfStatus(status, message),
    expiredToken: (line) => (isIam(line) ? null : refusalOf(unauthenticated())),
    resultNotThere: (line) => (isResult(line) ? noContent : null),
    withUnknownStatus: (payload, { path }) => (isJobs.test(path) ? withUnknownStatus(payload) : payload),
    tasks: () => jobs.ledger(),
    setTiming: (changed) => jobs.setTiming(changed),
    setNoise: (level) => jobs.setNoise(level),
    setDeviceStatus: (name, status) => devices.setStatus(name, status),
    reset() {
      jobs.reset()
      devices.reset()
      parts.keys.reset()
      parts.tokens.reset()
      parts.starts.reset()
      Object.assign(settings, firstSettings)
    }
  }
}

const noContent: ProviderReply = { status: 204, headers: {}, body: '' }

const isResult = ({ method, path }: RequestLine): boolean => method === 'GET' && /\/jobs\/[^/]+\/results$/.test(path)
const isJobs = /\/jobs(\/[^/]+)?$/

/** Replaces the status of every job, at both of its places. */
const withUnknownStatus = (payload: string): string =>
  JSON.stringify(
    JSON.parse(payload, (_key, value) =>
      value !== null && typeof value === 'object' && 'state' in value && 'program' in value
        ? { ...value, state: { status: 'Recalibrating' }, status: 'Recalibrating' }
        : value
    )
  )
