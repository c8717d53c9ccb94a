// Checks the signature of a request by AWS's public specification of Signature Version 4, against the machine's clock:
// clients sign with it. Whether a session token has expired follows from the emulated clock.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalRequest, type SignedRequest, sha256 } from './canonical-request.js'
import type { KeyPair, Keys } from './keys.js'

export type Service = 'braket' | 's3' | 'sts'

export type SignatureFault =
  | 'missing'
  | 'malformed'
  | 'unknown_key'
  | 'unknown_token'
  | 'expired_token'
  | 'wrong_scope'
  | 'wrong_time'
  | 'wrong_payload'
  | 'wrong_signature'

export interface Caller {
  account: string
  region: string
  accessKeyId: string
}

export type Verdict = { caller: Caller } | { fault: SignatureFault; message: string }

const skewMsMax = 15 * 60_000
const algorithm = 'AWS4-HMAC-SHA256'

export const regions = ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'eu-west-1', 'eu-west-2', 'eu-north-1']

export function checkSignature(request: SignedRequest, service: Service, keys: Keys): Verdict {
  const authorization = headerOf(request, 'authorization')
  if (!authorization) return { fault: 'missing', message: 'Missing Authentication Token' }
  const parsed = parse(authorization)
  if (!parsed)
    return { fault: 'malformed', message: `Authorization header is not of the form ${algorithm} Credential=...` }
  const { accessKeyId, date, region, signedHeaders, signature } = parsed

  const pair = keys.get(accessKeyId)
  if (!pair?.active) return { fault: 'unknown_key', message: 'The security token included in the request is invalid.' }
  const wrongToken = tokenFault(request, pair, keys)
  if (wrongToken) return wrongToken

  if (parsed.service !== service || !regions.includes(region))
    return {
      fault: 'wrong_scope',
      message: `Credential should be scoped to a valid region and to service: '${service}'.`
    }
  const wrongTime = timeFault(headerOf(request, 'x-amz-date') ?? '', date)
  if (wrongTime) return wrongTime

  const unsigned = Object.keys(request.headers).find(
    (name) => (name === 'host' || name.startsWith('x-amz-')) && !signedHeaders.includes(name)
  )
  if (unsigned !== undefined)
    return { fault: 'wrong_signature', message: `'${unsigned}' must be a signed header of the request.` }
  const payload = payloadOf(request, service)
  if (typeof payload !== 'string') return payload

  const canonical = canonicalRequest(request, signedHeaders, payload, service !== 's3')
  const scope = `${date}/${region}/${service}/aws4_request`
  const toSign = [algorithm, headerOf(request, 'x-amz-date'), scope, sha256(canonical)].join('\n')
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${pair.secretAccessKey}`)
  if (!same(hmac(key, toSign).toString('hex'), signature))
    return {
      fault: 'wrong_signature',
      message:
        'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.'
    }
  return { caller: { account: pair.account, region, accessKeyId } }
}

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest()

interface Authorization {
  accessKeyId: string
  date: string
  region: string
  service: string
  signedHeaders: string[]
  signature: string
}

function parse(header: string): Authorization | null {
  const [, parts] = /^AWS4-HMAC-SHA256\s+(.*)$/.exec(header) ?? []
  const fields = new Map(
    (parts ?? '').split(/\s*,\s*/).map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, at), part.slice(at + 1)] as const
    })
  )
  const credential = /^([A-Za-z0-9_]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request$/.exec(
    fields.get('Credential') ?? ''
  )
  const signature = fields.get('Signature') ?? ''
  const signedHeaders = (fields.get('SignedHeaders') ?? '').split(';')
  if (!credential || !/^[0-9a-f]{64}$/.test(signature) || !signedHeaders.includes('host')) return null
  const [, accessKeyId, date, region, service] = credential as unknown as [string, string, string, string, string]
  return { accessKeyId, date, region, service, signedHeaders, signature }
}

function tokenFault(request: SignedRequest, pair: KeyPair, keys: Keys): Verdict | null {
  const sent = headerOf(request, 'x-amz-security-token') ?? null
  if (sent !== (pair.token?.text ?? null))
    return { fault: 'unknown_token', message: 'The security token included in the request is invalid.' }
  if (keys.expired(pair)) return { fault: 'expired_token', message: expiredTokenMessage }
  return null
}

export const expiredTokenMessage = 'The security token included in the request is expired'

function timeFault(sent: string, date: string): Verdict | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(sent)
  if (!match || !sent.startsWith(date))
    return { fault: 'wrong_time', message: `Date in Credential scope does not match x-amz-date: '${sent}'.` }
  const [, year, month, day, hour, minute, second] = match.map(Number) as [number, ...number[]]
  const at = Date.UTC(year!, month! - 1, day, hour, minute, second)
  if (Math.abs(at - Date.now()) > skewMsMax)
    return {
      fault: 'wrong_time',
      message: `Signature not yet current or expired: ${sent} is not within 15 min. of now.`
    }
  return null
}

/** The hash that the client signed; a fault if it is not that of the body. */
function payloadOf(request: SignedRequest, service: Service): string | Verdict {
  const hash = sha256(request.body)
  const sent = headerOf(request, 'x-amz-content-sha256')
  if (sent === undefined) return service === 's3' ? missingHash : hash
  if (sent === hash || (sent === 'UNSIGNED-PAYLOAD' && service === 's3')) return sent
  return {
    fault: 'wrong_payload',
    message: "The provided 'x-amz-content-sha256' header does not match what was computed."
  }
}

const missingHash: Verdict = { fault: 'wrong_payload', message: 'Missing required header: x-amz-content-sha256' }

const headerOf = ({ headers }: SignedRequest, name: string): string | undefined => [headers[name]].flat()[0]

const same = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
