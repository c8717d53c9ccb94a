// Why a dispatch target did not take a delivery. A target that does not respond is away, and an outage that lasts too long
// fails the jobs that wait for it. A target that responds with a refusal is there: an operator has to change something, and
// no job fails of it. Each kind of fault is logged once, with the target's own words, and refusals are shown to operators.
import { reasonOf } from '../../domain/operations/reason.js'

export type DispatchTarget = 'Temporal' | 'Redis'

/** `busy`: the target requests fewer calls. */
export type FaultKind = 'unreachable' | 'busy' | 'refused'

export interface TargetFaults {
  /** Records a failed call. */
  record(target: DispatchTarget, error: unknown): FaultKind
  /** What the target refuses now, in words for an operator. */
  refusals(target: DispatchTarget): string[]
}

/** A refused delivery is repeated more often than this, so that a refusal without a repetition is over. */
const REFUSAL_MS = 120_000
/** A fault that lasts is logged again after this time. */
const LOGGED_AGAIN_MS = 3_600_000

export function createTargetFaults(
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void },
  clock: () => number = () => performance.now()
): TargetFaults {
  /** By target and reason: when the fault was last seen, and last logged. */
  const faults = new Map<
    string,
    { target: DispatchTarget; kind: FaultKind; reason: string; at: number; loggedAt: number }
  >()

  function forget(): void {
    for (const [key, { at }] of faults) if (clock() - at > LOGGED_AGAIN_MS) faults.delete(key)
  }

  return {
    record(target, error) {
      forget()
      const fault = faultOf(error)
      const key = `${target} ${fault.kind} ${fault.of}`
      const known = faults.get(key)
      const isLogged = known !== undefined && clock() - known.loggedAt < LOGGED_AGAIN_MS
      faults.set(key, { target, ...fault, at: clock(), loggedAt: isLogged ? known.loggedAt : clock() })
      if (!isLogged) {
        const facts = { target, reason: fault.reason }
        if (fault.kind === 'refused')
          log.error(facts, 'a dispatch target refuses jobs; they wait until it accepts them')
        else log.warn(facts, `a dispatch target is ${fault.kind}; jobs wait`)
      }
      return fault.kind
    },
    refusals(target) {
      return [...faults.values()]
        .filter((fault) => fault.kind === 'refused' && fault.target === target && clock() - fault.at < REFUSAL_MS)
        .map(({ reason }) => `${target} refuses jobs: ${reason}`)
    }
  }
}

// Of the status codes of gRPC, those with which a server has judged the call itself.
const refusedCodes: Record<number, string> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  9: 'FAILED_PRECONDITION',
  12: 'UNIMPLEMENTED',
  16: 'UNAUTHENTICATED'
}
const RESOURCE_EXHAUSTED = 8

/** `of` names the fault without what differs from call to call, so that each is logged once. */
function faultOf(error: unknown): { kind: FaultKind; of: string; reason: string } {
  const cause = innermost(error)
  const { code, details, name } = cause
  if (name === 'NamespaceNotFoundError') {
    const reason = `NOT_FOUND: there is no namespace ${JSON.stringify(cause.namespace)}`
    return { kind: 'refused', of: reason, reason }
  }
  if (typeof code === 'number') {
    const refusedBy = refusedCodes[code]
    const reason = `${refusedBy ?? (code === RESOURCE_EXHAUSTED ? 'RESOURCE_EXHAUSTED' : `gRPC status ${code}`)}: ${details || reasonOf(cause)}`
    return { kind: refusedBy ? 'refused' : code === RESOURCE_EXHAUSTED ? 'busy' : 'unreachable', of: `${code}`, reason }
  }
  const reason = reasonOf(cause)
  // A server of Redis that loads its data, or has no primary yet, is not ready; its other replies are refusals.
  if (name === 'ReplyError') {
    const [word] = reason.split(' ')
    const isAway = word === 'LOADING' || word === 'MASTERDOWN' || word === 'CLUSTERDOWN'
    return { kind: isAway ? 'unreachable' : 'refused', of: word!, reason }
  }
  return { kind: 'unreachable', of: name ?? 'Error', reason }
}

interface Cause {
  name?: string
  code?: unknown
  details?: string
  namespace?: string
  cause?: unknown
}

/** The innermost cause, or before that the one of gRPC. */
function innermost(error: unknown): Cause {
  let at = (error ?? {}) as Cause
  while (typeof at.code !== 'number' && typeof at.cause === 'object' && at.cause !== null) at = at.cause as Cause
  return at
}
