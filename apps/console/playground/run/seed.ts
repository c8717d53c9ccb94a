/** The service's own bound, so that a job can take each seed of a run here. */
const SEED_MAX = 2_147_483_647

/** The seed as typed, or one drawn for this run. @throws Error for text that is not a seed. */
export function seedOf(text: string): number {
  if (text.trim() === '') return crypto.getRandomValues(new Uint32Array(1))[0]! & SEED_MAX
  const seed = Number(text)
  if (Number.isInteger(seed) && seed >= 0 && seed <= SEED_MAX) return seed
  throw new Error(`seed: must be a whole number from 0 to ${SEED_MAX} (got ${text})`)
}
