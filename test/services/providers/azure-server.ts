// All of Azure's services on one local server, which answers what a test wants and keeps what it was sent.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import type { ProviderJobRequest } from '../../../services/providers/adapter.js'

export interface Asked {
  service: Service
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  text: string
}

export interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: string | object
}

type Answering = Answer | ((asked: Asked) => Answer)

export type Service = 'token' | 'manager' | 'status' | 'sas' | 'upload' | 'create' | 'job' | 'cancel' | 'blob'

/** Whatever must be in no message begins with it. */
export const CANARY = 'canary'

export const principal: Credentials = {
  subscription_id: '11111111-2222-3333-4444-555555555555',
  resource_group: 'Group_(1)',
  workspace_name: 'Workspace-1',
  location: 'eastus',
  tenant_id: '99999999-2222-3333-4444-555555555555',
  client_id: '88888888-2222-3333-4444-555555555555',
  client_secret: `${CANARY}~client-secret`
}

const { tenant_id: _tenant, client_id: _client, client_secret: _secret, ...workspace } = principal
export const keyed: Credentials = { ...workspace, api_key: `${CANARY}-api-key` }

export const account = '11111111-2222-3333-4444-555555555555/group_(1)/workspace-1'

const HOUR_MS = 3_600_000

const statusOf = (id: string, currentAvailability = 'Available') => ({
  id,
  currentAvailability,
  averageQueueTime: 12.4
})

export async function startAzure() {
  const asked: Asked[] = []
  let answers: Record<Service, Answering>
  let tokens = 0

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', address)
    const method = request.method ?? ''
    const path = url.pathname
    const one = { service: serviceOf(method, path), method, path, query: url.searchParams, headers: request.headers }
    const whole: Asked = { ...one, text: await text(request) }
    asked.push(whole)
    const given = answers[one.service]
    const { status = 200, headers = {}, body = '' } = typeof given === 'function' ? given(whole) : given
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const signed = (path: string, expiresInMs = HOUR_MS) =>
    `${address}/blobs/${path}?sv=2023-11-03&se=${encodeURIComponent(new Date(Date.now() + expiresInMs).toISOString())}&sig=${CANARY}%2Bsignature`

  const reset = () => {
    asked.length = 0
    tokens = 0
    answers = {
      token: () => ({ body: { token_type: 'Bearer', expires_in: 3600, access_token: `${CANARY}-token-${++tokens}` } }),
      manager: { body: { properties: { endpointUri: address } } },
      status: {
        body: {
          value: [
            { id: 'ionq', targets: [statusOf('ionq.simulator'), { ...statusOf('ionq.qpu.forte-1'), numQubits: 36 }] },
            {
              id: 'quantinuum',
              targets: [statusOf('quantinuum.qpu.h2-1', 'Degraded'), statusOf('quantinuum.sim.h2-1sc', 'Unavailable')]
            },
            { id: 'rigetti', targets: [statusOf('rigetti.sim.qvm'), statusOf('rigetti.qpu.resting', 'Resting')] }
          ],
          nextLink: null
        }
      },
      sas: ({ text: json }) => {
        const { containerName, blobName } = JSON.parse(json) as { containerName: string; blobName?: string }
        return { body: { sasUri: signed([containerName, blobName].filter(Boolean).join('/')) } }
      },
      upload: { status: 201 },
      create: ({ text: json }) => ({ status: 201, body: { ...JSON.parse(json), status: 'Waiting' } }),
      job: { status: 404, body: { error: { code: 'JobNotFound', message: 'There is no such job.' } } },
      cancel: { status: 204 },
      blob: { status: 404, headers: { 'x-ms-error-code': 'BlobNotFound' } }
    }
  }
  reset()

  return {
    address,
    /** Those of an adapter. */
    urls: { login: `${address}/login`, manager: `${address}/arm`, quantum: `${address}/q` },
    asked,
    /** The requests to a service so far. */
    askedOf: (service: Service): Asked[] => asked.filter((one) => one.service === service),
    answer: (given: Partial<Record<Service, Answering>>) => Object.assign(answers, given),
    /** An address in storage that carries a signature. */
    signed,
    reset,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((done) => server.close(() => done()))
    }
  }
}

export type Azure = Awaited<ReturnType<typeof startAzure>>

function serviceOf(method: string, path: string): Service {
  if (path.startsWith('/login/')) return 'token'
  if (path.startsWith('/arm/')) return 'manager'
  if (path.startsWith('/blobs/')) return method === 'PUT' ? 'upload' : 'blob'
  if (path.endsWith('/providerStatus')) return 'status'
  if (path.endsWith('/storage/sasUri')) return 'sas'
  if (path.endsWith(':cancel')) return 'cancel'
  return method === 'PUT' ? 'create' : 'job'
}

/** Every service refuses, and repeats all that it was sent. */
export const repeating =
  (status: number) =>
  ({ path, query, headers, text: sent }: Asked): Answer => {
    const all = `${path}?${query} ${decodeURIComponent(query.toString())} ${JSON.stringify(headers)} ${sent}`
    const message = `${all} https://a.blob.core.windows.net/job?se=1&sig=${CANARY}%2Bother ${'x'.repeat(400)}`
    return {
      status,
      headers: { 'x-ms-error-code': 'Refused' },
      body: { error: { code: 'Refused', message }, error_description: `AADSTS7000215: ${message}` }
    }
  }

/** X on qubit 0 of three, all measured, for each form. */
export const asymmetric = {
  ionq: {
    text: '{"qubits":3,"gateset":"qis","circuit":[{"gate":"x","targets":[0]}]}',
    qubits: 3,
    readout: { kind: 'qubits' as const, bits: [0, 1, 2], registers: [] }
  },
  quantinuum: {
    text: 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\ncreg c[3];\nx q[0];\nmeasure q -> c;\n',
    qubits: 3,
    readout: { kind: 'clbits' as const, bits: [0, 1, 2], registers: [{ name: 'c', size: 3 }] }
  },
  rigetti: {
    text: 'DECLARE ro BIT[3]\nX 0\nMEASURE 0 ro[0]\nMEASURE 1 ro[1]\nMEASURE 2 ro[2]\n',
    qubits: 3,
    readout: { kind: 'clbits' as const, bits: [0, 1, 2], registers: [{ name: 'ro', size: 3 }] }
  }
}

export const jobOf = (changes: Partial<ProviderJobRequest> = {}): ProviderJobRequest => ({
  token: createHash('sha256').update(randomUUID()).digest('hex'),
  target: 'quantinuum.qpu.h2-1',
  program: asymmetric.quantinuum,
  shots: 20,
  name: 'a job: of the team',
  ...changes
})
