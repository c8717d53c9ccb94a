// A backend in the catalogue, and whether it can take a job.

import { ServiceError, validationError } from '../errors.js'
import { assertAnalogParams } from '../jobs/circuits/analog-program.js'
import { CIRCUITS_MAX, circuitsOf } from '../jobs/params/circuits.js'
import { assertMitigation, assertNoiseToMitigate } from '../jobs/params/mitigation.js'
import { assertNoiseModel } from '../jobs/params/noise-model.js'
import { assertObservables } from '../jobs/params/observables.js'
import type { JobParams } from '../jobs/params/params.js'
import { nameOfRun, paramsOfRuns } from '../jobs/params/points.js'
import type { ProgramKind } from '../jobs/source.js'
import { AUTO_BACKEND } from '../jobs/submission.js'
import { isFree, type Pricing } from '../money/cost.js'
import { usdFromMicro } from '../money/money.js'
import { credentialsOfProvider } from './quantum-providers.js'

export const backendStatuses = ['online', 'offline', 'maintenance'] as const
export type BackendStatus = (typeof backendStatuses)[number]

export const deviceTypes = ['simulator', 'qpu'] as const
export type DeviceType = (typeof deviceTypes)[number]

export interface Backend {
  id: string
  slug: string
  name: string
  provider: string
  deviceType: DeviceType
  providerTargetId: string
  region: string | null
  qubitCount: number | null
  topology: string | null
  isAvailable: boolean
  isRetired: boolean
  status: BackendStatus
  statusUpdatedAt: Date
  updatedAt: Date
  pricing: Pricing
  maxShots: number | null
  maxQubits: number | null
  /** Whether a worker has declared within the last day that it serves the backend's provider. */
  served: boolean
  /** Whether workers call an emulator in the place of its provider. */
  emulated: boolean
  /** What the provider last reported about its queue. */
  queueLength: number | null
  queueTimeSeconds: number | null
  /** The executor's engine that simulates it; null for hardware and cloud simulators. */
  engine: string | null
  description: string | null
  documentationUrl: string | null
  tags: string[]
  displayOrder: number
  isRecommended: boolean
  supportedProgramTypes: string[]
  supportsNoiseModel: boolean
  supportsStateVector: boolean
  nativeGates: string[] | null
}

/** Whether it runs at a provider, not on a local engine. */
export const isAtProvider = (backend: Pick<Backend, 'engine'>): boolean => backend.engine === null

/** The types in the catalogue by the kind of program. OpenQASM 2 is converted to 3 for every backend. */
const typeOf = { circuit: 'qasm3', analog: 'ahs' } as const satisfies Record<ProgramKind, string>

export const runsProgram = (
  { supportedProgramTypes }: Pick<Backend, 'supportedProgramTypes'>,
  program: ProgramKind
): boolean => supportedProgramTypes.includes(typeOf[program])

/** Whether it runs circuits, not programs of another kind. */
export const isForCircuits = (backend: Pick<Backend, 'supportedProgramTypes'>): boolean =>
  runsProgram(backend, 'circuit')

/** Engines that this version supports. Those on GPUs are online while an executor reports them. */
const engines = new Set(['statevector', 'density_matrix', 'mps', 'noisy', 'gpu_statevector', 'gpu_tensor_network'])

/**
 * Refuses, before anything is recorded, a run that the backend certainly cannot take. A program of the wrong kind comes
 * first: no other backend state would help it.
 * @param shotsField the field in which the caller sent the shots.
 * @throws ServiceError `backend_unknown`, `backend_retired`, `backend_unavailable`, or `validation_error` for the wrong kind
 * of program and for too many shots, with the reason.
 */
export function assertUsable(
  backend: Backend | null,
  slug: string,
  { shots, program }: { shots: number; program: ProgramKind },
  shotsField = 'params.shots'
): asserts backend is Backend {
  if (!backend) throw unknown(slug)
  if (!runsProgram(backend, program)) throw validationError(wrongProgram(slug, program))
  if (backend.isRetired)
    throw new ServiceError('backend_retired', `backend: ${slug} was retired by its provider; ${SEE_LIST}`)
  if (backend.status !== 'online')
    throw new ServiceError('backend_unavailable', `backend: ${slug} is ${statusText[backend.status]}; ${SEE_LIST}`)
  const missing = missingFor(backend)
  if (missing) throw new ServiceError('backend_unavailable', `backend: ${slug} is not available: ${missing}`)
  if (backend.maxShots !== null && shots > backend.maxShots)
    throw validationError(`${shotsField}: ${slug} takes at most ${backend.maxShots} shots (got ${shots})`)
}

