// Resource Manager's view of a workspace, and the routes of the workspace itself.
import { jsonReply, type ProviderReply } from '../provider.js'
import { callerOf, workspaceOf } from './identity/access.js'
import type { Identity, Workspace } from './identity/identities.js'
import type { Job } from './job.js'
import { pageOfJobs } from './job-filter.js'
import { putJob } from './job-request.js'
import { jobView, signedAddress } from './job-view.js'
import type { AzureParts } from './parts.js'
import { AzureError } from './replies.js'

export interface WorkspaceRequest {
  method: string
  path: string
  query: string
  /** The address that the request was sent to. */
  base: string
  /** http or https */
  protocol: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

const workspacePath =
  /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Quantum\/workspaces\/([^/]+)(\/.*)?$/i

/** @throws AzureError */
export function answerWorkspace(request: WorkspaceRequest, parts: AzureParts): ProviderReply {
  const { method, path, query, headers } = request
  const match = workspacePath.exec(path)
  if (!match) throw unknown(request)
  const [, subscription = '', group = '', name = '', rest = ''] = match.map((part) => decodeURIComponent(part ?? ''))
  const ofManager = rest === ''
  const audience = ofManager ? 'https://management.azure.com' : 'https://quantum.microsoft.com'
  const caller = callerOf(headers, audience, parts.identities, parts.clock.now())
  const workspace = workspaceOf({ subscription, group, name }, caller)
  if (!/^\d{4}-\d\d-\d\d(-preview)?$/.test(new URLSearchParams(query).get('api-version') ?? ''))
    throw new AzureError(
      400,
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.'
    )
  if (ofManager && method === 'GET') return jsonReply(200, workspaceView(workspace, request.base))
  return answerRoute(rest, { ...request, caller, workspace }, parts)
}

const unknown = ({ method, path }: WorkspaceRequest): AzureError =>
  new AzureError(404, 'ResourceNotFound', `This emulator does not know ${method} ${path}.`)

type Authorized = WorkspaceRequest & { caller: Identity; workspace: Workspace }

function answerRoute(rest: string, request: Authorized, parts: AzureParts): ProviderReply {
  const { method, base, workspace } = request
  const [, collection, id, action] = /^\/(jobs)\/([^/:]+)(:cancel)?$/.exec(rest) ?? []
  if (collection) {
    const route = `${method} ${action ?? ''}`
    if (route === 'PUT ') {
      const { job, created } = putJob({ ...request, id: id!, sent: objectOf(request.body) }, parts)
      return jsonReply(created ? 201 : 200, jobView(job, base, parts))
    }
    if (route === 'GET ') return jsonReply(200, jobView(jobOf(id!, workspace, parts), base, parts))
    if (route === 'POST :cancel') return cancel(jobOf(id!, workspace, parts), base, parts)
    if (route === 'DELETE ') return remove(jobOf(id!, workspace, parts), parts)
    throw unknown(request)
  }
  switch (`${method} ${rest}`) {
    case 'GET /jobs':
      return listJobs(request, parts)
    case 'GET /providerStatus':
      return jsonReply(200, { value: providersView(parts) })
    case 'GET /quotas':
      return jsonReply(200, { value: [quota] })
    case 'POST /storage/sasUri':
      return signedUri(request, parts)
    default:
      throw unknown(request)
  }
}

function jobOf(id: string, workspace: Workspace, { jobs }: AzureParts): Job {
  const job = jobs.get(workspace, id)
  if (!job || job.deleted) throw new AzureError(404, 'JobNotFound', `The job ${id} does not exist.`)
  return job
}

function cancel(job: Job, base: string, parts: AzureParts): ProviderReply {
  if (!parts.jobs.cancel(job))
    throw new AzureError(409, 'Conflict', `The job is ${parts.jobs.status(job)} and cannot be cancelled.`)
  return jsonReply(200, jobView(job, base, parts))
}

function remove(job: Job, { jobs }: AzureParts): ProviderReply {
  if (!jobs.delete(job))
    throw new AzureError(409, 'Conflict', `The job is ${jobs.status(job)} and cannot be deleted before it has ended.`)
  return { status: 204, headers: {}, body: '' }
}

function listJobs({ path, query, base, workspace }: Authorized, parts: AzureParts): ProviderReply {
  const fields = new URLSearchParams(query)
  const { jobs, next } = pageOfJobs(parts.jobs.list(workspace), fields, parts.jobs)
  if (next !== null) fields.set('skip', String(next))
  return jsonReply(200, {
    value: jobs.map((job) => jobView(job, base, parts)),
    ...(next !== null && { nextLink: `${base}${path}?${fields}` })
  })
}

/** Creates the container, as the service does, and signs its address or that of one blob in it. */
function signedUri({ body, base, workspace }: Authorized, parts: AzureParts): ProviderReply {
  const { containerName, blobName = null } = objectOf(body)
  if (typeof containerName !== 'string' || (blobName !== null && (typeof blobName !== 'string' || blobName === '')))
    throw new AzureError(400, 'BadRequest', 'containerName must be a text, and blobName a text or left out.')
  const { storageAccount: account } = workspace
  parts.blobs.createContainer(account, containerName)
  const place = { account, container: containerName, blob: blobName as string | null }
  return jsonReply(200, { sasUri: signedAddress(place, blobName === null ? 'rcwl' : 'r', base, parts) })
}

const workspaceView = (
  { subscription, resourceGroup, name, location, storageAccount }: Workspace,
  base: string
): Record<string, unknown> => ({
  id: `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Quantum/Workspaces/${name}`,
  name,
  type: 'Microsoft.Quantum/Workspaces',
  location,
  tags: {},
  properties: {
    provisioningState: 'Succeeded',
    usable: 'Yes',
    workspaceKind: 'V2',
    endpointUri: base,
    apiKeyEnabled: true,
    storageAccount: `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Storage/storageAccounts/${storageAccount}`,
    providers: ['ionq', 'quantinuum', 'rigetti'].map((providerId) => ({ providerId, provisioningState: 'Succeeded' }))
  }
})

const availabilities = ['Available', 'Degraded', 'Unavailable'] as const

function providersView({ targets, jobs }: AzureParts): Record<string, unknown>[] {
  const averageQueueTime = Math.round(jobs.queueMs / 1000)
  const all = targets.offered()
  const byProvider = [...new Set(all.map(({ provider }) => provider))].map(
    (id) => [id, all.filter(({ provider }) => provider === id)] as const
  )
  return byProvider.map(([id, offered]) => ({
    id,
    // That of its best target.
    currentAvailability: availabilities.find((one) => offered.some((target) => targets.availability(target) === one)),
    targets: offered.map((target) => ({
      id: target.id,
      currentAvailability: targets.availability(target),
      averageQueueTime,
      numQubits: target.qubits
    }))
  }))
}

const quota = {
  dimension: 'hqc',
  scope: 'Subscription',
  providerId: 'quantinuum',
  utilization: 0,
  holds: 0,
  limit: 800,
  period: 'Monthly'
}

function objectOf(body: Buffer): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch {
    throw new AzureError(400, 'BadRequest', 'The body is not valid JSON.')
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed))
    throw new AzureError(400, 'BadRequest', 'The body is not a JSON object.')
  return parsed as Record<string, unknown>
}
