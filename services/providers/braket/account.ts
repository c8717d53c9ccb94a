// The AWS account of a team's credentials, by STS, which needs no permission.
import { ProviderFault } from '../adapter.js'
import { TimedCache } from '../timed-cache.js'
import type { Session } from './api.js'
import type { Aws } from './aws.js'

const ACCOUNTS_MAX = 1000
/** A key never changes its account. */
const CACHED_MS = 60 * 60_000

const BODY = { text: 'Action=GetCallerIdentity&Version=2011-06-15', type: 'application/x-www-form-urlencoded' }

export interface Accounts {
  /** Asks STS each time, which also checks the credentials. */
  identify(session: Session, signal: AbortSignal): Promise<string>
  /** Asks STS once for each key. */
  of(session: Session, signal: AbortSignal): Promise<string>
  /** @throws ProviderFault `unauthorized` when the credentials are of another account than the task. */
  assertSame(session: Session, account: string | undefined, signal: AbortSignal): Promise<void>
}

export function createAccounts(aws: Aws): Accounts {
  const known = new TimedCache<string>(ACCOUNTS_MAX, CACHED_MS)

  async function identify({ credentials, region }: Session, signal: AbortSignal): Promise<string> {
    const headers = { accept: '*/*' }
    const call = { service: 'sts', region, method: 'POST', path: '/', headers, body: BODY } as const
    const { text } = await aws.call(credentials, call, signal)
    const account = /<Account>(\d{12})<\/Account>/.exec(text)?.[1]
    if (account === undefined) throw new ProviderFault('unclear', 'AWS STS did not name the account')
    return account
  }

  const of = (session: Session, signal: AbortSignal) =>
    known.get(session.credentials.access_key_id!, () => identify(session, signal))

  return {
    identify,
    of,
    async assertSame(session, account, signal) {
      const present = await of(session, signal)
      if (account !== undefined && account !== present)
        throw new ProviderFault(
          'unauthorized',
          `the team's aws-braket credentials are now of account ${present}; the task is in account ${account}: store credentials of account ${account} again`
        )
    }
  }
}