/**
 * The playground runs only on free local simulators.
 * @throws ServiceError `backend_unknown`, or `validation_error` for any other backend.
 */
export function assertForPlayground(backend: Backend | null, slug: string): asserts backend is SimulatorBackend {
  if (!backend) throw unknown(slug)
  const paid = !isFree(backend.pricing)
  if (paid || backend.engine === null)
    throw validationError(
      `backend: ${slug} ${paid ? 'is paid' : 'is not a local simulator'}, and the playground runs on free local simulators only; ` +
        'submit a job instead'
    )
}

/** A backend that an engine of the executor simulates. */
export type SimulatorBackend = Backend & { engine: string }

export type BackendParams = Pick<
  JobParams,
  | 'noise_model'
  | 'extract_state_vector'
  | 'observables'
  | 'observables_method'
  | 'mitigation'
  | 'optimization_level'
  | 'circuit_count'
  | 'points'
>

/**
 * Refuses parameters that the backend does not support.
 * @throws ServiceError `validation_error` naming the parameter.
 */
export function assertParams(backend: Backend, params: BackendParams): void {
  if (!isForCircuits(backend)) assertAnalogParams(params)
  if (params.points !== undefined && isAtProvider(backend))
    throw validationError(
      `params.points: ${backend.slug} runs no sweeps in this version; use a simulator of this service, or submit a job for each point`
    )
  forEachRun(params, (run) => assertRun(backend, run))
}

type RunParams = Omit<BackendParams, 'points'>

/** Checks the parameters of each run; a fault of a point names it. @throws what `check` throws. */
function forEachRun(params: BackendParams, check: (run: RunParams) => void): void {
  let checked: RunParams | null = null
  for (const [index, run] of paramsOfRuns(params).entries()) {
    // Most points differ in nothing that is checked here, and a check can read long texts.
    if (checked && sameChecks(checked, run)) continue
    try {
      check(run)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'validation_error') throw error
      throw validationError(error.message.replace(/^params\b/, nameOfRun(params, index)))
    }
    checked = run
  }
}

const sameChecks = (one: RunParams, other: RunParams): boolean =>
  one.noise_model === other.noise_model &&
  one.extract_state_vector === other.extract_state_vector &&
  one.observables === other.observables &&
  one.observables_method === other.observables_method &&
  one.mitigation === other.mitigation &&
  one.optimization_level === other.optimization_level

function assertRun(backend: Backend, params: RunParams): void {
  if (params.noise_model !== undefined) {
    if (!backend.supportsNoiseModel)
      throw validationError(
        `params.noise_model: ${backend.slug} runs without noise; use aer-noisy or aer-density-matrix`
      )
    assertNoiseModel(params.noise_model, backend.maxQubits)
  }
  if (params.extract_state_vector && !backend.supportsStateVector)
    throw validationError(`params.extract_state_vector: ${backend.slug} returns no state vector; use aer-statevector`)
  assertExpectationValues(params)
  if (isAtProvider(backend)) assertAtProvider(backend, params)
  else if (params.mitigation !== undefined) {
    if (!backend.supportsNoiseModel)
      throw validationError(
        `params.mitigation: ${backend.slug} runs without noise; use aer-noisy or aer-density-matrix`
      )
    assertNoiseToMitigate(params.mitigation, params.noise_model)
  }
  assertCircuits(backend, params)
}

/** What a provider's machine cannot do, or can undo. @throws ServiceError `validation_error` naming the parameter. */
function assertAtProvider({ slug, deviceType }: Backend, { observables_method: method, mitigation }: RunParams) {
  if (method === 'exact')
    throw validationError(`params.observables_method: ${slug} has no state to compute exact values from; use sampled`)
  if (mitigation === undefined) return
  if (deviceType === 'simulator')
    throw validationError(`params.mitigation: ${slug} is a simulator without noise, so there is nothing to mitigate`)
  if (mitigation.zne)
    throw validationError(
      `params.mitigation.zne: ${slug} compiles circuits itself and can remove folded gates; use readout here`
    )
}

function assertCircuits(backend: Backend, params: RunParams): void {
  const circuits = circuitsOf(params, isAtProvider(backend)) * (params.circuit_count ?? 1)
  if (circuits > CIRCUITS_MAX)
    throw validationError(
      `params: ${backend.slug} would run ${circuits.toLocaleString('en')} circuits for the observables and their mitigation; a job has at most ${CIRCUITS_MAX.toLocaleString('en')}`
    )
}

