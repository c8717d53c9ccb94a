// The executors of this process: what each reported last, and which places of each are taken. `pool.ts` keeps them up to
// date; the gate and the api take places.
import {
  type Candidate,
  chooseExecutor,
  type ExecutorNeeds,
  type ExecutorState
} from '../../domain/backends/executor-choice.js'
import { type ExecutorHealth, problemOf, stateOf } from '../../domain/backends/executor-health.js'
import type { ExecutorClient } from './client.js'
import type { Away, Busy } from './stream.js'

/** So many reports in a row can be late before an executor counts as away: a loaded one is slow to report. */
const LATE_MAX = 3

export interface Endpoint extends Candidate {
  readonly address: string
  readonly client: ExecutorClient
  /** Its last report; `null` while there is none that can be read. */
  readonly health: ExecutorHealth | null
  /** Why no call goes there, or what is wrong with it. */
  readonly problem: string | null
}

/** A taken place. */
export interface Place {
  endpoint: Endpoint
  leave(): void
}

export interface Endpoints {
  /** Places of all executors that take calls. */
  readonly permits: number
  list(): readonly Endpoint[]
  /** @param connect is called for an address that is new. An executor that left is closed after its last call. */
  setAddresses(addresses: readonly string[], connect: (address: string) => ExecutorClient): void
  reported(endpoint: Endpoint, health: ExecutorHealth): void
  /** @param late it did not respond in time; otherwise its address refused. */
  failed(endpoint: Endpoint, reason: string, late: boolean): void
  /** Learns from the refusal of a call. */
  refused(endpoint: Endpoint, refusal: Busy | Away, needs: ExecutorNeeds): void
  /** `full`: a place becomes free, or an executor has yet to report. `none`: no executor can do it now. */
  fits(needs: ExecutorNeeds): 'free' | 'full' | 'none'
  /** @param evenFull the call waits at the executor for its place. */
  take(needs: ExecutorNeeds, except?: ReadonlySet<Endpoint>, evenFull?: boolean): Place | 'full' | 'none'
  /** Whether another executor than this one could do it, now or later. */
  hasOther(needs: ExecutorNeeds, than: Endpoint): boolean
  /** Why no executor can do it now. */
  absence(needs: ExecutorNeeds): Away
  /** Called when places have changed, and when an executor needs another look. */
  onChange(listener: () => void): void
  onDoubt(listener: () => void): void
  close(): Promise<void>
}

export interface EndpointLog {
  info(detail: object, message: string): void
  warn(detail: object, message: string): void
  error(detail: object, message: string): void
}

type Known = { -readonly [Key in keyof Endpoint]: Endpoint[Key] } & {
  engines: Set<string>
  late: number
  gone: boolean
}

