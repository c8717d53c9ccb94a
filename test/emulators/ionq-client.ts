// Calls the emulated IonQ over HTTP as IonQ's documentation describes.
import { type Emulators, startEmulators } from '../../apps/emulators/emulators.js'
import type { Timing } from '../../apps/emulators/provider.js'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever the provider sends; the tests look into it
  body: any
}

export async function startIonq(timing: Partial<Timing> = { queueMs: 60_000, runMs: 60_000 }) {
  const emulators: Emulators = await startEmulators({ timing })
  const { base_url, control_url, credentials, control } = emulators.provider('ionq')
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    { authorization = `apiKey ${credentials.api_key}`, limitMs = 10_000 } = {}
  ): Promise<Answer> => {
    const response = await fetch(/^https?:/.test(path) ? path : `${base_url}${path}`, {
      method,
      headers: {
        ...(authorization && { authorization }),
        ...(body !== undefined && { 'content-type': 'application/json' })
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(limitMs)
    })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }
  return {
    control,
    controlUrl: control_url,
    call,
    steer: (method: string, path: string, body?: unknown) => call(method, `${control_url}${path}`, body),
    /** Submits a job and returns its id. */
    async submit(job: Record<string, unknown> = {}): Promise<string> {
      const { status, body } = await call('POST', '/jobs', aJob(job))
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.id
    },
    close: () => emulators.close()
  }
}

/** X on qubit 0 and H on qubit 1 of three. */
export const aJob = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'ionq.circuit.v1',
  backend: 'simulator',
  input: {
    qubits: 3,
    gateset: 'qis',
    circuit: [
      { gate: 'x', targets: [0] },
      { gate: 'h', targets: [1] }
    ]
  },
  ...changes
})