/** Refuses parameters that no backend supports. @throws ServiceError `validation_error` naming the parameter. */
export function assertParamsOfAny(params: BackendParams): void {
  forEachRun(params, (run) => {
    if (run.noise_model !== undefined) assertNoiseModel(run.noise_model, null)
    assertExpectationValues(run)
  })
}

function assertExpectationValues(params: RunParams): void {
  const { observables, observables_method: method, mitigation } = params
  if (observables !== undefined) assertObservables(observables)
  else if (method !== undefined) throw validationError('params.observables_method: needs params.observables')
  if (mitigation !== undefined) assertMitigation(mitigation, params)
}

/** Why nothing here can run what is sent to the backend; `null` when something can. */
function missingFor(backend: Backend): string | null {
  if (!backend.isAvailable) return 'an administrator has disabled it'
  if (backend.engine !== null)
    return engines.has(backend.engine) ? null : `this version does not include the engine ${backend.engine}`
  if (!Object.hasOwn(credentialsOfProvider, backend.provider))
    return `this version has no adapter for ${backend.provider}`
  return backend.served ? null : `no worker has declared ${backend.provider} within a day`
}

/** Why a job for the backend would be refused now; `null` when it would be accepted. */
export function unavailableReason(backend: Backend): string | null {
  if (backend.isRetired) return 'its provider has retired it'
  return missingFor(backend) ?? (backend.status === 'online' ? null : `it is ${statusText[backend.status]}`)
}

const wrongProgram = (slug: string, program: ProgramKind): string =>
  program === 'analog'
    ? `backend: ${slug} runs circuits, not analog programs (circuit.format ahs); the list of backends names those that do (supportedProgramTypes)`
    : `backend: ${slug} runs analog programs (circuit.format ahs), not circuits or programs that build them`

const unknown = (slug: string) =>
  new ServiceError('backend_unknown', `backend: no backend is called ${JSON.stringify(slug)}; ${adviceFor(slug)}`)

/** For a slug that names no backend: what to send. */
export const adviceFor = (slug: string): string =>
  slug === AUTO_BACKEND ? 'auto is for plain submissions and estimates; name one of the list of backends' : SEE_LIST

/** Each client has the list under a name of its own. */
const SEE_LIST = 'see the list of backends'

const statusText = { offline: 'offline', maintenance: 'in maintenance' } as const

/** The element of `GET /api/backends` (interface specification 2.3, decisions 5). Prices in USD. */
export const backendView = (backend: Backend) => ({
  ...backendFacts(backend),
  isAvailable: unavailableReason(backend) === null,
  unavailableReason: unavailableReason(backend),
  status: backend.status,
  displayOrder: backend.displayOrder,
  isRecommended: backend.isRecommended,
  isRetired: backend.isRetired,
  emulated: backend.emulated,
  queueLength: backend.queueLength,
  queueTimeSeconds: backend.queueTimeSeconds,
  statusUpdatedAt: backend.statusUpdatedAt.toISOString()
})

export type BackendFacts = ReturnType<typeof backendFacts>

/** Properties and prices, which do not change with its status and its queue. Prices in USD. */
export function backendFacts(backend: Omit<Backend, 'served' | 'emulated'>) {
  const { taskFee, perShot, minimumCost, byTime } = backend.pricing
  return {
    id: backend.id,
    slug: backend.slug,
    name: backend.name,
    provider: backend.provider,
    deviceType: backend.deviceType,
    providerTargetId: backend.providerTargetId,
    region: backend.region,
    qubitCount: backend.qubitCount,
    topology: backend.topology,
    pricing: {
      taskFee: usdFromMicro(taskFee),
      perShot: usdFromMicro(perShot),
      minimumCost: usdFromMicro(minimumCost),
      ...(byTime && { perSecond: usdFromMicro(byTime.perSecond), secondsMax: byTime.secondsMax })
    },
    maxShots: backend.maxShots,
    maxQubits: backend.maxQubits,
    description: backend.description,
    documentationUrl: backend.documentationUrl,
    tags: backend.tags,
    supportedProgramTypes: backend.supportedProgramTypes,
    supportsNoiseModel: backend.supportsNoiseModel,
    supportsStateVector: backend.supportsStateVector,
    supportsSweeps: !isAtProvider(backend),
    nativeGates: backend.nativeGates
  }
}
