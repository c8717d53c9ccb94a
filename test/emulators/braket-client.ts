// Calls the emulated AWS over HTTP, with requests signed by AWS's own signer.
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { type Emulators, startEmulators } from '../../apps/emulators/emulators.js'
import type { Timing } from '../../apps/emulators/provider.js'

export const sv1 = 'arn:aws:braket:::device/quantum-simulator/amazon/sv1'
export const forte = 'arn:aws:braket:us-east-1::device/qpu/ionq/Forte-1'
export const garnet = 'arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet'
export const cepheus = 'arn:aws:braket:us-west-1::device/qpu/rigetti/Cepheus-1-108Q'
export const aquila = 'arn:aws:braket:us-east-1::device/qpu/quera/Aquila'
export const bucket = 'amazon-braket-emulated'

export interface AwsKeys {
  access_key_id: string
  secret_access_key: string
  session_token?: string
}

export interface Signing {
  keys?: AwsKeys
  region?: string
  service?: 'braket' | 's3' | 'sts'
  at?: Date
  headers?: Record<string, string>
  /** Changes the signed request before it is sent. */
  tamper?: (request: { path: string; headers: Record<string, string>; body: string }) => void
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the provider sends; the tests look into it
  body: any
}

export type Braket = Awaited<ReturnType<typeof startBraket>>

export async function startBraket(timing: Partial<Timing> = { queueMs: 60_000, runMs: 60_000 }) {
  const emulators: Emulators = await startEmulators({ timing })
  const { base_url, control_url, credentials, control, variables } = emulators.provider('aws-braket')
  const described = credentials as unknown as AwsKeys

  async function call(method: string, path: string, body?: unknown, signing: Signing = {}): Promise<Answer> {
    const { keys = described, region = 'us-east-1', at = new Date() } = signing
    const first = path.split(/[/?]/)[1] ?? ''
    const own = first === '' ? 'sts' : /^(quantum-|device)/.test(first) ? 'braket' : 's3'
    const service = signing.service ?? own
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const { host, hostname } = new URL(base_url)
    const [pathname = '', query = ''] = path.split('?')
    const signer = new SignatureV4({
      service,
      region,
      sha256: Sha256,
      uriEscapePath: service !== 's3',
      applyChecksum: true,
      credentials: {
        accessKeyId: keys.access_key_id,
        secretAccessKey: keys.secret_access_key,
        ...(keys.session_token !== undefined && { sessionToken: keys.session_token })
      }
    })
    const signed = await signer.sign(
      {
        method,
        protocol: 'http:',
        hostname,
        path: pathname,
        query: Object.fromEntries(new URLSearchParams(query)),
        headers: {
          host,
          'content-type': typeof body === 'object' ? 'application/json' : 'text/plain',
          ...signing.headers
        },
        ...(text !== '' && { body: text })
      },
      { signingDate: at }
    )
    const sent = { path, headers: signed.headers, body: text }
    signing.tamper?.(sent)
    const { host: _host, ...headers } = sent.headers
    return answerOf(
      await fetch(`${base_url}${sent.path}`, {
        method,
        headers,
        body: sent.body === '' ? null : sent.body,
        signal: AbortSignal.timeout(20_000)
      })
    )
  }

  const task = (arn: string, signing?: Signing) =>
    call('GET', `/quantum-task/${encodeURIComponent(arn)}`, undefined, signing)
  const result = (found: { outputS3Bucket: string; outputS3Directory: string }, signing?: Signing) =>
    call('GET', `/${found.outputS3Bucket}/${found.outputS3Directory}/results.json`, undefined, signing)

  return {
    baseUrl: base_url,
    controlUrl: control_url,
    variables,
    credentials: credentials as Record<string, string>,
    control,
    call,
    task,
    result,
    /** An unsigned request. */
    plain: async (method: string, path: string, body?: string) =>
      answerOf(await fetch(`${base_url}${path}`, { method, body: body ?? null })),
    async steer(method: string, path: string, body?: unknown): Promise<Answer> {
      const response = await fetch(`${control_url}${path}`, {
        method,
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      })
      return answerOf(response)
    },
    submit: (changes: Record<string, unknown> = {}, signing?: Signing) =>
      call('POST', '/quantum-task', aTask(changes), signing),
    /** Submits a task and returns its ARN. */
    async accepted(changes: Record<string, unknown> = {}, signing?: Signing): Promise<string> {
      const { status, text, body } = await call('POST', '/quantum-task', aTask(changes), signing)
      if (status !== 201) throw new Error(text)
      return body.quantumTaskArn
    },
    /** Runs a task to its end and returns its record and its result, null without one. */
    async run(changes: Record<string, unknown> = {}, signing?: Signing) {
      const { status, text, body } = await call('POST', '/quantum-task', aTask(changes), signing)
      if (status !== 201) throw new Error(text)
      control.advance(120_000)
      const record = (await task(body.quantumTaskArn, signing)).body
      const found = await result(record, signing)
      return { record, result: found.status === 200 ? found.body : null }
    },
    close: () => emulators.close()
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : null }
}

export const gateAction = (source: string, inputs?: Record<string, number>): string =>
  JSON.stringify({
    braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
    source,
    ...(inputs && { inputs })
  })

let tokens = 0

/** X on qubit 0 of three. */
export const aTask = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  deviceArn: sv1,
  shots: 10,
  outputS3Bucket: bucket,
  outputS3KeyPrefix: 'tests',
  action: gateAction('OPENQASM 3.0; qubit[3] q; bit[3] b; x q[0]; b = measure q;'),
  clientToken: `token-${tokens++}`,
  ...changes
})

/** The words in which a service refuses. */
export const errorOf = ({ status, headers, text }: Answer): [number, string | null] => [
  status,
  headers.get('x-amzn-errortype') ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? null
]
