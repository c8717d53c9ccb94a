// The accounts of both teams, made over the API with access codes.
import { setTimeout as delay } from 'node:timers/promises'
import { createAccessCode } from '../../db/accounts/accounts.js'
import type { Connection } from '../../db/client.js'
import { fieldsOf, type Reply, type Sent, send } from './client.js'

/** An account with a team of its own, and API keys of the team. */
export interface Account {
  email: string
  /** From the networks for documentation (RFC 5737). */
  address: string
  cookie: string
  teamId: string
  keys: string[]
}

const PASSWORD = 'a password of the attack'
const TIMEOUT_MS = 30_000
const TRIES = 5

/** @param tier the tier of the keys. @throws Error naming the refused request. */
export async function createAccount(
  base: string,
  { db }: Connection,
  { email, address, keys, tier = 'simulate' }: { email: string; address: string; keys: number; tier?: string }
): Promise<Account> {
  const must = async (sent: Pick<Sent, 'method' | 'path' | 'body' | 'headers'>): Promise<Reply> => {
    for (let tries = 1; ; tries++) {
      const reply = await send({ base, address, timeoutMs: TIMEOUT_MS, ...sent })
      if (reply.status >= 200 && reply.status < 300) return reply
      if (reply.status !== 429 || tries === TRIES)
        throw new Error(`${sent.method} ${sent.path} of ${email}: ${reply.status} ${reply.text}`)
      await delay((reply.retryAfterSeconds ?? 1) * 1000)
    }
  }
  const code = await createAccessCode(db, { uses: 1 })
  const signUp = { method: 'POST', path: '/api/auth/sign-up', body: { email, password: PASSWORD, code } } as const
  const { cookie } = await must(signUp)
  if (!cookie) throw new Error(`the sign-up of ${email} returned no cookie`)
  const headers = { cookie }
  const team = await must({ method: 'POST', path: '/api/teams', headers, body: { name: email } })
  const account: Account = { email, address, cookie, teamId: String(fieldsOf(team).id), keys: [] }
  for (let made = 0; made < keys; made++) {
    const body = { team_id: account.teamId, name: `key ${made}`, tier, kind: tier === 'qpu' ? 'live' : 'test' }
    const reply = await must({ method: 'POST', path: '/api/team/api-keys', headers, body })
    account.keys.push(String(fieldsOf(reply).key))
  }
  return account
}
