// Calls of Braket's API: JSON both ways, in one region.
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import type { ProviderCall } from '../http.js'
import { answerOf } from '../json-answers.js'
import type { Aws } from './aws.js'

/** GetDevice describes OpenQASM programs only to clients that know these schemas (1.8.0 or later). */
const USER_AGENT = 'quantum-job-service BraketSchemas/1.32.1'

/** A team's credentials, in one region. */
export interface Session {
  credentials: Credentials
  region: string
}

export interface BraketCall {
  method: ProviderCall['method']
  path: string
  query?: Record<string, string>
  json?: unknown
  /** Statuses beyond 200 to 299 that are no faults. */
  answers?: readonly number[]
}

export type CallBraket = <T extends object>(session: Session, call: BraketCall, signal: AbortSignal) => Promise<T>

export function createBraketApi(aws: Aws): CallBraket {
  return async <T extends object>(
    { credentials, region }: Session,
    { json, ...call }: BraketCall,
    signal: AbortSignal
  ): Promise<T> => {
    const body = json === undefined ? {} : { body: { text: JSON.stringify(json), type: 'application/json' } }
    const headers = { 'user-agent': USER_AGENT }
    const response = await aws.call(credentials, { service: 'braket', region, headers, ...call, ...body }, signal)
    return answerOf<T>(response, 'AWS Braket')
  }
}
