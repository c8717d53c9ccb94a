// Signs addresses of Azure's storage as Microsoft documents it ("Create a service SAS", "Create an account SAS"), for tests that
// need a signature which the service would not give them.
import { createHmac } from 'node:crypto'

export interface StorageAccount {
  account: string
  account_key: string
}

export interface Signed {
  permissions: string
  expires: string
  starts?: string
  protocol?: 'https' | 'https,http'
}

const version = '2023-11-03'

const hmac = ({ account_key }: StorageAccount, lines: string[]): string =>
  createHmac('sha256', Buffer.from(account_key, 'base64')).update(lines.join('\n'), 'utf8').digest('base64')

/** The query that opens a container, or one blob in it. */
export function serviceSas(
  storage: StorageAccount,
  container: string,
  blob: string | null,
  { permissions, expires, starts = '', protocol }: Signed
): string {
  const resource = blob === null ? 'c' : 'b'
  const place = `/blob/${storage.account}/${container}${blob === null ? '' : `/${blob}`}`
  const signature = hmac(storage, [
    permissions,
    starts,
    expires,
    place,
    '', // identifier
    '', // addresses
    protocol ?? '',
    version,
    resource,
    '', // snapshot
    '', // encryption scope
    '', // cache control
    '', // content disposition
    '', // content encoding
    '', // content language
    '' // content type
  ])
  return String(
    new URLSearchParams({
      sv: version,
      sr: resource,
      sp: permissions,
      ...(starts !== '' && { st: starts }),
      se: expires,
      ...(protocol && { spr: protocol }),
      sig: signature
    })
  )
}

/** The query that opens the whole blob service of an account. */
export function accountSas(storage: StorageAccount, { permissions, expires }: Signed): string {
  const fields = { sv: version, ss: 'b', srt: 'sco', sp: permissions, se: expires }
  const signature = hmac(storage, [
    storage.account,
    permissions,
    fields.ss,
    fields.srt,
    '', // start
    expires,
    '', // addresses
    '', // protocol
    version,
    '', // encryption scope
    ''
  ])
  return String(new URLSearchParams({ ...fields, sig: signature }))
}
