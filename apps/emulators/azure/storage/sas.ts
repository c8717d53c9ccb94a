// Shared access signatures of Azure's storage, by its public specification of service signatures from version 2020-12-06 on.
// Signatures are checked against the emulated clock.
import { createHmac } from 'node:crypto'
import { AzureError } from '../replies.js'

/** A blob, or the whole container. */
export interface Place {
  account: string
  container: string
  blob: string | null
}

const version = '2023-11-03'
const oldestVersion = '2020-12-06'

/** Not a secret: it opens only an emulator on this machine. */
export const accountKey = (account: string): string =>
  Buffer.from(`emulated key of the storage account ${account}`.padEnd(64, '.')).toString('base64')

/** The query of an address that may be used until then. Times of signatures are whole seconds. */
export function signedQuery(place: Place, permissions: string, expiresAt: number): string {
  const fields = {
    sv: version,
    se: `${new Date(expiresAt).toISOString().slice(0, 19)}Z`,
    sr: place.blob === null ? 'c' : 'b',
    sp: permissions
  }
  const query = new Map(Object.entries(fields))
  return [...query, ['sig', signatureOf(place, query)]]
    .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`)
    .join('&')
}

/**
 * Checks what a query allows at a place.
 * @param needed permissions, one of which the query must have.
 * @throws AzureError (403)
 */
export function assertSigned(
  query: ReadonlyMap<string, string>,
  place: Place,
  needed: string,
  { now, protocol }: { now: number; protocol: string }
): void {
  const resource = query.get('sr')
  if (!query.has('sig')) throw authenticationFailed('The request has no shared access signature.')
  if ((resource !== 'b' && resource !== 'c') || !((query.get('sv') ?? '') >= oldestVersion))
    throw authenticationFailed(
      `This emulator knows signatures of blobs and containers from version ${oldestVersion} on.`
    )
  const signed = resource === 'c' ? { ...place, blob: null } : place
  if (query.get('sig') !== signatureOf(signed, query))
    throw authenticationFailed('Signature did not match. String to sign used was not that of the request.')
  const [from, until] = [timeOf(query.get('st')), timeOf(query.get('se'))]
  if ((query.has('st') && !(from <= now)) || !(now < until))
    throw authenticationFailed(
      `Signature not valid in the specified time frame: Start [${query.get('st') ?? ''}] - Expiry [${query.get('se') ?? ''}] - Current [${new Date(now).toUTCString()}]`
    )
  if (query.get('spr') === 'https' && protocol !== 'https')
    throw new AzureError(
      403,
      'AuthorizationProtocolMismatch',
      'This request is not authorized to perform this operation using this protocol.'
    )
  if (![...needed].some((one) => query.get('sp')?.includes(one)))
    throw new AzureError(
      403,
      'AuthorizationPermissionMismatch',
      'This request is not authorized to perform this operation using this permission.'
    )
}

export const authenticationFailed = (detail: string): AzureError =>
  new AzureError(
    403,
    'AuthenticationFailed',
    'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.',
    { AuthenticationErrorDetail: detail }
  )

/** NaN, which no comparison accepts, for a text that is not a time. */
const timeOf = (text: string | undefined): number => Date.parse(text ?? '')

function signatureOf({ account, container, blob }: Place, query: ReadonlyMap<string, string>): string {
  const field = (name: string): string => query.get(name) ?? ''
  const resource = `/blob/${account}/${container}${blob === null ? '' : `/${blob}`}`
  const text = [
    ...[field('sp'), field('st'), field('se'), resource, field('si'), field('sip'), field('spr'), field('sv')],
    // The snapshot's time is not a part of any address here.
    ...[field('sr'), '', field('ses'), field('rscc'), field('rscd'), field('rsce'), field('rscl'), field('rsct')]
  ].join('\n')
  return createHmac('sha256', Buffer.from(accountKey(account), 'base64'))
    .update(text)
    .digest('base64')
}

/** The fields of a query; a plus is a plus, as in a signature that a client did not escape. */
export const fieldsOf = (query: string): Map<string, string> =>
  new Map(
    query
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const at = part.indexOf('=')
        const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
        return [decodeURIComponent(name), decodeURIComponent(value)] as const
      })
  )
