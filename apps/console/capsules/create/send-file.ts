// Sends a file with its progress, which `fetch` does not tell. Cookies of this address go with it.
import { ApiError, ConnectionLost } from '../../api/api-error.js'
import { targetOf } from './file-target.js'

export interface Imported {
  capsule_id: string
  warnings: string[]
}

/** @param onProgress from 0 to 1. @throws ApiError, ConnectionLost. */
export function sendFile(
  file: File,
  options: { team: { team_id?: string }; key: string; signal: AbortSignal; onProgress: (part: number) => void }
): Promise<Imported> {
  const { path, contentType } = targetOf(file.name)
  const url = new URL(path, location.origin)
  if (options.team.team_id !== undefined) url.searchParams.set('team_id', options.team.team_id)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    request.setRequestHeader('content-type', contentType)
    request.setRequestHeader('idempotency-key', options.key)
    request.upload.onprogress = ({ loaded, total }) => options.onProgress(total === 0 ? 0 : loaded / total)
    request.onload = () => {
      const body = readBody(request.responseText)
      if (request.status === 201) resolve({ warnings: [], ...(body as { capsule_id: string }) })
      else
        reject(
          new ApiError(request.status, body.error ?? `The service returned ${request.status} without a reason`, null)
        )
    }
    request.onerror = () => reject(new ConnectionLost(null))
    request.onabort = () => reject(options.signal.reason)
    options.signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })
}

function readBody(text: string): { error?: string } {
  try {
    return JSON.parse(text) as { error?: string }
  } catch {
    return {}
  }
}
