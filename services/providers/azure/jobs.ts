// Jobs as Azure Quantum shows them.
import type { ProviderJobRequest, ProviderJobView } from '../adapter.js'
import { withoutSignatures } from './addresses.js'
import { textOf } from './answers.js'
import { isFree, targetOf } from './targets.js'

export interface AzureJob {
  id?: unknown
  target?: unknown
  status?: unknown
  outputDataFormat?: unknown
  outputDataUri?: unknown
  /** ISO-8601. */
  beginExecutionTime?: unknown
  endExecutionTime?: unknown
  costEstimate?: unknown
  errorData?: unknown
}

/** The id of the job with this token: a UUID whose bits are ours (RFC 9562, version 8). @param token hex SHA-256. */
export function jobIdOf(token: string): string {
  const variant = ((Number.parseInt(token.charAt(16), 16) & 0b0011) | 0b1000).toString(16)
  const parts = [token.slice(0, 8), token.slice(8, 12), `8${token.slice(13, 16)}`, variant + token.slice(17, 20)]
  return [...parts, token.slice(20, 32)].join('-')
}

export const isJob = ({ id }: AzureJob, expected: string): boolean =>
  typeof id === 'string' && id.toLowerCase() === expected.toLowerCase()

/** @param container with the signature by which Azure stores the results; this request alone contains it. */
export function bodyOf(
  { token, target: id, shots, name }: ProviderJobRequest,
  { container, input }: { container: string; input: string }
) {
  const target = targetOf(id)
  return {
    id: jobIdOf(token),
    name: name.replaceAll(/[^A-Za-z0-9 _-]/g, '-').slice(0, 100),
    providerId: target.provider,
    target: id,
    itemType: 'Job',
    containerUri: container,
    inputDataUri: input,
    inputDataFormat: target.inputFormat,
    outputDataFormat: target.outputFormat,
    inputParams: { shots }
  }
}

const statuses: Readonly<Record<string, ProviderJobView['status']>> = {
  Queued: 'queued',
  Waiting: 'queued',
  Executing: 'running',
  Finishing: 'running',
  // It can still complete.
  CancellationRequested: 'running',
  Cancelling: 'running',
  Succeeded: 'completed',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled'
}

export function viewOf(job: AzureJob): ProviderJobView {
  const raw = textOf(job.status)
  // A paid job is not given up because of an unknown word.
  const status = Object.hasOwn(statuses, raw) ? statuses[raw]! : 'running'
  const hasEnded = status !== 'queued' && status !== 'running'
  return {
    status,
    raw,
    queuePosition: null,
    predictedWaitSeconds: null,
    ...(hasEnded ? chargeOf(job, status) : { cost: null }),
    failure: status === 'failed' ? reasonOf(job.errorData) : null
  }
}

function reasonOf(errorData: unknown): string | null {
  const { code, message } = (errorData ?? {}) as { code?: unknown; message?: unknown }
  const words = [code, message].filter((word) => typeof word === 'string' && word !== '').join(': ')
  return words === '' ? null : withoutSignatures(words).slice(0, 1000)
}

type Charge = Pick<ProviderJobView, 'cost' | 'usage' | 'isUsagePending'>

interface CostEstimate {
  currencyCode?: unknown
  estimatedTotal?: unknown
  events?: unknown
}

/** Azure's own figure, which can come some time after the end. Only USD is money here: other currencies are usage. */
function chargeOf(job: AzureJob, status: ProviderJobView['status']): Charge {
  const { currencyCode: unit, estimatedTotal: total, events } = (job.costEstimate ?? {}) as CostEstimate
  if (isAmount(total) && typeof unit === 'string' && /^[\w ]{1,20}$/.test(unit)) {
    if (unit.toUpperCase() !== 'USD') return { cost: null, usage: { amount: total, unit } }
    const usage = usageOf(events)
    return { cost: BigInt(Math.round(total * 1e6)), ...(usage && { usage }) }
  }
  // What never ran is not charged.
  const ran = status === 'completed' || !Number.isNaN(timeOf(job.beginExecutionTime))
  if (!ran) return { cost: 0n }
  return isFree(textOf(job.target)) ? { cost: null } : { cost: null, isUsagePending: true }
}

/** What was consumed, where all of it has one unit. */
function usageOf(events: unknown): ProviderJobView['usage'] | null {
  if (!Array.isArray(events) || events.length === 0) return null
  const used = (events as ({ amountConsumed?: unknown; measureUnit?: unknown } | null)[]).map((event) => ({
    amount: event?.amountConsumed,
    unit: event?.measureUnit
  }))
  const unit = used[0]!.unit
  if (typeof unit !== 'string' || !used.every((one) => one.unit === unit && isAmount(one.amount))) return null
  return { amount: used.reduce((sum, { amount }) => sum + (amount as number), 0), unit: unit.slice(0, 40) }
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e9

/** Milliseconds; `NaN` where there is no time. */
export const timeOf = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN)

/** How long the job ran, by Azure's clock. */
export function durationOf({ beginExecutionTime, endExecutionTime }: AzureJob): number | null {
  const ms = timeOf(endExecutionTime) - timeOf(beginExecutionTime)
  return ms >= 0 ? ms : null
}
