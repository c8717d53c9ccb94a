// One budget of memory for everything large that this process holds: responses, files, packages, seals and bodies. Callers get
// it in turns, and none gets more than a share, so that one caller cannot keep it from the others.
import { ServiceError } from '../../../domain/errors.js'

export interface ByteBudget {
  /**
   * Waits until the bytes are free.
   * @param caller whose turn and share they count against.
   * @returns a function that gives them back; calling it again has no effect.
   * @throws ServiceError `service_busy` when too many wait, or after a time.
   */
  take(caller: string, bytes: number, left?: AbortSignal): Promise<() => void>
  /** Takes bytes that are held already: at once, or `null` when they are not free. */
  tryTake(caller: string, bytes: number): (() => void) | null
  /** Counts bytes that are held and cannot be refused. */
  force(caller: string, bytes: number): () => void
  /** Bytes taken at present. */
  readonly used: number
}

export interface BudgetLimits {
  bytes: number
  /** What one caller can have taken. No single piece of work needs more. */
  share: number
  waitingMax: number
  waitingOfCallerMax: number
  /** How long a request waits: shorter than the patience of the clients. */
  waitMs: number
}

interface Waiting {
  bytes: number
  grant(release: () => void): void
}

export function createByteBudget(limits: BudgetLimits): ByteBudget {
  let used = 0
  let waitingCount = 0
  const usedBy = new Map<string, number>()
  /** In the order of turns: a caller that was served goes to the end. */
  const waiting = new Map<string, Waiting[]>()

  const ownUse = (caller: string) => usedBy.get(caller) ?? 0
  const fitsShare = (caller: string, bytes: number) => ownUse(caller) + bytes <= limits.share
  const fits = (bytes: number) => used + bytes <= limits.bytes

  function force(caller: string, bytes: number): () => void {
    used += bytes
    usedBy.set(caller, ownUse(caller) + bytes)
    let released = false
    return () => {
      if (released) return
      released = true
      used -= bytes
      const left = ownUse(caller) - bytes
      if (left > 0) usedBy.set(caller, left)
      else usedBy.delete(caller)
      serve()
    }
  }

  /**
   * Serves the callers in turn. A caller at its share is passed over; one whose work does not fit yet is not, or large
   * work would wait for ever behind small work.
   */
  function serve(): void {
    for (let served = true; served; ) {
      served = false
      for (const [caller, [first]] of waiting) {
        if (!fitsShare(caller, first!.bytes)) continue
        if (!fits(first!.bytes)) return
        remove(caller, first!)
        const others = waiting.get(caller)
        if (others) {
          waiting.delete(caller)
          waiting.set(caller, others)
        }
        first!.grant(force(caller, first!.bytes))
        served = true
        break
      }
    }
  }

  function remove(caller: string, request: Waiting): void {
    const rest = (waiting.get(caller) ?? []).filter((other) => other !== request)
    if (rest.length > 0) waiting.set(caller, rest)
    else waiting.delete(caller)
    waitingCount--
  }

  return {
    get used() {
      return used
    },
    force,
    tryTake(caller, bytes) {
      return fitsShare(caller, bytes) && fits(bytes) ? force(caller, bytes) : null
    },
    take(caller, bytes, left) {
      if (bytes > limits.share) throw new Error(`${bytes} bytes are more than a share (${limits.share})`)
      if (waiting.size === 0 && fitsShare(caller, bytes) && fits(bytes)) return Promise.resolve(force(caller, bytes))
      const mine = waiting.get(caller) ?? []
      if (mine.length >= limits.waitingOfCallerMax || waitingCount >= limits.waitingMax) return Promise.reject(busy())
      return new Promise((resolve, reject) => {
        const request: Waiting = {
          bytes,
          grant(release) {
            settle()
            resolve(release)
          }
        }
        const settle = () => {
          clearTimeout(late)
          left?.removeEventListener('abort', giveUp)
        }
        const giveUp = () => {
          settle()
          remove(caller, request)
          reject(busy())
          // What waited behind this request may fit.
          serve()
        }
        const late = setTimeout(giveUp, limits.waitMs)
        left?.addEventListener('abort', giveUp, { once: true })
        waiting.set(caller, [...mine, request])
        waitingCount++
        serve()
      })
    }
  }
}

export const busy = (): ServiceError =>
  new ServiceError(
    'service_busy',
    'Too much is being sent and received at once. Try again in 2 seconds, and read responses to their end.',
    { retryAfterSeconds: 2 }
  )
