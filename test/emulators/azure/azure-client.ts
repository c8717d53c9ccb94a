// Calls the emulated Azure over HTTP: a token from the directory, an upload with a signed address, the routes of the workspace.
import { randomUUID } from 'node:crypto'
import { type Emulators, startEmulators } from '../../../apps/emulators/emulators.js'
import type { Timing } from '../../../apps/emulators/provider.js'

export interface AzureCredentials {
  subscription_id: string
  resource_group: string
  workspace_name: string
  location: string
  tenant_id?: string
  client_id?: string
  client_secret?: string
  api_key?: string
}

export interface ListedKey {
  id: string
  active: boolean
  credentials: AzureCredentials
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the provider sends; the tests look into it
  body: any
}

export interface Calling {
  /** Instead of the described credentials. */
  as?: AzureCredentials
  /** Instead of a new token or the key of the credentials. */
  headers?: Record<string, string>
  /** The workspace to ask, if it is not that of the credentials. */
  of?: AzureCredentials
  limitMs?: number
}

export const scopes = {
  management: 'https://management.azure.com/.default',
  quantum: 'https://quantum.microsoft.com/.default'
}

export const version = 'api-version=2026-01-15-preview'

/** The path of a workspace. */
export const pathOf = ({ subscription_id, resource_group, workspace_name }: AzureCredentials): string =>
  `/subscriptions/${subscription_id}/resourceGroups/${resource_group}/providers/Microsoft.Quantum/workspaces/${workspace_name}`

const formats: Record<string, [input: string, output: string]> = {
  ionq: ['ionq.circuit.v1', 'ionq.quantum-results.v1'],
  quantinuum: ['honeywell.openqasm.v1', 'honeywell.quantum-results.v1'],
  rigetti: ['rigetti.quil.v1', 'rigetti.quil-results.v1']
}

/** X on qubit 0 of three, in the format of each provider. */
export const programs: Record<string, string> = {
  ionq: JSON.stringify({ qubits: 3, gateset: 'qis', circuit: [{ gate: 'x', targets: [0] }] }),
  quantinuum: 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\ncreg c[3];\nx q[0];\nmeasure q -> c;\n',
  rigetti: 'DECLARE ro BIT[3]\nX 0\nMEASURE 0 ro[0]\nMEASURE 1 ro[1]\nMEASURE 2 ro[2]\n'
}

export interface JobParts {
  target?: string
  program?: string
  shots?: number
  /** Fields of the request that replace its own. */
  changes?: Record<string, unknown>
}

export type Azure = Awaited<ReturnType<typeof startAzure>>

