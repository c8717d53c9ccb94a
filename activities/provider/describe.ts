// Asks the provider about the device that a circuit is compiled for, and refuses the job where the device does not take it. All
// this is free of charge, and nothing of the job is sent.
import type { ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import { dearerThanCatalogue } from '../../domain/money/device-price.js'
import { type DeviceFacts, finalFaults, ProviderFault } from '../../services/providers/adapter.js'
import {
  type Access,
  accessOf,
  again,
  againAfter,
  fail,
  type ProviderDeps,
  type StepContext,
  type StepEnd,
  unpricedSeconds,
  withoutPlace
} from './step.js'

/** What the provider says about the device, or why the circuit cannot be compiled for it now. */
export async function described(
  deps: ProviderDeps,
  { signal, place }: StepContext,
  job: ProviderRun
): Promise<DeviceFacts | StepEnd> {
  const { provider, backend, target } = job
  if (!deps.providers.has(provider) || target === null)
    return fail('backend_unavailable', `this version cannot talk to ${provider}, which runs ${backend}`)
  if (job.isRetired) return retired(job)
  const access = await accessOf(deps, { ...job, place: null })
  if ('missing' in access) return fail('provider_refused', access.missing)
  if (place && !place.enter(job.teamId)) return withoutPlace(deps, job)
  try {
    const device = await deps.descriptions.get(`${job.teamId} ${provider} ${target} ${access.version}`, () =>
      ask(deps, access, { target, width: job.maxQubits }, signal)
    )
    if ('askedForMs' in device) return laterThan(device.askedForMs, job)
    return refusal(deps, access, job, device) ?? device
  } catch (error) {
    const wait = againAfter(deps, error)
    if (finalFaults.has((error as ProviderFault).kind)) return fail('provider_refused', wait.why)
    if ((job.ask?.seconds ?? job.secondsStarted ?? 0) < deps.providerTimes.outageSeconds) return wait
    return fail('provider_unreachable', `${provider} did not describe ${backend} for a day: ${wait.why}`)
  } finally {
    place?.leave()
  }
}

/**
 * All requests that a description takes, within one limit: a provider can hang at each of them. The calls end with the fault
 * itself, so that they are counted as those of a provider that does not answer.
 */
async function ask(
  { providerTimes: { describeMs } }: ProviderDeps,
  { adapter, at }: Access,
  device: { target: string; width: number | null },
  signal: AbortSignal
): Promise<DeviceFacts> {
  const late = new AbortController()
  const why = `${adapter.name} did not describe the device within ${describeMs / 1000} s`
  const timer = setTimeout(() => late.abort(new ProviderFault('unclear', why)), describeMs)
  try {
    return await adapter.describe(at.credentials, device, AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}

/** Soon, when the first job may have its answer in a moment; within ten seconds while the provider is silent. */
const LATER_MS_MIN = 500
const LATER_MS_MAX = 5_000

const laterThan = (askedForMs: number, { provider, backend }: ProviderRun): StepEnd =>
  again(
    Math.min(Math.max(askedForMs, LATER_MS_MIN), LATER_MS_MAX) * (1 + Math.random()),
    `another job of the team is asking ${provider} about ${backend}`
  )

function refusal(deps: ProviderDeps, { adapter }: Access, job: ProviderRun, device: DeviceFacts): StepEnd | null {
  const { backend, pricing, shots } = job
  if (device.status === 'retired') return retired(job)
  const unpriced = unpricedSeconds(deps, adapter, job)
  if (unpriced) return { next: 'fail', error: unpriced }
  // Emulators charge nothing.
  const dearer = deps.emulated
    ? null
    : dearerThanCatalogue(backend, device.price, pricing ?? { perShot: 0n, byTime: null })
  if (dearer) return fail('backend_unavailable', dearer)
  const { min, max } = device.shots ?? { min: 1, max: Number.POSITIVE_INFINITY }
  return shots >= min && shots <= max
    ? null
    : fail('provider_refused', `${backend} takes ${min} to ${max} shots (got ${shots})`)
}

const retired = ({ backend }: ProviderRun): StepEnd =>
  fail('backend_retired', `${backend} was retired by its provider; nothing was sent to it`)
