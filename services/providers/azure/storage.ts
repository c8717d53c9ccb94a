// The files of a job in the workspace's storage account, by signed addresses (SAS) that the workspace hands out. They are asked
// for when they are needed, and never stored.
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault } from '../adapter.js'
import { createProviderHttp, type ProviderResponse } from '../http.js'
import { blobIn, blobOf, type CheckAddress, isSigned, secretsOf, withoutSignature } from './addresses.js'
import { answerOf } from './answers.js'
import { storageRefusals } from './azure-faults.js'
import type { Workspaces } from './workspace.js'

const BLOB_VERSION = '2023-11-03'
/** How long storage may need to show a result, or to allow reading it, after a job has ended. */
const LAG_MS_MAX = 10 * 60_000

export interface Result {
  /** The id of its job. */
  job: string
  /** As the job names it. */
  address: unknown
  /** Above this, it is refused unread. */
  bytesMax: number
  /** When its job ended, by Azure's clock. */
  endedAt: number
}

export interface Storage {
  /** Uploads the input of a job. @returns the signed address of its container, and that of the input, unsigned. */
  upload(
    credentials: Credentials,
    input: { job: string; text: string; mediaType: string },
    signal: AbortSignal
  ): Promise<{ container: string; input: string }>
  read(credentials: Credentials, result: Result, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

export function createStorage(workspaces: Workspaces, checked: CheckAddress, callTimeoutMs?: number): Storage {
  const http = createProviderHttp('Azure Blob Storage', storageRefusals, callTimeoutMs)

  async function signed(
    credentials: Credentials,
    what: { containerName: string; blobName?: string },
    signal: AbortSignal
  ): Promise<URL> {
    const call = { method: 'POST', path: '/storage/sasUri', json: what } as const
    return checked('storage', answerOf<{ sasUri?: unknown }>(await workspaces.call(credentials, call, signal)).sasUri)
  }

  const get = (url: URL, range: string, answers: readonly number[], signal: AbortSignal) => {
    const headers = { accept: '*/*', range, 'x-ms-version': BLOB_VERSION }
    return http.call({ method: 'GET', url: url.href, headers, answers, secrets: secretsOf(url), signal })
  }

  return {
    async upload(credentials, { job, text, mediaType }, signal) {
      const container = await signed(credentials, { containerName: containerOf(job) }, signal)
      const blob = blobIn(container, 'inputData')
      await http.call({
        method: 'PUT',
        url: blob.href,
        headers: { accept: '*/*', 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': BLOB_VERSION },
        body: { text, type: mediaType },
        secrets: secretsOf(blob),
        signal
      })
      return { container: container.href, input: withoutSignature(blob).href }
    },

    async read(credentials, { job, address, bytesMax, endedAt }, signal) {
      const named = checked('storage', address)
      const blob = blobOf(named, containerOf(job))
      if (!blob) throw new ProviderFault('refused', 'Azure Quantum names an address for the result that cannot be one')
      const range = `bytes=0-${bytesMax - 1}`
      const reading = (url: URL, answers: readonly number[]) =>
        get(url, range, answers, signal).catch((error) => {
          throw error instanceof ProviderFault ? readFault(error, endedAt) : error
        })
      // A signature can be revoked before its time.
      const first = isSigned(named) ? await reading(named, [403]) : null
      const answer = first && first.status !== 403 ? first : await reading(await signed(credentials, blob, signal), [])
      if (bytesOf(answer) <= bytesMax) return answer.text
      throw new ProviderFault('refused', `the result is longer than ${bytesMax} bytes, which no result of the job is`)
    },

    close: () => http.close()
  }
}

const containerOf = (job: string): string => `job-${job}`

/** Of the whole blob, where only its beginning was sent. */
const bytesOf = ({ headers, text }: ProviderResponse): number =>
  Math.max(
    Buffer.byteLength(text),
    Number(/^bytes \d+-\d+\/(\d+)$/.exec(String(headers['content-range'] ?? ''))?.[1] ?? 0)
  )

/** A result that was paid is not given up for what the team can repair. */
function readFault({ kind, message, retryAfterMs }: ProviderFault, endedAt: number): ProviderFault {
  if (kind === 'refused') return new ProviderFault('unauthorized', `the result cannot be read: ${message}`)
  if (kind !== 'unauthorized') return new ProviderFault(kind, message, retryAfterMs)
  if (!(Date.now() - endedAt > LAG_MS_MAX))
    return new ProviderFault('not_found', `${message}: the result is not there yet, or cannot be read`)
  return new ProviderFault(
    'unauthorized',
    `the result cannot be read: ${message} (the workspace's storage account has to allow access by its signatures)`
  )
}
