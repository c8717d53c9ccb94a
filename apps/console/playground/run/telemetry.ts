// Reports a run in the browser to the caller's team, as evidence about the simulators (docs/decisions/0023-a-simulator-of-our-own.md).
import type { components } from '../../api/schema.js'
import { randomKey } from '../../api/write-key.js'
import type { Simulation, SimulatorName } from '../../simulators/simulation.js'

type Report = components['schemas']['ReportPlaygroundRunRequest']

export interface ReportTo {
  team_id: string
}

/** Of this page, until it is loaded again. */
const session_id = randomKey()

const sources = ['qiskit', 'cirq', 'pennylane', 'qasm'] as const

/** Past the patient client: a report that is refused, or has to wait, is dropped, and the page shows nothing of it. */
export function report(
  { team_id }: ReportTo,
  { counts, circuit_info, metadata, ms }: Simulation,
  simulator: SimulatorName,
  program: string,
  source: string
): void {
  const source_framework = sources.find((known) => known === source)
  const body: Report = {
    session_id,
    team_id,
    simulator,
    simulator_version: metadata.engine_version,
    qasm_input: program,
    shots: metadata.shots_requested,
    qubit_count: circuit_info.num_qubits,
    gate_count: circuit_info.size,
    execution_time_ms: ms,
    counts,
    ...(source_framework && { source_framework }),
    user_agent: navigator.userAgent.slice(0, 500)
  }
  const headers = { 'content-type': 'application/json' }
  fetch('/api/playground/telemetry', { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => {})
}
