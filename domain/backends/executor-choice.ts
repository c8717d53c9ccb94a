// Which executor a call goes to. Pure.

/** What a call needs of an executor. */
export interface ExecutorNeeds {
  /** Absent: every executor can do it. */
  engine?: string
  /** The id of the executor that holds the execution to continue: it goes there even if every place is taken. */
  holder?: string | null
  /** Calls of the same key go to the same executor while it has a place. */
  near?: string
}

/**
 * `unknown`: it has not reported yet. `away`: it does not respond. `draining`: it stops. `unfit`: it refuses to run code.
 * `foreign`: it speaks another protocol. `twin`: another address leads to the same executor.
 */
export type ExecutorState = 'unknown' | 'ready' | 'away' | 'draining' | 'unfit' | 'foreign' | 'twin'

export interface Candidate {
  readonly state: ExecutorState
  readonly instanceId: string | null
  readonly engines: ReadonlySet<string>
  readonly slots: number
  /** Calls of this process there. */
  readonly inUse: number
  /** Executions of other processes there, when it last reported. */
  readonly ofOthers: number
  /** When it last got a call of this process, as a count of calls. */
  readonly turn: number
}

/**
 * `full`: those that can do it have no place free, or have yet to report. `none`: no executor can do it now.
 * @param evenFull it waits there for its place.
 */
export function chooseExecutor<One extends Candidate>(
  all: readonly One[],
  { engine, holder, near }: ExecutorNeeds,
  evenFull = false
): One | 'full' | 'none' {
  const able = all.filter(({ state, engines }) => state === 'ready' && (engine === undefined || engines.has(engine)))
  const held = holder ? able.find(({ instanceId }) => instanceId === holder) : undefined
  if (held) return held
  const open = able.filter(({ inUse, slots }) => evenFull || inUse < slots)
  const nearest = near === undefined ? undefined : highest(able, ({ instanceId }) => weight(`${near} ${instanceId}`))
  if (nearest && open.includes(nearest)) return nearest
  const chosen = highest(
    open,
    (one) => -(one.inUse + one.ofOthers) / one.slots,
    ({ turn }) => -turn
  )
  if (chosen) return chosen
  return able.length > 0 || all.some(({ state }) => state === 'unknown') ? 'full' : 'none'
}

/** The first one with the highest value, then with the highest second value. */
function highest<One>(all: readonly One[], value: (one: One) => number, second: (one: One) => number = () => 0) {
  let best: { one: One; first: number; then: number } | undefined
  for (const one of all) {
    const [first, then] = [value(one), second(one)]
    if (!best || first > best.first || (first === best.first && then > best.then)) best = { one, first, then }
  }
  return best?.one
}

/** Spreads texts evenly over 32 bits (FNV-1a, with the last steps of MurmurHash3). */
function weight(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
