// The comparison of two jobs as the API shows it.
import { type Static, Type } from 'typebox'
import type { JobRow } from '../../../../db/jobs/jobs.js'
import type { Backend } from '../../../../domain/backends/backend.js'
import { oneOf } from '../../../../domain/json/one-of.js'
import type { ComparedCircuit, Comparison, Provenance } from '../../../../domain/verification/compare-results.js'
import { verificationMethods } from '../../../../domain/verification/report.js'
import { verdicts } from '../../../../domain/verification/verdict.js'
import { count, nullable, text, time, uuid } from '../../http/response.js'

const probability = Type.Number({ minimum: 0, maximum: 1 })
const distance = (description: string) => nullable(Type.Number({ minimum: 0 }), description)

const PValues = Type.Object(
  { pearson: nullable(probability), cdvv: nullable(probability), combined: nullable(probability) },
  { $id: 'PValues', description: 'Of both tests; `combined` is twice the smaller, at most 1' }
)

const PublicTool = Type.Object(
  { bound: nullable(probability), epsilon: probability, says: oneOf(['VERIFIED', 'INCONCLUSIVE']), note: text },
  { $id: 'PublicCompareTool', description: 'What `marqov-capsule compare` would say of the counts' }
)

const ComparedJob = Type.Object(
  {
    job_id: uuid,
    point: nullable(count, 'Of a sweep, the point that was compared; null for the whole result'),
    backend: text,
    hardware: Type.Boolean({ description: 'Whether the backend is a quantum computer' }),
    count_source: nullable(text, 'Who vouches for the counts; null for what a program returned'),
    seed: nullable(Type.Integer()),
    engine: nullable(text),
    engine_version: nullable(text),
    calibration_id: nullable(text),
    completed_at: nullable(time)
  },
  { $id: 'ComparedJob' }
)

const figures = {
  verdict: oneOf(verdicts),
  method: oneOf(verificationMethods),
  reason: text,
  p_values: PValues,
  tvd: distance('Total variation distance of the counts'),
  tvd_upper: distance('The distance of the distributions is at most this, with confidence 1 - beta'),
  needed_shots: nullable(
    Type.Integer({ minimum: 1 }),
    'Shots of each job that a verdict would take; null where it would take more than a job can have'
  ),
  compare: nullable(PublicTool)
}

const Circuit = Type.Object(
  {
    name: text,
    ...figures,
    n: nullable(count, 'Shots of job a'),
    m: nullable(count, 'Shots of job b'),
    outcomes: nullable(count, 'Outcomes seen in either job'),
    p_adjusted: nullable(
      probability,
      '`combined`, adjusted for the number of circuits; a difference is found at alpha'
    ),
    draws: nullable(count, 'Of the permutation test'),
    tvd_null: distance('The average distance of two runs of one distribution'),
    tvd_excess: distance('What `tvd` has above that'),
    hellinger_fidelity: nullable(Type.Number({ minimum: 0 })),
    hardware: nullable(
      Type.Object({
        a_calibration_id: nullable(text),
        b_calibration_id: nullable(text),
        elapsed_seconds: nullable(Type.Number({ description: 'From the end of a to the end of b' }))
      })
    ),
    notes: Type.Array(text),
    counts: Type.Array(
      Type.Object({ outcome: text, a: count, b: count }, { description: 'Shots of each job with this outcome' }),
      { description: 'The most frequent outcomes' }
    ),
    left_out: Type.Object(
      { outcomes: count, a: count, b: count },
      { description: 'Less frequent outcomes and their shots' }
    )
  },
  { $id: 'ComparedCircuit' }
)

export const JobComparison = Type.Object(
  {
    ...figures,
    statement: Type.String({ description: 'What follows from the verdict, and who vouches for the counts' }),
    alpha: Type.Number({
      description: 'The error rate: how often two jobs of one distribution are found different, all circuits together'
    }),
    beta: probability,
    margin: Type.Number({ description: 'The total variation distance that is tolerated' }),
    a: ComparedJob,
    b: ComparedJob,
    circuits: Type.Array(Circuit, { description: 'At most 100: those that decide most, in the order of their places' }),
    circuits_left_out: count
  },
  { $id: 'JobComparison' }
)

interface Compared {
  job: JobRow
  point: number | null
  backend: Backend | null
}

export function comparisonView(
  { report, statement, circuits, circuits_left_out, ...provenance }: Comparison,
  a: Compared,
  b: Compared
): Static<typeof JobComparison> {
  return {
    ...report,
    needed_shots: report.needed_shots ?? null,
    statement,
    a: jobView(a, provenance.a),
    b: jobView(b, provenance.b),
    circuits: circuits.map(circuitView),
    circuits_left_out
  }
}

const jobView = ({ job, point, backend }: Compared, provenance: Provenance): Static<typeof ComparedJob> => ({
  job_id: job.id,
  point,
  backend: job.backend,
  hardware: isHardware(backend),
  ...provenance,
  completed_at: job.completedAt?.toISOString() ?? null
})

const circuitView = ({ hardware, ...circuit }: ComparedCircuit): Static<typeof Circuit> => ({
  ...circuit,
  hardware: hardware && {
    a_calibration_id: hardware.sealed_calibration_id,
    b_calibration_id: hardware.rerun_calibration_id,
    elapsed_seconds: hardware.elapsed_seconds
  }
})

export const isHardware = (backend: Backend | null): boolean => backend?.deviceType === 'qpu'
