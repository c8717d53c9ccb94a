// Seeded random choices: the same seed plans the same kills and the same jobs.

export interface Chance {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number
  between(from: number, to: number): number
  /** `true` in this share (0 to 1) of all calls. */
  holds(share: number): boolean
  pick<T>(list: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
}

/** Mulberry32: small, fast, and good enough to choose when to kill a process. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    holds: (share) => next() < share,
    pick,
    shuffled(list) {
      const rest = [...list]
      return list.map(() => rest.splice(Math.floor(next() * rest.length), 1)[0]!)
    }
  }
}
