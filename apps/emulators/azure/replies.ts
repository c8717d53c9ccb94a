// Refusals in the words of each service: the directory's JSON, the JSON of Resource Manager and workspaces, the storage's XML.
import { randomUUID } from 'node:crypto'
import { jsonReply, type ProviderReply, type RequestLine } from '../provider.js'
import { workspaces } from './identity/identities.js'

export type Service = 'directory' | 'workspace' | 'storage'

/** Thrown anywhere in a service's routes; becomes its refusal. */
export class AzureError extends Error {
  override readonly name = 'AzureError'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** More elements of the storage's XML, by name. */
    readonly details: Record<string, string> = {},
    readonly headers: Record<string, string> = {}
  ) {
    super(message)
  }
}

/** The service that a path belongs to; one address serves all three. */
export function serviceOf({ path }: RequestLine): Service {
  const [, first = ''] = path.split('/')
  if (workspaces.some(({ storageAccount }) => storageAccount === first)) return 'storage'
  return /^\/[^/]+\/(oauth2\/)?v2\.0\//.test(path) ? 'directory' : 'workspace'
}

export function refusalOf({ status, code, message, details, headers }: AzureError, line: RequestLine): ProviderReply {
  const reply = refusals[serviceOf(line)](status, code, message, details)
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

const refusals: Record<
  Service,
  (status: number, code: string, message: string, details: Record<string, string>) => ProviderReply
> = {
  directory: (status, code, message) =>
    jsonReply(status, {
      error: code,
      error_description: message,
      error_codes: [Number(/AADSTS(\d+)/.exec(message)?.[1] ?? 90033)],
      trace_id: randomUUID(),
      correlation_id: randomUUID()
    }),
  workspace: (status, code, message) => jsonReply(status, { error: { code, message } }),
  storage: (status, code, message, details) => ({
    status,
    headers: { 'content-type': 'application/xml', 'x-ms-error-code': code },
    body: `<?xml version="1.0" encoding="utf-8"?>\n<Error>${Object.entries({ Code: code, Message: message, ...details })
      .map(([name, text]) => `<${name}>${xmlText(text)}</${name}>`)
      .join('')}</Error>`
  })
}

export const xmlText = (text: string): string => text.replace(/[<>&"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

/** The error that belongs to a status, for faults that a test injects and for the server's own refusals. */
export function errorOfStatus(status: number, message: string, line: RequestLine): ProviderReply {
  const service = serviceOf(line)
  const code = codes[service][status] ?? (status < 500 ? codes[service][400]! : codes[service][500]!)
  return refusalOf(new AzureError(status, code, service === 'directory' ? `AADSTS90033: ${message}` : message), line)
}

const codes: Record<Service, Record<number, string>> = {
  directory: { 400: 'invalid_request', 401: 'invalid_client', 429: 'temporarily_unavailable', 500: 'server_error' },
  workspace: {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'AuthorizationFailed',
    404: 'ResourceNotFound',
    409: 'Conflict',
    413: 'RequestEntityTooLarge',
    429: 'TooManyRequests',
    500: 'InternalServerError',
    503: 'ServiceUnavailable'
  },
  storage: {
    400: 'InvalidInput',
    403: 'AuthenticationFailed',
    404: 'BlobNotFound',
    409: 'BlobAlreadyExists',
    413: 'RequestBodyTooLarge',
    416: 'InvalidRange',
    500: 'InternalError',
    503: 'ServerBusy'
  }
}
