import type { Circuit } from '../../circuit/circuit.js'
import { partIsMissing } from '../../shell/load-part.js'
import { runInWorker, WorkerMissing } from '../../simulators/run-in-worker.js'
import type { OnProgress, SimulatorName } from '../../simulators/simulation.js'
import { startWorker } from '../../simulators/start-worker.js'
import type { FinishedRun } from './finished-run.js'
import { seedOf } from './seed.js'
import { type ReportTo, report } from './telemetry.js'

export interface BrowserRun {
  circuit: Circuit
  /** The OpenQASM text of the circuit. */
  program: string
  /** Of the Python program that it was converted from, with what the conversion says. */
  converted: { framework: string; warnings: readonly string[] } | null
  simulator: SimulatorName
  shots: string
  seed: string
}

export async function runInBrowser(
  { circuit, program, converted, simulator, shots, seed }: BrowserRun,
  reportTo: ReportTo | null,
  signal: AbortSignal,
  onProgress: OnProgress
): Promise<FinishedRun> {
  const simulation = await runInWorker(
    startWorker,
    simulator,
    circuit,
    shots.trim() === '' ? Number.NaN : Number(shots),
    seedOf(seed),
    onProgress,
    signal
  ).catch((error: Error) => {
    if (error instanceof WorkerMissing) return partIsMissing(error)
    throw error
  })
  if (reportTo) report(reportTo, simulation, simulator, program, converted?.framework ?? 'qasm')
  const { counts, circuit_info, metadata, probabilities, amplitudes, ms } = simulation
  return {
    where: `${simulator} ${metadata.engine_version} in this browser, seed ${metadata.seed}`,
    result: JSON.stringify({ counts, circuit_info, metadata, execution_time_ms: ms }),
    warnings: converted?.warnings ?? [],
    stdout: '',
    ms,
    exact: { qubits: circuit.qubits, probabilities: probabilities ?? null, amplitudes: amplitudes ?? null },
    converted: converted ? program : null
  }
}
