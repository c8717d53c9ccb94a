// Calls the emulated IBM Cloud over HTTP as IBM's documentation describes.
import { type Emulators, startEmulators } from '../../../apps/emulators/emulators.js'
import type { Timing } from '../../../apps/emulators/provider.js'

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the provider sends; the tests look into it
  body: any
}

export type Ibm = Awaited<ReturnType<typeof startIbm>>

export async function startIbm(timing: Partial<Timing> = { queueMs: 60_000, runMs: 60_000 }) {
  const emulators: Emulators = await startEmulators({ timing })
  const { base_url, control_url, credentials, control, variables } = emulators.provider('ibm-quantum')
  const { token, instance } = credentials as { token: string; instance: string }
  let cached = { token: '', expiresAt: 0 }

  /** Exchanges an API key at IAM. */
  const exchange = async (apikey: string, form: Record<string, string> = {}): Promise<Answer> =>
    answerOf(
      await fetch(`${variables.IAM_URL}/identity/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey, ...form })
      })
    )
  const accessToken = async (apikey = token): Promise<string> => {
    const { text, body } = await exchange(apikey)
    if (!body?.access_token) throw new Error(text)
    return body.access_token
  }

  /** @param headers replace those of the described credentials; an empty one is left out. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {}
  ): Promise<Answer> {
    if (headers.authorization === undefined && Date.parse(control.advance(0)) >= cached.expiresAt) {
      const token = await accessToken()
      cached = { token, expiresAt: claimsOf(token).exp * 1000 }
    }
    const all = {
      authorization: `Bearer ${cached.token}`,
      'service-crn': instance,
      'ibm-api-version': '2026-04-15',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers
    }
    return answerOf(
      await fetch(`${base_url}${path}`, {
        method,
        headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
        signal: AbortSignal.timeout(20_000)
      })
    )
  }

  async function accepted(changes: Record<string, unknown> = {}): Promise<string> {
    const { status, text, body } = await call('POST', '/jobs', aJob(changes))
    if (status !== 200) throw new Error(text)
    return body.id
  }

  return {
    baseUrl: base_url,
    controlUrl: control_url,
    variables,
    token,
    instance,
    control,
    exchange,
    accessToken,
    call,
    job: async (id: string) => (await call('GET', `/jobs/${id}?exclude_params=true`)).body,
    steer: async (method: string, path: string, body?: unknown): Promise<Answer> =>
      answerOf(
        await fetch(`${control_url}${path}`, {
          method,
          ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
        })
      ),
    submit: (changes: Record<string, unknown> = {}) => call('POST', '/jobs', aJob(changes)),
    /** Submits a job and returns its id. */
    accepted,
    /** Runs a job to its end and returns its record, and its result, null without one. */
    async run(changes: Record<string, unknown> = {}) {
      const id = await accepted(changes)
      control.advance(200_000)
      const record = (await call('GET', `/jobs/${id}`)).body
      const found = await call('GET', `/jobs/${id}/results`)
      return { record, result: found.status === 200 ? found.body : null }
    },
    close: () => emulators.close()
  }
}

export const claimsOf = (token: string): { iat: number; exp: number } =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'))

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : null }
}

/** In the form in which the executor compiles for IBM. */
export const isa = (text: string): string => `OPENQASM 3.0;\ninclude "stdgates.inc";\n${text}`

/** X on qubit 0 of three. */
export const firstOfThree = isa('bit[3] c;\nx $0;\nc[0] = measure $0;\nc[1] = measure $1;\nc[2] = measure $2;\n')

export const aJob = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  program_id: 'sampler',
  backend: 'ibm_fez',
  params: { pubs: [[firstOfThree, null, 10]], support_qiskit: false, version: 2 },
  ...changes
})

/** The parameters of one circuit. */
export const circuit = (source: string, shots: number | null = 10, more: Record<string, unknown> = {}) => ({
  params: { pubs: [[source, null, shots]], support_qiskit: false, version: 2, ...more }
})

/** In IBM's form, which every refusal of its API has. */
export const errorOf = ({ status, body }: Answer): [number, number | undefined, string | undefined] => [
  status,
  body?.errors?.[0]?.code,
  body?.errors?.[0]?.message
]
