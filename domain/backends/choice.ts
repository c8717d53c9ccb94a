// Chooses the backend of a job that asks for `auto`: the cheapest that can take it, then the one with the shortest queue, then
// the first of the catalogue. The choice is stored with the job, with the reason for each candidate.

import { codeOf, ServiceError } from '../errors.js'
import { circuitsOf } from '../jobs/params/circuits.js'
import type { ProgramKind } from '../jobs/source.js'
import type { BackendChoice, Candidate, Wishes } from '../jobs/submission.js'
import { estimateRuns, isFree, type Pricing } from '../money/cost.js'
import { formatUsd, type MicroUsd, usdFromMicro } from '../money/money.js'
import {
  assertParams,
  assertParamsOfAny,
  type Backend,
  type BackendParams,
  isAtProvider,
  runsProgram,
  unavailableReason
} from './backend.js'
import { missingForJob } from './provider-credentials.js'
import { credentialsOfProvider } from './quantum-providers.js'

/** The job for which a backend is chosen. */
export interface ChoiceJob {
  /** Of each run: a sweep has several. */
  shots: readonly number[]
  program: ProgramKind
  /** Of each run. */
  circuitCount: number
  /** The number of qubits of its circuit, where the source shows it. */
  qubits: number | null
  params: BackendParams
  /** The submission's own cap. */
  maxCost: MicroUsd | null
}

/** What the team and the caller can use. */
export interface Means {
  /** The names of the values that the team has stored for each provider. */
  credentials: ReadonlyMap<string, readonly string[]>
  /** Why the caller's key cannot pay this price; `null` when it can. */
  payRefusal(pricing: Pricing): string | null
}

/** Of the message that refuses a job which no backend can take. */
const MESSAGE_MAX = 4_000

/**
 * @param backends in the order of the catalogue.
 * @throws ServiceError `backend_unavailable` with the reason for each backend when none can take the job;
 * `validation_error` for parameters that no backend takes.
 */
export function chooseBackend(
  backends: readonly Backend[],
  wishes: Wishes,
  job: ChoiceJob,
  means: Means,
  at: Date
): { backend: Backend; choice: BackendChoice } {
  assertParamsOfAny(job.params)
  const circuits: Circuits = { atProvider: circuitsOf(job.params, true), here: circuitsOf(job.params, false) }
  const rated = backends.map((backend) => rate(backend, wishes, job, circuits, means))
  const usable = rated.filter(({ problems }) => problems.length === 0).sort(byPriceAndQueue)
  const [first] = usable
  if (!first) throw noneUsable(rated)
  const others = rated.filter(({ problems }) => problems.length > 0)
  return {
    backend: first.backend,
    choice: {
      asked: {
        max_cost_usd: wishes.maxCost === null ? null : usdFromMicro(wishes.maxCost),
        max_wait_seconds: wishes.maxWaitSeconds,
        min_qubits: wishes.minQubits,
        hardware: wishes.hardware
      },
      chosen: first.backend.slug,
      at: at.toISOString(),
      candidates: [
        ...usable.map((one) => candidateOf(one, one === first ? chosenReason(usable) : laterReason(one, first))),
        ...others.map((one) => candidateOf(one, one.problems.join('; ')))
      ]
    }
  }
}

interface Rated {
  backend: Backend
  cost: MicroUsd
  /** `null`: unknown. */
  waitSeconds: number | null
  qubits: number | null
  problems: string[]
}

/** How many circuits the job's parameters make of one. */
interface Circuits {
  atProvider: number
  here: number
}

function rate(backend: Backend, wishes: Wishes, job: ChoiceJob, circuits: Circuits, means: Means): Rated {
  const each = isAtProvider(backend) ? circuits.atProvider : circuits.here
  const cost = estimateRuns(backend.pricing, job.shots, job.circuitCount * each)
  // A simulator of this service has no queue of its own: its jobs take turns with all others.
  const waitSeconds = backend.engine !== null ? 0 : backend.queueTimeSeconds
  const qubits = backend.maxQubits ?? backend.qubitCount
  const rated = { backend, cost, waitSeconds, qubits }
  return { ...rated, problems: [...useProblems(rated, job, means), ...wishProblems(rated, wishes)] }
}

type Measured = Omit<Rated, 'problems'>

