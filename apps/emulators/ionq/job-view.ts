// Jobs in IonQ's response format.
import { isoTime } from '../clock.js'
import { finalStates, type Job, type JobStore } from './jobs.js'

const submitterId = '5f0c1e8a2b7d4c3e9a6f1d20'
export const projectId = '0b6d3c52-4f1e-4a6b-9d0c-2e7f8a913b54'

const mediaType = 'application/json'

/** The artifacts of a completed job, by id; the name of the format describes the content. */
export const artifactFormats: Record<string, string> = {
  probabilities: 'ionq.result.probabilities.json.v1',
  histogram: 'ionq.result.histogram.json.v1',
  shots: 'ionq.result.shots.json.v1',
  'shots-v2': 'ionq.result.shots.json.v2'
}

export function jobView(store: JobStore, job: Job, now: number): Record<string, unknown> {
  const { request, device } = job
  const state = store.state(job)
  const { startedAt, endedAt } = store.times(job)
  const failure = state === 'failed' ? store.failure(job) : null
  const { startsAt } = store.course(job)
  const waiting = !finalStates.includes(state) && startedAt === null
  return {
    id: job.id,
    status: state,
    type: job.type,
    backend: device.name,
    dry_run: request.dryRun,
    cost_model: '2QGE_operations',
    submitter_id: submitterId,
    project_id: projectId,
    parent_job_id: job.parentId,
    child_job_ids: job.children.length > 0 ? job.children.map(({ id }) => id) : null,
    session_id: null,
    metadata: request.metadata,
    name: request.name,
    submitted_at: isoTime(job.submittedAt),
    started_at: startedAt === null ? null : isoTime(startedAt),
    completed_at: state === 'completed' && endedAt !== null ? isoTime(endedAt) : null,
    predicted_wait_time_ms: waiting && Number.isFinite(startsAt) ? Math.ceil(startsAt - now) : null,
    predicted_execution_duration_ms: job.endsAt - job.startsAt,
    execution_duration_ms: state === 'completed' ? job.endsAt - job.startsAt : null,
    ...(!device.exact && { shots: request.shots }),
    ...(device.name === 'simulator' && { noise: request.noise ?? { model: 'ideal' } }),
    failure: failure && { code: failure.code, message: failure.message },
    settings: request.settings,
    stats: {
      ...(state !== 'submitted' && { qubits: store.qubits(job), gate_counts: store.gateCounts(job) }),
      circuits: Math.max(1, job.children.length)
    },
    output: {},
    results: state === 'completed' && !request.dryRun ? resultsView(job) : null
  }
}

// Both forms that accounts get today: an address, and artifacts by their format.
function resultsView(job: Job): Record<string, unknown> {
  if (job.children.length > 0) {
    const format = 'ionq.result.probabilities-aggregate.json.v1'
    return { [format]: { id: 'probabilities-aggregate', format, media_type: mediaType } }
  }
  const ids = job.device.exact ? ['probabilities'] : Object.keys(artifactFormats)
  const artifacts = ids.map((id) => {
    const format = artifactFormats[id]!
    return [format, { id, format, media_type: mediaType }] as const
  })
  return {
    probabilities: { url: `/v0.4/jobs/${job.id}/results/probabilities` },
    ...Object.fromEntries(artifacts)
  }
}

/** Keyed by the outcome as a decimal number. */
export const decimalMap = (values: ReadonlyMap<number, number>): Record<string, number> =>
  Object.fromEntries([...values].map(([outcome, value]) => [String(outcome), value]))

/** The content of an artifact; null if the job has none with this id. */
export function artifact(store: JobStore, job: Job, id: string): unknown {
  if (id === 'probabilities-aggregate') return aggregate(store, job)
  const result = store.result(job)
  if (!result) return null
  if (id === 'probabilities') return decimalMap(result.probabilities)
  if (id === 'histogram') return result.counts && decimalMap(result.counts)
  const shots = store.shots(job)
  if (id === 'shots') return shots?.map(String) ?? null
  if (id === 'shots-v2') {
    const qubits = store.qubits(job)
    return shots && { shots: shots.map((outcome) => ({ registers: { output_all: bitsOf(outcome, qubits) } })) }
  }
  return null
}

/** The probabilities of each circuit of a completed multi-circuit job, by the child's id. */
export function aggregate(store: JobStore, job: Job): Record<string, unknown> | null {
  if (job.children.length === 0 || store.state(job) !== 'completed' || job.request.dryRun) return null
  const results = job.children.map((child) => [child.id, store.result(child)] as const)
  if (results.some(([, result]) => result === null)) return null
  return Object.fromEntries(results.map(([id, result]) => [id, decimalMap(result!.probabilities)]))
}

// Array index = qubit.
const bitsOf = (outcome: number, qubits: number): number[] =>
  Array.from({ length: qubits }, (_, qubit) => Math.floor(outcome / 2 ** qubit) % 2)
