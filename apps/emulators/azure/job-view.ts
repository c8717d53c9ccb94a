// A job as Azure returns it. Addresses have signatures that are valid for a while from this response on.
import { isoTime } from '../clock.js'
import type { Job } from './job.js'
import type { AzureParts } from './parts.js'
import { type Place, signedQuery } from './storage/sas.js'

/** The address of a place that allows these operations. `base` is the address of the service. */
export function signedAddress(
  place: Place,
  permissions: string,
  base: string,
  { clock, settings }: Pick<AzureParts, 'clock' | 'settings'>
): string {
  const path = [place.account, place.container, ...(place.blob === null ? [] : place.blob.split('/'))]
  const query = signedQuery(place, permissions, clock.now() + settings.sasMs)
  return `${base}/${path.map(encodeURIComponent).join('/')}?${query}`
}

export function jobView(job: Job, base: string, parts: AzureParts): Record<string, unknown> {
  const { jobs } = parts
  const { id, request, output, createdBy } = job
  const { endedAt, state } = jobs.course(job)
  const status = jobs.status(job)
  const failure = jobs.failure(job)
  const cost = jobs.cost(job)
  return {
    id,
    name: request.name,
    itemType: 'Job',
    jobType: 'QuantumComputing',
    providerId: job.target.provider,
    target: job.target.id,
    status,
    creationTime: isoTime(job.submittedAt),
    createdBy: createdBy.name,
    createdByType: createdBy.type,
    containerUri: signedAddress({ ...output, blob: null }, 'rcwl', base, parts),
    ...(job.input && { inputDataUri: signedAddress(job.input, 'r', base, parts) }),
    inputDataFormat: request.inputDataFormat,
    inputParams: request.inputParams ?? {},
    outputDataUri: signedAddress(output, 'r', base, parts),
    outputDataFormat: request.outputDataFormat,
    metadata: request.metadata ?? null,
    priority: request.priority ?? 'Standard',
    tags: request.tags ?? [],
    quantumComputingData: { count: 1 },
    ...(state === 'COMPLETED' && { beginExecutionTime: isoTime(endedAt! - (job.endsAt - job.startsAt)) }),
    ...(endedAt !== null && { endExecutionTime: isoTime(endedAt) }),
    ...(state === 'CANCELLED' && { cancellationTime: isoTime(endedAt!) }),
    ...(cost !== null && { costEstimate: costView(job, cost) }),
    ...(failure && { errorData: failure })
  }
}

function costView({ target, program }: Job, total: number): Record<string, unknown> {
  const { task, shot } = target.price
  const shots = program.kind === 'failed' ? 0 : program.shots
  const event = (id: string, name: string, unit: string, amount: number, price: number) => ({
    dimensionId: id,
    dimensionName: name,
    measureUnit: unit,
    amountBilled: amount,
    amountConsumed: amount,
    unitPrice: price
  })
  return {
    currencyCode: 'USD',
    events: total === 0 ? [] : [event('job', 'Job', 'job', 1, task), event('shot', 'Shot', 'shot', shots, shot)],
    estimatedTotal: total
  }
}