/** Why the backend cannot take the job. */
function useProblems({ backend, cost, qubits }: Measured, job: ChoiceJob, means: Means): string[] {
  const { provider, maxShots } = backend
  const problems: string[] = []
  const unavailable = unavailableReason(backend)
  if (unavailable) problems.push(unavailable)
  const credentials = backend.engine === null ? credentialsOfProvider[provider] : undefined
  const names = credentials && means.credentials.get(credentials)
  if (credentials && !names) problems.push(`the team has no credentials for ${provider}`)
  const missing = names && missingForJob(credentials, names, backend)
  if (missing) problems.push(missing)
  if (!runsProgram(backend, job.program))
    problems.push(job.program === 'analog' ? 'it takes no analog programs' : 'it takes no circuits')
  if (maxShots !== null && Math.max(...job.shots) > maxShots) problems.push(`it takes at most ${maxShots} shots`)
  if (job.qubits !== null && qubits !== null && job.qubits > qubits)
    problems.push(`too narrow: it has ${qubits} qubits, the circuit ${job.qubits}`)
  const paramsProblem = paramsProblemOf(backend, job)
  if (paramsProblem) problems.push(paramsProblem)
  const payRefusal = isFree(backend.pricing) ? null : means.payRefusal(backend.pricing)
  if (payRefusal) problems.push(payRefusal)
  if (job.maxCost !== null && cost > job.maxCost) problems.push(tooExpensive(cost, job.maxCost))
  return problems
}

function paramsProblemOf(backend: Backend, { params }: ChoiceJob): string | null {
  try {
    assertParams(backend, params)
    return null
  } catch (error) {
    if (codeOf(error) !== 'validation_error') throw error
    return (error as Error).message
  }
}

/** Which wishes the backend does not meet. */
function wishProblems({ backend, cost, waitSeconds, qubits }: Measured, wishes: Wishes): string[] {
  const { maxCost, maxWaitSeconds, minQubits, hardware } = wishes
  const problems: string[] = []
  if (hardware === true && backend.deviceType !== 'qpu') problems.push('it is a simulator')
  if (hardware === false && backend.deviceType === 'qpu') problems.push('it is a quantum computer')
  if (minQubits !== null && (qubits === null || qubits < minQubits))
    problems.push(qubits === null ? 'its width is unknown' : `too narrow: it has ${qubits} qubits`)
  if (maxCost !== null && cost > maxCost) problems.push(tooExpensive(cost, maxCost))
  if (maxWaitSeconds !== null && (waitSeconds === null || waitSeconds > maxWaitSeconds))
    problems.push(waitSeconds === null ? 'its queue is unknown' : `its queue takes about ${waitSeconds} s`)
  return problems
}

const tooExpensive = (cost: MicroUsd, most: MicroUsd): string =>
  `too expensive: ${formatUsd(cost)}, more than ${formatUsd(most)}`

/** An unknown queue comes last. The sort keeps the order of the catalogue among equals. */
function byPriceAndQueue(one: Rated, other: Rated): number {
  if (one.cost !== other.cost) return one.cost < other.cost ? -1 : 1
  const [wait, otherWait] = [one, other].map(({ waitSeconds }) => waitSeconds ?? Number.MAX_SAFE_INTEGER)
  return wait! - otherWait!
}

function chosenReason(usable: readonly Rated[]): string {
  const [first, next] = usable
  if (!next) return 'the only one that can take the job'
  if (first!.cost < next.cost) return 'the cheapest'
  const price = `${first!.cost === 0n ? 'free' : 'the cheapest'}, as others are`
  return first!.waitSeconds === next.waitSeconds
    ? `${price}; the first of them in the catalogue`
    : `${price}; it has the shortest queue of them`
}

function laterReason({ cost, waitSeconds }: Rated, first: Rated): string {
  if (cost > first.cost) return 'it costs more'
  if (waitSeconds === first.waitSeconds) return 'it comes later in the catalogue'
  return waitSeconds === null ? 'its queue is unknown' : 'its queue is longer'
}

const candidateOf = ({ backend, cost, waitSeconds, qubits, problems }: Rated, reason: string): Candidate => ({
  backend: backend.slug,
  usable: problems.length === 0,
  reason,
  estimated_cost_usd: usdFromMicro(cost),
  wait_seconds: waitSeconds,
  max_qubits: qubits,
  hardware: backend.deviceType === 'qpu'
})

/** Backends with the same reason share a part of the message. */
function noneUsable(rated: readonly Rated[]): ServiceError {
  const slugs = new Map<string, string[]>()
  for (const { backend, problems } of rated) {
    const reason = problems.join(', ')
    slugs.set(reason, [...(slugs.get(reason) ?? []), backend.slug])
  }
  const reasons = [...slugs].map(([reason, names]) => `${names.join(', ')}: ${reason}`).join('; ')
  const message = `backend: auto finds none that can take this job. ${reasons}`
  return new ServiceError(
    'backend_unavailable',
    message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX - 1)}…` : message
  )
}
