// The marks of an axis.

export interface Tick {
  /** Pixels from the left end of the axis. */
  at: number
  label: string
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
export function roundStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5, 10].map((times) => times * decade).find((step) => step >= least * (1 - 1e-9))!
}
