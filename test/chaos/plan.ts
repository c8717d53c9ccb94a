// The jobs of the load, whose correct results are known whatever process dies.
import type { ExecutionMode } from '../../domain/jobs/job-status.js'
import type { Chance } from './chance.js'

/** Every job costs money. The simulator's price is set for this: a cent, and a hundredth of a cent per shot. */
export const simulator = { slug: 'marqov-sim', pricing: { taskFee: 0.01, perShot: 0.0001 } }

export const SHOTS = 100
/** Longer than the delay of its cancel, even if the api is away for a while. */
const LONG_SECONDS = 60

type Counts = Readonly<Record<string, number>>

/** The counts of a program or of each point of a sweep, or the code of the failure that it or its poisoned row causes. */
export type End = Counts | readonly Counts[] | 'execution_error' | 'internal_error' | 'provider_refused'

export interface PlannedJob {
  name: string
  mode: ExecutionMode
  body: Record<string, unknown>
  /** The possible results if no process dies, usually one. */
  ends: readonly End[]
  /** The time from the response until a cancel; `null` = never. */
  cancelAfterMs: number | null
  /** An Idempotency-Key, with which a submission whose response was lost is sent again. */
  key: string | null
}

interface Program {
  body: Record<string, unknown>
  end: End
}

// Reversed, they are different outcomes, so a reversed register is detected.
const outcomes = ['100', '110', '001', '011']

/** A circuit of three qubits, in OpenQASM 3. */
export function circuit(chance: Chance): Program & { payload: string; end: Record<string, number> } {
  const bits = chance.pick(outcomes)
  const gates = [...bits].map((bit, at) => (bit === '1' ? `x q[${at}];\n` : '')).join('')
  const payload = `OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[3] q;\nbit[3] c;\n${gates}c = measure q;\n`
  return { payload, body: { circuit: { format: 'qasm3', payload } }, end: { [bits]: SHOTS } }
}

const program = (seconds: number): Program => ({
  body: {
    inline_code: `import time
from qiskit import QuantumCircuit

time.sleep(${seconds.toFixed(2)})
circuit = QuantumCircuit(2, 2)
circuit.x(0)
circuit.measure([0, 1], [0, 1])
`,
    framework: 'qiskit'
  },
  end: { 10: SHOTS }
})

/** Five tasks, each in its own child: one, three in parallel, and one that takes their results. */
const graph = (seconds: number): Program => ({
  body: {
    inline_code: `import time
from marqov import task, workflow

@task
def begin():
    return 1

@task
def side(one, place):
    time.sleep(${seconds.toFixed(2)} if place == 1 else 0)
    return one + place

@task
def join(values):
    return {"".join(str(value % 2) for value in values): ${SHOTS}}

@workflow
def diamond():
    one = begin()
    return {"counts": join([side(one, place) for place in range(3)])}
`,
    framework: 'marqov'
  },
  end: { 101: SHOTS }
})

/** Many circuits in one job. Some of them have completed when its process dies. */
function sweep(chance: Chance): Program {
  const points = Array.from({ length: Math.round(chance.between(2, 60)) }, () => circuit(chance))
  return {
    body: { circuits: points.map(({ payload }) => ({ format: 'qasm3', payload })) },
    end: points.map(({ end }) => end)
  }
}

const failing = (): Program => ({
  body: { inline_code: 'import qiskit\n\nraise ValueError("as planned")\n', framework: 'qiskit' },
  end: 'execution_error'
})

/** A paid job that is retried until there is a response and is not cancelled, so that it certainly completes. */
export function planPaidJob(chance: Chance, name: string, mode: ExecutionMode, backend: string): PlannedJob {
  const { body, end } = circuit(chance)
  const common = { name, backend, params: { shots: SHOTS }, execution_mode: mode }
  return { name, mode, body: { ...common, ...body }, ends: [end], cancelAfterMs: null, key: `chaos ${name}` }
}

/** Tasks with large values into one: those that fit into one run, or three times as much, which fails by name. */
export function planLargeValues(chance: Chance, name: string, fits: boolean): PlannedJob {
  const tasks = fits ? 2 : 6
  const inline_code = `from marqov import task, workflow

@task
def large(place):
    return "x" * (15 << 20)

@task
def join(values):
    return {"".join(str(len(value) >> 20) for value in values): ${SHOTS}}

@workflow
def heavy():
    return {"counts": join([large(place) for place in range(${tasks})])}
`
  const body = { name, backend: simulator.slug, params: { shots: SHOTS }, execution_mode: 'temporal' }
  const end: End = fits ? { '1515': SHOTS } : 'execution_error'
  const key = chance.holds(0.5) ? `chaos ${name}` : null
  return {
    name,
    mode: 'temporal',
    body: { ...body, inline_code, framework: 'marqov' },
    ends: [end],
    cancelAfterMs: null,
    key
  }
}

/**
 * Plans the next job of the load. @param name finds it afterwards. @param paid the backends at providers for which the team
 * has credentials.
 */
export function planJob(chance: Chance, name: string, paid: readonly string[]): PlannedJob {
  const mode = chance.pick(['direct', 'temporal'] as const)
  const key = chance.holds(0.5) ? `chaos ${name}` : null
  const kind = chance.next()
  const plan = ({ body, end }: Program, cancelAfterMs: number | null = null, more = {}): PlannedJob => {
    const common = { name, backend: simulator.slug, params: { shots: SHOTS }, execution_mode: mode }
    return { name, mode, body: { ...common, ...body, ...more }, ends: [end], cancelAfterMs, key }
  }
  if (kind < 0.1) return plan(program(chance.between(0.5, 4)))
  if (kind < 0.18) return plan(program(LONG_SECONDS), chance.between(500, 5_000))
  if (kind < 0.23) return plan(circuit(chance), chance.between(0, 500))
  if (kind < 0.28) return plan(failing())
  if (kind < 0.33) return plan(graph(chance.between(0, 2)), chance.holds(0.2) ? chance.between(0, 4_000) : null)
  if (kind < 0.38) return plan(sweep(chance), chance.holds(0.2) ? chance.between(0, 4_000) : null)
  if (kind < 0.45)
    return plan(circuit(chance), null, {
      not_before: new Date(Date.now() + chance.between(2_000, 15_000)).toISOString()
    })
  if (paid.length > 0 && kind < 0.7) {
    const cancelAfterMs = chance.holds(0.2) ? chance.between(0, 6_000) : null
    return plan(circuit(chance), cancelAfterMs, { backend: chance.pick(paid) })
  }
  return plan(circuit(chance))
}
