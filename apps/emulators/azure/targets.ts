// The targets of the emulated workspace, by the facts that Microsoft publishes, in the providers' own words.
import type { Change } from '../task-times.js'

export interface Target {
  readonly id: string
  readonly provider: 'ionq' | 'quantinuum' | 'rigetti'
  readonly qubits: number
  readonly shotsMax: number
  /**
   * `exact` returns probabilities instead of counts over shots, `checker` all zeros; `machine` and its emulator have noise if a
   * test sets it.
   */
  readonly kind: 'exact' | 'simulator' | 'checker' | 'machine'
  readonly inputFormat: string
  readonly outputFormat: string
  /** In US dollars. */
  readonly price: { task: number; shot: number }
  /** What became of it while the emulator runs, oldest first. */
  readonly changes: readonly Change[]
}

const free = { task: 0, shot: 0 }
/** The tariff of the catalogue that a new installation has, so that a test can check a whole bill. */
const paid = { task: 0.3, shot: 0.01 }

const ofIonq = {
  provider: 'ionq' as const,
  shotsMax: 10_000,
  inputFormat: 'ionq.circuit.v1',
  outputFormat: 'ionq.quantum-results.v1',
  changes: []
}
const ofQuantinuum = {
  provider: 'quantinuum' as const,
  qubits: 56,
  shotsMax: 10_000,
  inputFormat: 'honeywell.openqasm.v1',
  outputFormat: 'honeywell.quantum-results.v1',
  changes: []
}

const seeded: readonly Target[] = [
  { ...ofIonq, id: 'ionq.simulator', qubits: 29, kind: 'exact', price: free },
  { ...ofIonq, id: 'ionq.qpu.forte-1', qubits: 36, kind: 'machine', price: paid },
  { ...ofQuantinuum, id: 'quantinuum.qpu.h2-1', kind: 'machine', price: paid },
  { ...ofQuantinuum, id: 'quantinuum.sim.h2-1sc', kind: 'checker', price: free },
  { ...ofQuantinuum, id: 'quantinuum.sim.h2-1e', kind: 'machine', price: free },
  {
    id: 'rigetti.sim.qvm',
    provider: 'rigetti',
    qubits: 20,
    shotsMax: 100_000,
    kind: 'simulator',
    inputFormat: 'rigetti.quil.v1',
    outputFormat: 'rigetti.quil-results.v1',
    price: free,
    changes: []
  }
]

export type Availability = 'Available' | 'Degraded' | 'Unavailable' | 'Retired'

/** The words of the control interface; those of other providers are taken too. */
const words: Record<string, Availability> = {
  available: 'Available',
  online: 'Available',
  degraded: 'Degraded',
  unavailable: 'Unavailable',
  offline: 'Unavailable',
  retired: 'Retired'
}

export class Targets {
  private targets = newTargets()
  private degraded = new Set<string>()

  constructor(private readonly now: () => number) {}

  get(id: string): Target | null {
    return this.targets.get(id.toLowerCase()) ?? null
  }

  /** Those that the workspace offers: one that is retired is not listed any more. */
  offered(): Target[] {
    return [...this.targets.values()].filter((target) => this.availability(target) !== 'Retired')
  }

  availability({ id, changes }: Target): Availability {
    const { status = 'ONLINE' } = changes.at(-1) ?? {}
    if (status === 'RETIRED') return 'Retired'
    if (status === 'OFFLINE') return 'Unavailable'
    return this.degraded.has(id) ? 'Degraded' : 'Available'
  }

  /** @throws Error for an unknown target or status. */
  setStatus(id: string, status: string): void {
    const target = this.get(id)
    if (!target) throw new Error(`There is no target ${id} (targets: ${[...this.targets.keys()].join(', ')}).`)
    const word = Object.hasOwn(words, status.toLowerCase()) ? words[status.toLowerCase()]! : null
    if (!word) throw new Error(`status: must be Available, Degraded, Unavailable or Retired (got ${status})`)
    if (word === 'Degraded') this.degraded.add(target.id)
    else this.degraded.delete(target.id)
    const change = { at: this.now(), status: changeOf[word] }
    this.targets.set(target.id, { ...target, changes: [...target.changes, change] })
  }

  reset(): void {
    this.targets = newTargets()
    this.degraded.clear()
  }
}

const changeOf = { Available: 'ONLINE', Degraded: 'ONLINE', Unavailable: 'OFFLINE', Retired: 'RETIRED' } as const

const newTargets = (): Map<string, Target> => new Map(seeded.map((target) => [target.id, target]))