export async function startAzure(timing: Partial<Timing> = { queueMs: 60_000, runMs: 60_000 }) {
  const emulators: Emulators = await startEmulators({ timing })
  const { base_url, control_url, credentials, control, variables } = emulators.provider('azure-quantum')
  const described = credentials as unknown as AzureCredentials

  const fetched = async (url: string, init: RequestInit & { limitMs?: number | undefined } = {}): Promise<Answer> => {
    const { limitMs = 20_000, ...rest } = init
    return answerOf(await fetch(url, { ...rest, signal: AbortSignal.timeout(limitMs) }))
  }

  /** Asks the directory. */
  const token = (scope: string, own: AzureCredentials = described, changes: Record<string, string> = {}) =>
    fetched(`${base_url}/${own.tenant_id}/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: own.client_id ?? '',
        client_secret: own.client_secret ?? '',
        scope,
        ...changes
      })
    })

  async function authorized(scope: string, own: AzureCredentials): Promise<Record<string, string>> {
    if (own.api_key !== undefined) return { 'x-ms-quantum-api-key': own.api_key }
    const { status, text, body } = await token(scope, own)
    if (status !== 200) throw new Error(text)
    return { authorization: `Bearer ${body.access_token}` }
  }

  /** Asks the workspace for what is below its path. */
  async function call(method: string, path: string, body?: unknown, calling: Calling = {}): Promise<Answer> {
    const { as: own = described, of: workspace = own, limitMs } = calling
    const headers = calling.headers ?? (await authorized(scopes.quantum, own))
    const query = path.includes('api-version') ? '' : `${path.includes('?') ? '&' : '?'}${version}`
    return fetched(/^https?:/.test(path) ? path : `${base_url}${pathOf(workspace)}${path}${query}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      limitMs
    })
  }

  /** Asks Resource Manager for the workspace. */
  async function manager(calling: Calling = {}): Promise<Answer> {
    const { as: own = described, of: workspace = own } = calling
    const headers = calling.headers ?? (await authorized(scopes.management, own))
    return fetched(`${base_url}${pathOf(workspace)}?api-version=2025-12-15-preview`, { headers })
  }

  async function sasUri(containerName: string, blobName?: string, calling?: Calling): Promise<string> {
    const { status, text, body } = await call('POST', '/storage/sasUri', { containerName, blobName }, calling)
    if (status !== 200) throw new Error(text)
    return body.sasUri
  }

  /** Stores a blob in a container whose address is signed. */
  const upload = (container: string, blob: string, content: string, headers: Record<string, string> = {}) =>
    fetched(within(container, blob), {
      method: 'PUT',
      headers: { 'x-ms-blob-type': 'BlockBlob', 'content-type': 'application/octet-stream', ...headers },
      body: content
    })

  /** Uploads a program and returns the body of the request for its job. */
  async function prepared(
    id: string,
    { target = 'quantinuum.qpu.h2-1', program, shots = 10, changes = {} }: JobParts = {},
    calling?: Calling
  ): Promise<Record<string, unknown>> {
    const [providerId = ''] = target.split('.')
    const [inputDataFormat = '', outputDataFormat = ''] = formats[providerId] ?? []
    const containerUri = await sasUri(`job-${id}`, undefined, calling)
    const stored = await upload(containerUri, 'inputData', program ?? programs[providerId] ?? '')
    if (stored.status !== 201) throw new Error(stored.text)
    return {
      id,
      name: 'a job',
      providerId,
      target,
      itemType: 'Job',
      containerUri,
      inputDataUri: within(containerUri, 'inputData').split('?')[0],
      inputDataFormat,
      outputDataFormat,
      inputParams: { shots },
      ...changes
    }
  }

  const put = (id: string, body: unknown, calling?: Calling) => call('PUT', `/jobs/${id}`, body, calling)
  const job = (id: string, calling?: Calling) => call('GET', `/jobs/${id}`, undefined, calling)

  async function submit(parts: JobParts = {}, calling?: Calling, id: string = randomUUID()): Promise<Answer> {
    return put(id, await prepared(id, parts, calling), calling)
  }

  return {
    baseUrl: base_url,
    controlUrl: control_url,
    variables,
    described,
    control,
    fetched,
    token,
    call,
    manager,
    sasUri,
    upload,
    prepared,
    put,
    job,
    submit,
    /** Submits a job and returns its id. */
    async accepted(parts: JobParts = {}, calling?: Calling): Promise<string> {
      const { status, text, body } = await submit(parts, calling)
      if (status !== 201) throw new Error(text)
      return body.id
    },
    /** Runs a job to its end and returns its record and its result, null without one. */
    async run(parts: JobParts = {}) {
      const { status, text, body } = await submit(parts)
      if (status !== 201) throw new Error(text)
      control.advance(180_000)
      const record = (await job(body.id)).body
      const found = await fetched(record.outputDataUri)
      return { record, result: found.status === 200 ? JSON.parse(found.text) : null }
    },
    keys: async (): Promise<ListedKey[]> => (await fetched(`${control_url}/keys`)).body.keys,
    steer: (method: string, path: string, body?: unknown) =>
      fetched(`${control_url}${path}`, {
        method,
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      }),
    close: () => emulators.close()
  }
}

/** The address of a blob in a container whose address is signed. */
export const within = (container: string, blob: string): string => {
  const [place, query] = container.split('?')
  return `${place}/${blob}?${query}`
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: json ? parsed(text) : null }
}

// A result is stored as JSON, but a test may have stored anything.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The words in which a service refuses. */
export const errorOf = ({ status, body, text }: Answer): [number, string | null] => [
  status,
  typeof body?.error === 'string' ? body.error : (body?.error?.code ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? null)
]
