// Sends a file with its progress, which `fetch` does not tell. Cookies of this address go with it. It waits and signs in again
// like every other request.
import { refusalOf } from '../../api/api-error.js'
import { patiently } from '../../api/patient-fetch.js'
import { targetOf } from './file-target.js'

export interface Imported {
  capsule_id: string
  warnings: string[]
}

interface Options {
  team: { team_id?: string }
  key: string
  signal: AbortSignal
  /** Called with the part that is sent, from 0 to 1; from 0 again when the file is sent again. */
  onProgress: (part: number) => void
}

/** @throws ApiError, ConnectionLost, the reason of the signal. */
export async function sendFile(file: File, options: Options): Promise<Imported> {
  const { path, contentType } = targetOf(file.name)
  const url = new URL(path, location.origin)
  if (options.team.team_id !== undefined) url.searchParams.set('team_id', options.team.team_id)
  const response = await patiently({ url: url.href, signal: options.signal }, () =>
    sendOnce(url.href, contentType, file, options)
  )
  if (response.status !== 201) throw await refusalOf(response)
  return { warnings: [], ...((await response.json()) as { capsule_id: string }) }
}

function sendOnce(url: string, contentType: string, file: File, options: Options): Promise<Response> {
  const { key, signal, onProgress } = options
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const end = () => signal.removeEventListener('abort', abort)
    request.open('POST', url)
    request.setRequestHeader('content-type', contentType)
    request.setRequestHeader('idempotency-key', key)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onloadend = end
    request.onload = () =>
      resolve(new Response(request.responseText, { status: request.status, headers: headersOf(request) }))
    request.onerror = () => reject(new Error('The file could not be sent'))
    request.onabort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    request.send(file)
  })
}

const headersOf = (request: XMLHttpRequest): [string, string][] =>
  request
    .getAllResponseHeaders()
    .trim()
    .split(/[\r\n]+/)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
