// Counts of an analog program's shots. Each shot is a string of one letter per site, in the order of the program's register:
// `e` for a site that was empty before the pulses, `g` for an atom in the ground state after them, and `r` for one in the
// Rydberg state, which the machine cannot tell from a lost atom.

export interface AnalogCounts {
  counts: Map<string, number>
  /** The shots without a complete measurement, which are in no count. */
  failed: number
}

/**
 * @param measurements as Amazon Braket's schema `analog_hamiltonian_simulation_task_result` has them.
 * @param sites of the program. @param bits the site of each place in the string.
 * @throws Error when a measurement has another form or another number of sites.
 */
export function countsOfSites(measurements: unknown, sites: number, bits: readonly number[]): AnalogCounts {
  if (!Array.isArray(measurements)) throw new Error('it has no list of measurements')
  const counts = new Map<string, number>()
  let failed = 0
  for (const [index, measurement] of (measurements as (Measurement | null)[]).entries()) {
    const status = measurement?.shotMetadata?.shotStatus
    if (typeof status !== 'string') throw new Error(`shot ${index} has no status`)
    if (status !== 'Success') {
      failed += 1
      continue
    }
    const { preSequence, postSequence } = measurement?.shotResult ?? {}
    const before = sequenceOf(preSequence, sites)
    const after = sequenceOf(postSequence, sites)
    if (!before || !after) throw new Error(`shot ${index} has no 0 or 1 for each of the ${sites} sites`)
    let text = ''
    for (const site of bits) text += letterOf(before[site], after[site])
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return { counts, failed }
}

interface Measurement {
  shotMetadata?: { shotStatus?: unknown } | null
  shotResult?: { preSequence?: unknown; postSequence?: unknown } | null
}

function sequenceOf(value: unknown, sites: number): number[] | null {
  const fits = Array.isArray(value) && value.length === sites && value.every((bit) => bit === 0 || bit === 1)
  return fits ? (value as number[]) : null
}

function letterOf(before: number | undefined, after: number | undefined): string {
  if (before === undefined) throw new Error('the readout names a site that the program does not have')
  if (before === 0) return 'e'
  return after === 1 ? 'g' : 'r'
}
