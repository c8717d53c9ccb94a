// The state of the devices of all regions, for the catalogue.
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { type BackendState, ProviderFault } from '../adapter.js'
import type { CallBraket, Session } from './api.js'
import { escaped } from './aws.js'
import { type BraketDevice, queueLengthOf, statusOf } from './device.js'
import { braketRegions } from './regions.js'

const PAGE = 100
/** A region has some ten devices. */
const PAGES_MAX = 5

/** Every device that a region shows. */
export async function searchDevices(call: CallBraket, session: Session, signal: AbortSignal): Promise<BraketDevice[]> {
  const found: BraketDevice[] = []
  let nextToken: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const json = { filters: [], maxResults: PAGE, ...(nextToken !== undefined && { nextToken }) }
    const list = await call<{ devices?: unknown; nextToken?: unknown }>(
      session,
      { method: 'POST', path: '/devices', json },
      signal
    )
    if (Array.isArray(list.devices))
      found.push(...list.devices.filter((device) => typeof device?.deviceArn === 'string'))
    if (typeof list.nextToken !== 'string' || list.nextToken === '') break
    nextToken = list.nextToken
  }
  return found
}

/**
 * A region that does not answer, or that the account's policies close, leaves its devices as they were.
 * @throws ProviderFault the first one, when no region answers.
 */
export async function statesOfAll(
  call: CallBraket,
  credentials: Credentials,
  signal: AbortSignal
): Promise<BackendState[]> {
  const asked = await Promise.allSettled(braketRegions.map((region) => statesIn(call, { credentials, region }, signal)))
  const faults = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  const fatal = faults.length === asked.length ? faults[0] : faults.find((fault) => !(fault instanceof ProviderFault))
  if (fatal !== undefined) throw fatal
  return merged(asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])))
}

async function statesIn(call: CallBraket, session: Session, signal: AbortSignal): Promise<BackendState[]> {
  const states: BackendState[] = []
  // One after the other: with the call above, far below the rate of 5 a second that AWS allows an account in a region.
  for (const device of await searchDevices(call, session, signal)) {
    const target = device.deviceArn as string
    const status = statusOf(device)
    const waits = status === 'online' && device.deviceType === 'QPU'
    const queueLength = waits ? await queueLengthNow(call, session, target, signal) : null
    states.push({ target, status, queueTimeSeconds: null, queueLength })
  }
  return states
}

/** A fault here must not lose the state of the other devices. */
async function queueLengthNow(
  call: CallBraket,
  session: Session,
  target: string,
  signal: AbortSignal
): Promise<number | null> {
  try {
    const path = `/device/${escaped(target)}`
    return queueLengthOf(await call<BraketDevice>(session, { method: 'GET', path }, signal))
  } catch (error) {
    if (error instanceof ProviderFault) return null
    throw error
  }
}

const byUse: readonly BackendState['status'][] = ['online', 'maintenance', 'offline', 'retired']

/** Each device once: a simulator is in several regions, and online when it is online in one. */
function merged(states: BackendState[]): BackendState[] {
  const best = new Map<string, BackendState>()
  for (const state of states) {
    const other = best.get(state.target)
    if (!other || byUse.indexOf(state.status) < byUse.indexOf(other.status)) best.set(state.target, state)
  }
  return [...best.values()]
}
