// Jobs as IBM Quantum takes and shows them.
import type { ProviderJobRequest, ProviderJobView } from '../adapter.js'
import { type Answer, countOf, partOf, textOf } from './answers.js'

/** IBM's limit for the seconds of a job. */
const SECONDS_MAX = 10_800
/** No job of one device uses more. */
const USED_SECONDS_MAX = 1_000_000

/** Of `Cancelled - Ran too long`: the job needed more seconds than its `cost`. */
const RAN_TOO_LONG = 1305

/** @see the schema of the program `sampler`. The token is the only tag: the list of jobs can be filtered by it. */
export function bodyOf({ token, target, program, shots, secondsMax }: ProviderJobRequest) {
  return {
    program_id: 'sampler',
    backend: target,
    params: { pubs: [[program.text, null, shots]], support_qiskit: false, version: 2 },
    tags: [token],
    ...(secondsMax !== undefined && { cost: Math.max(1, Math.min(Math.floor(secondsMax), SECONDS_MAX)) })
  }
}

export const isTagged = (job: unknown, token: string): boolean => {
  const { tags } = partOf(job)
  return Array.isArray(tags) && tags.includes(token)
}

const statuses: Readonly<Record<string, ProviderJobView['status']>> = {
  Queued: 'queued',
  Running: 'running',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled'
}

type Used = Pick<ProviderJobView, 'usage' | 'isUsagePending'>

/** `state.status` is the status; `status` can say more, such as `Cancelled - Ran too long`. */
export function viewOf({ state, status: summary, usage }: Answer): ProviderJobView {
  const { status, reason, reason_code, reason_solution } = partOf(state)
  const word = textOf(status, 100) ?? textOf(summary, 100) ?? 'no status'
  const code = countOf(reason_code)
  // IBM ended it itself: nobody cancelled it.
  const ended = [textOf(summary, 100), word].find((text) => text?.startsWith('Cancelled - '))
  const isTooLong = ended !== undefined || code === RAN_TOO_LONG
  // A paid job is not given up because of an unknown word.
  const known = statusOf(word)
  const ours = isTooLong && known === 'cancelled' ? 'failed' : known
  const used: Used = known === 'queued' || known === 'running' ? {} : usageOf(usage)
  const words = [ended, textOf(reason, 600), textOf(reason_solution, 300)].filter((text) => typeof text === 'string')
  return {
    status: ours,
    raw: ended ?? word,
    queuePosition: null,
    predictedWaitSeconds: null,
    // IBM names seconds, and no money; but a job without a result and without seconds is free.
    cost: (ours === 'failed' || ours === 'cancelled') && used.usage?.amount === 0 ? 0n : null,
    ...used,
    failure: words.length === 0 ? null : `${sentences(words)}${code === null ? '' : ` (error ${code})`}`
  }
}

const sentences = (words: string[]): string => words.map((text) => text.replace(/\.$/, '')).join('. ')

function statusOf(word: string): ProviderJobView['status'] {
  const first = word.split(' - ')[0]!
  return Object.hasOwn(statuses, first) ? statuses[first]! : 'running'
}

/** `quantum_seconds` is the name in older versions of the API. */
function usageOf(usage: unknown): Used {
  const { qpu_charge_time_seconds, quantum_seconds, status } = partOf(usage)
  if (status === 'pending') return { isUsagePending: true }
  const seconds = qpu_charge_time_seconds ?? quantum_seconds
  const isKnown = typeof seconds === 'number' && seconds >= 0 && seconds <= USED_SECONDS_MAX
  return isKnown ? { usage: { amount: seconds, unit: 'seconds' } } : {}
}
