// Requests to IBM Quantum's REST API (quantum.cloud.ibm.com/docs/api/qiskit-runtime-rest), in one instance.
import { createProviderHttp, type ProviderResponse } from '../http.js'
import { type Answer, answerOf, refusals } from './answers.js'
import { type AccessToken, type Iam, withoutSlash } from './iam.js'
import { addressOf, type Session } from './instance.js'

/** The form of the answers. IBM answers an unknown version in an older form, with status 200. */
const API_VERSION = '2026-04-15'

export interface IbmCall {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string>
  json?: unknown
  /** Statuses beyond 200 to 299 that are no faults. */
  answers?: readonly number[]
}

export interface IbmApi {
  call(session: Session, call: IbmCall, signal: AbortSignal): Promise<ProviderResponse>
  get(session: Session, path: string, signal: AbortSignal, query?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

/** @param url replaces the address of the API in all regions. */
export function createIbmApi(iam: Iam, url?: string, callTimeoutMs?: number): IbmApi {
  const http = createProviderHttp('IBM Quantum', refusals, callTimeoutMs)

  async function call(
    { apiKey, instance }: Session,
    { method, path, query = {}, json, answers = [] }: IbmCall,
    signal: AbortSignal
  ): Promise<ProviderResponse> {
    const search = new URLSearchParams(query).toString()
    const address = `${withoutSlash(url ?? addressOf(instance))}${path}${search && `?${search}`}`
    const send = ({ text }: AccessToken, read: readonly number[]) => {
      const headers = { authorization: `Bearer ${text}`, 'service-crn': instance.crn, 'ibm-api-version': API_VERSION }
      const body = json === undefined ? {} : { body: { json } }
      return http.call({ method, url: address, headers, ...body, answers: read, secrets: [text], signal })
    }
    const token = await iam.of(apiKey, signal)
    const response = await send(token, [...answers, 401])
    if (response.status !== 401) return response
    // It has expired early, or was revoked. That a new one is rejected too is the fault of the credentials.
    iam.drop(apiKey, token)
    return send(await iam.of(apiKey, signal), answers)
  }

  return {
    call,
    get: async (session, path, signal, query = {}) =>
      answerOf(await call(session, { method: 'GET', path, query }, signal)),
    close: () => http.close()
  }
}
