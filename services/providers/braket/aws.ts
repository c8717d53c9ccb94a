// Requests to AWS, signed by AWS's own signer with a team's credentials. Nothing of the environment is read: no key, profile,
// region or metadata service of this machine stands in for those of a team.
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { createProviderHttp, type ProviderCall, type ProviderHttp, type ProviderResponse } from '../http.js'
import { refusals } from './aws-faults.js'

export type AwsService = 'braket' | 's3' | 'sts'

export interface AwsCall {
  service: AwsService
  region: string
  method: ProviderCall['method']
  /** As it is sent, its parts escaped. */
  path: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: { text: string; type: string }
  answers?: readonly number[]
}

export interface Aws {
  call(credentials: Credentials, call: AwsCall, signal: AbortSignal): Promise<ProviderResponse>
  close(): Promise<void>
}

const names: Record<AwsService, string> = { braket: 'AWS Braket', s3: 'Amazon S3', sts: 'AWS STS' }

/** @param urls replace the addresses of services in all regions. */
export function createAws(urls: Partial<Record<AwsService, string>>, callTimeoutMs?: number): Aws {
  const clientOf = (service: AwsService) => createProviderHttp(names[service], refusals, callTimeoutMs)
  const https: Record<AwsService, ProviderHttp> = {
    braket: clientOf('braket'),
    s3: clientOf('s3'),
    sts: clientOf('sts')
  }
  return {
    async call(credentials, call, signal) {
      const { service, region, method, path, query = {}, body, answers } = call
      const base = new URL(urls[service] ?? `https://${service}.${region}.amazonaws.com`)
      const url = new URL(base.pathname.replace(/\/$/, '') + path, base)
      url.search = new URLSearchParams(query).toString()
      const headers = await signedHeaders(credentials, call, url)
      return https[service].call({
        method,
        url: url.href,
        headers,
        signal,
        ...(body && { body }),
        ...(answers && { answers })
      })
    },
    async close() {
      await Promise.all(Object.values(https).map((http) => http.close()))
    }
  }
}

/** The headers of a call, with its signature. @param at the time of the signature, which is valid for some minutes. */
export async function signedHeaders(
  credentials: Credentials,
  { service, region, method, query = {}, headers = {}, body }: Omit<AwsCall, 'path'>,
  url: URL,
  at = new Date()
): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    service,
    region,
    sha256: Sha256,
    credentials: {
      accessKeyId: credentials.access_key_id!,
      secretAccessKey: credentials.secret_access_key!,
      ...(credentials.session_token !== undefined && { sessionToken: credentials.session_token })
    },
    // S3 signs the path as it is sent; the other services escape it once more.
    uriEscapePath: service !== 's3'
  })
  const { host: _, ...signed } = (
    await signer.sign(
      {
        method,
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query,
        headers: { ...headers, host: url.host, ...(body && { 'content-type': body.type }) },
        body: body?.text
      },
      { signingDate: at }
    )
  ).headers
  return signed
}

/** A part of a path, with everything escaped that a signature escapes. */
export const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