export function createEndpoints(log: EndpointLog): Endpoints {
  let all: Known[] = []
  /** Those that left with calls under way. */
  const leaving = new Set<Known>()
  let isKnown = false
  let turns = 0
  let notify = () => {}
  let doubt = () => {}

  function become(one: Known, state: ExecutorState, problem: string | null): void {
    const before = one.state
    one.state = state
    one.problem = problem
    if (before === state) return
    const detail = { executor: one.address, instanceId: one.instanceId, state, reason: problem }
    if (state === 'ready') log.info(detail, 'executor takes calls')
    else if (state === 'foreign' || state === 'unfit') log.error(detail, 'executor is not used')
    else log.warn(detail, 'executor takes no calls')
  }

  /** Two addresses of one executor would count its places twice. */
  function findTwins(): void {
    const seen = new Set<string>()
    for (const one of all) {
      if (one.state !== 'ready' || !one.instanceId) continue
      if (seen.has(one.instanceId)) become(one, 'twin', 'another address leads to the same executor')
      seen.add(one.instanceId)
    }
  }

  const choose = (needs: ExecutorNeeds, except?: ReadonlySet<Endpoint>, evenFull?: boolean) => {
    const chosen = chooseExecutor(except ? all.filter((one) => !except.has(one)) : all, needs, evenFull)
    return chosen === 'none' && !isKnown ? 'full' : chosen
  }

  async function closeIfLeft(one: Known): Promise<void> {
    if (!one.gone || one.inUse > 0) return
    leaving.delete(one)
    await one.client.close()
  }

  return {
    get permits() {
      return all.reduce((sum, { state, slots }) => sum + (state === 'ready' ? slots : 0), 0)
    },
    list: () => all,
    setAddresses(addresses, connect) {
      isKnown = true
      const left = all.filter(({ address }) => !addresses.includes(address))
      all = addresses.map((address) => all.find((one) => one.address === address) ?? unknown(address, connect(address)))
      for (const one of left) {
        log.info({ executor: one.address }, 'executor has left')
        one.gone = true
        leaving.add(one)
        void closeIfLeft(one)
      }
      notify()
    },
    reported(endpoint, health) {
      const one = endpoint as Known
      const state = stateOf(health)
      one.late = 0
      // Of another protocol, nothing else is read.
      one.health = state === 'foreign' ? null : health
      if (state === 'foreign') {
        become(one, state, problemOf(health))
        notify()
        return
      }
      one.instanceId = health.instance_id ?? null
      one.engines = new Set(health.engines.map(({ name }) => name))
      one.slots = health.slots.total
      one.ofOthers = Math.max(0, health.slots.running - one.inUse)
      become(one, state, problemOf(health))
      findTwins()
      notify()
    },
    failed(endpoint, reason, late) {
      const one = endpoint as Known
      if (late && one.state === 'ready' && ++one.late < LATE_MAX) return
      become(one, 'away', reason)
      notify()
    },
    refused(endpoint, refusal, { engine }) {
      const one = endpoint as Known
      if (refusal.kind === 'busy') return
      if (refusal.why === 'engine') one.engines.delete(engine ?? '')
      else if (refusal.why === 'protocol') become(one, 'foreign', refusal.message)
      else if (refusal.why === 'unfit' || refusal.why === 'draining') become(one, refusal.why, refusal.message)
      // One that failed at this call may serve others.
      else if (refusal.why !== 'fault') become(one, 'away', refusal.message)
      notify()
      doubt()
    },
    fits(needs) {
      const chosen = choose(needs)
      return typeof chosen === 'string' ? chosen : 'free'
    },
    take(needs, except, evenFull) {
      const chosen = choose(needs, except, evenFull)
      if (typeof chosen === 'string') return chosen
      chosen.inUse++
      chosen.turn = ++turns
      let left = false
      return {
        endpoint: chosen,
        leave() {
          if (left) return
          left = true
          chosen.inUse--
          void closeIfLeft(chosen)
          notify()
        }
      }
    },
    hasOther: (needs, than) => choose(needs, new Set([than])) !== 'none',
    absence({ engine }) {
      const able = all.find(({ state }) => state === 'ready')
      if (able) return { kind: 'away', message: `no executor that is up has the engine ${engine}`, why: 'engine' }
      const [first] = all
      if (!first)
        return { kind: 'away', message: 'no executor has been found: the name of EXECUTOR_URL has no addresses' }
      const unfit = all.every(({ state }) => state === 'unfit')
      return {
        kind: 'away',
        message: first.problem ?? 'it has not reported yet',
        ...(unfit && { why: 'unfit' as const })
      }
    },
    onChange(listener) {
      notify = listener
    },
    onDoubt(listener) {
      doubt = listener
    },
    async close() {
      await Promise.all([...all, ...leaving].map(({ client }) => client.close()))
    }
  }
}

const unknown = (address: string, client: ExecutorClient): Known => ({
  address,
  client,
  state: 'unknown',
  instanceId: null,
  engines: new Set(),
  slots: 0,
  inUse: 0,
  ofOthers: 0,
  turn: 0,
  health: null,
  problem: null,
  late: 0,
  gone: false
})
