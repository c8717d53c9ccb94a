// Repeatable randomness: the same text gives the same numbers on every machine. The generator is xoshiro128** 1.1 of
// David Blackman and Sebastiano Vigna (prng.di.unimi.it/xoshiro128starstar.c, public domain). As they advise, its state
// is filled by SplitMix64 (splitmix64.c there), seeded with the FNV-1a hash (Fowler, Noll, Vo) of the text. For
// statistics only: the next numbers can be computed from the previous ones.

export interface Random {
  /** The next 32 bits, as a whole number from 0. */
  word(): number
  /** Uniform in [0, 1), 53 bits. */
  uniform(): number
}

// Read once: in code with a context of its own, as under jest, each access of a global is slow.
const { imul } = Math
const MASK_64 = (1n << 64n) - 1n

export function randomOf(text: string): Random {
  const [first, second] = splitMix64(fnv1a64(text), 2) as [bigint, bigint]
  return xoshiro128([
    Number(first & 0xffffffffn),
    Number(first >> 32n),
    Number(second & 0xffffffffn),
    Number(second >> 32n)
  ])
}

/** @param state four words of 32 bits, not all 0. */
export function xoshiro128(state: readonly [number, number, number, number]): Random {
  const s = Int32Array.from(state)
  const word = (): number => {
    const b = s[1]!
    const scrambled = imul(b, 5)
    const c = s[2]! ^ s[0]!
    const d = s[3]! ^ b
    s[0]! ^= d
    s[1] = b ^ c
    s[2] = c ^ (b << 9)
    s[3] = (d << 11) | (d >>> 21)
    return imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0
  }
  return { word, uniform: () => ((word() >>> 5) * 67_108_864 + (word() >>> 6)) / 9_007_199_254_740_992 }
}

export function splitMix64(seed: bigint, length: number): bigint[] {
  return Array.from({ length }, (_, place) => {
    let z = (seed + BigInt(place + 1) * 0x9e3779b97f4a7c15n) & MASK_64
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK_64
    return z ^ (z >> 31n)
  })
}

export function fnv1a64(text: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK_64
  return hash
}
