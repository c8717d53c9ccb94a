// An API with an identity provider, and browsers that go from one to the other.
import { expect } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { createAccessCode } from '../../../db/accounts/accounts.js'
import { createOidcClient, type OidcClient } from '../../../services/identity/oidc-client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { type ApiResponse, cookieOf, startApi, type TestApi } from './api.js'
import { CLIENT, type Person, startIdentityProvider } from './identity-provider.js'

/** A browser that began to sign in: the cookie it got, and the path on which the provider sends it back. */
export interface Visit {
  cookie: string
  back: string
}

export const redirectUri = 'http://localhost/api/auth/oidc/callback'

const keyRing = readKeyRing(`oidc:${Buffer.from('a ring key of 32 bytes for cooki').toString('base64')}`)

/** @param file names the database. */
export async function startOidc(file: string) {
  const provider = await startIdentityProvider({ redirectUri })
  const clock = { ahead: 0 }
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  const clientFor = (issuer: string, more: { clientSecret?: string; providerSeconds?: number } = {}): OidcClient =>
    createOidcClient({ ...CLIENT, issuer, redirectUri, keyRing, log, now: () => Date.now() + clock.ahead, ...more })
  const api = await startApi(file, { oidc: clientFor(provider.issuer), log })
  const { db } = api.database
  let people = 0

  async function goToProvider(person: Person, query = '', at: TestApi = api): Promise<Visit> {
    provider.state.person = person
    const answer = await at.ask('GET', `/api/auth/oidc/start${query}`)
    if (answer.status !== 302) throw new Error(`start answered ${answer.status}: ${answer.text}`)
    const back = new URL(await provider.visit(answer.headers.location as string))
    return { cookie: cookieOf(answer), back: `${back.pathname}${back.search}` }
  }
  const comeBack = ({ cookie, back }: Visit, at: TestApi = api): Promise<ApiResponse> =>
    at.ask('GET', back, undefined, cookie ? { cookie } : {})

  return {
    api,
    provider,
    clientFor,
    logged,
    /** Milliseconds that the clients' clock is ahead. */
    clock,
    goToProvider,
    comeBack,
    signIn: async (person: Person, query = '', at: TestApi = api): Promise<ApiResponse> =>
      comeBack(await goToProvider(person, query, at), at),

    newPerson(more: Partial<Person> = {}): Person {
      const name = `someone-${++people}`
      return { sub: `subject of ${name}`, email: `${name}@example.org`, email_verified: true, ...more }
    },
    newCode: (uses = 1) => createAccessCode(db, { uses }),
    usesLeft: async (code: string): Promise<number> =>
      (await api.ask('POST', '/api/auth/validate-code', { code })).body.remaining_uses,

    /** The id of the user that a response signs in. */
    async whoIs(answer: ApiResponse): Promise<string> {
      const session = cookiesOf(answer).qjs_session
      if (!session) throw new Error(`no session in an answer ${answer.status}: ${answer.text}`)
      const seen = await api.ask('GET', '/api/auth/session', undefined, { cookie: session.split(';')[0]! })
      return seen.body.user.id
    },

    /** Rows of an account, one for each of its identities. */
    rowsOf: async (email: unknown) => [
      ...(await db.execute(
        sql`select u.*, i.issuer, i.subject from users u left join identities i on i.user_id = u.id where email = ${email}`
      ))
    ],

    /** Another API on the same database, which is closed after `work`. */
    async withClient(oidc: OidcClient, work: (at: TestApi) => Promise<void>): Promise<void> {
      const at = await startApi(`${file}_other`, { database: api.database, oidc })
      try {
        await work(at)
      } finally {
        await at.close()
      }
    },

    /** Resets the faults of the provider and the clock. */
    mend(): void {
      provider.state.fault = {}
      provider.state.claimsIn = 'token'
      provider.state.authMethods = ['client_secret_basic', 'client_secret_post']
      clock.ahead = 0
    },

    async close(): Promise<void> {
      await api.close()
      await provider.close()
    }
  }
}

/** All cookies that a response sets, by name. */
export const cookiesOf = (answer: ApiResponse): Record<string, string> =>
  Object.fromEntries(
    [answer.headers['set-cookie']]
      .flat()
      .filter((line) => line !== undefined)
      .map((line) => [line.split('=')[0]!, line])
  )

/** Expects that the user is not signed in, and that the cookie cannot be used again. */
export function expectRefusal(answer: ApiResponse, status: number, message: RegExp): void {
  expect([answer.status, answer.body]).toEqual([status, { error: expect.stringMatching(message) }])
  expect(Object.keys(cookiesOf(answer))).toEqual(['qjs_oidc'])
  expect(cookiesOf(answer).qjs_oidc).toMatch(/^qjs_oidc=;.*Expires=Thu, 01 Jan 1970/)
}
