// Repeatable random numbers: the same seed draws the same counts.

/** Numbers in [0, 1) from a 32-bit seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws `shots` outcomes: indices into `weights`, whose sum is about 1. */
export function draw(weights: ArrayLike<number>, shots: number, random: () => number): number[] {
  const bounds: number[] = []
  let sum = 0
  for (let index = 0; index < weights.length; index++) {
    sum += weights[index]!
    bounds.push(sum)
  }
  return Array.from({ length: shots }, () => firstAbove(bounds, random() * sum))
}

function firstAbove(bounds: readonly number[], value: number): number {
  let [low, high] = [0, bounds.length - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (bounds[middle]! > value) high = middle
    else low = middle + 1
  }
  return low
}
