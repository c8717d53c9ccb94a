// IBM's Identity and Access Management, as far as it belongs to the emulated IBM Quantum: an API key becomes an access token.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { EmulatedClock } from '../../clock.js'
import { jsonReply, type ProviderReply, type RequestLine } from '../../provider.js'
import { respond } from '../../provider-server.js'
import type { ApiKeys } from './accounts.js'
import type { AccessTokens } from './tokens.js'

/** Below the base path of the emulator, so that one port serves both. */
export const iamPath = '/iam'
const grantType = 'urn:ibm:params:oauth:grant-type:apikey'

export const isIam = ({ path }: RequestLine): boolean => path.includes(`${iamPath}/identity/`)

export function iamError(status: number, errorCode: string, errorMessage: string, at: number): ProviderReply {
  const time = new Date(at).toUTCString()
  return jsonReply(status, {
    errorCode,
    errorMessage,
    context: {
      requestId: randomUUID(),
      requestType: 'incoming.Identity_Token',
      url: 'https://iam.cloud.ibm.com',
      startTime: time,
      endTime: time,
      elapsedTime: '0',
      locale: 'en_US'
    }
  })
}

export function iamRoutes(
  app: FastifyInstance,
  { clock, keys, tokens }: { clock: EmulatedClock; keys: ApiKeys; tokens: AccessTokens }
): void {
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body)
  )
  app.post(`${iamPath}/identity/token`, async ({ body }, reply) => {
    const form = new URLSearchParams(typeof body === 'string' ? body : '')
    const refuse = (code: string, message: string) => respond(reply, iamError(400, code, message, clock.now()))
    if (form.get('grant_type') !== grantType)
      return refuse('BXNIM0109E', `Property missing or empty: grant_type must be ${grantType}.`)
    const key = keys.active(form.get('apikey') ?? '')
    if (!key) return refuse('BXNIM0415E', 'Provided API key could not be found.')
    return tokens.issue(key)
  })
}
