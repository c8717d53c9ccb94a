// Refusals in the words of each service: JSON and a header from Braket, XML from S3 and STS.
import { jsonReply, type ProviderReply, type RequestLine } from '../../provider.js'
import type { Service, SignatureFault } from './signature.js'
import { expiredTokenMessage } from './signature.js'

/** Thrown anywhere in a service's routes; becomes its refusal. */
export class AwsError extends Error {
  override readonly name = 'AwsError'
  constructor(
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {}
  ) {
    super(message)
  }
}

const statuses: Record<string, number> = {
  ValidationException: 400,
  ServiceQuotaExceededException: 402,
  AccessDeniedException: 403,
  MissingAuthenticationTokenException: 403,
  IncompleteSignatureException: 403,
  InvalidSignatureException: 403,
  UnrecognizedClientException: 403,
  ExpiredTokenException: 403,
  ResourceNotFoundException: 404,
  UnknownOperationException: 404,
  ConflictException: 409,
  DeviceRetiredException: 410,
  DeviceOfflineException: 424,
  ThrottlingException: 429,
  InternalServiceException: 500,
  // S3 and STS
  PermanentRedirect: 301,
  AuthorizationHeaderMalformed: 400,
  ExpiredToken: 400,
  InvalidToken: 400,
  XAmzContentSHA256Mismatch: 400,
  EntityTooLarge: 400,
  InvalidRequest: 400,
  MissingAction: 400,
  AccessDenied: 403,
  InvalidAccessKeyId: 403,
  InvalidClientTokenId: 403,
  MissingAuthenticationToken: 403,
  IncompleteSignature: 400,
  SignatureDoesNotMatch: 403,
  RequestTimeTooSkewed: 403,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  MethodNotAllowed: 405,
  BucketAlreadyOwnedByYou: 409,
  InvalidRange: 416,
  InternalError: 500,
  NotImplemented: 501,
  SlowDown: 503
}

/** The service that a path belongs to: Braket's routes have words of their own, STS only the root. */
export function serviceOf({ path }: RequestLine): Service {
  const [, first = ''] = path.split('/')
  if (first === '') return 'sts'
  return /^(quantum-tasks?|devices?|jobs?|spending-limits?|tags)$/.test(first) ? 'braket' : 's3'
}

export function refusalOf(error: AwsError, line: RequestLine, status = statuses[error.code] ?? 400): ProviderReply {
  const { code, message, headers } = error
  const service = serviceOf(line)
  if (service === 'braket') {
    const reply = jsonReply(status, { message })
    return { ...reply, headers: { ...reply.headers, 'x-amzn-errortype': code, ...headers } }
  }
  if (service === 's3') {
    const region = headers['x-amz-bucket-region']
    const resource = `<Resource>${xmlText(line.path)}</Resource>`
    const more = `${region ? `<Region>${region}</Region>` : ''}${resource}<RequestId>EMULATED</RequestId>`
    return xmlReply(status, `<Error><Code>${code}</Code><Message>${xmlText(message)}</Message>${more}</Error>`, headers)
  }
  const inner = `<Type>Sender</Type><Code>${code}</Code><Message>${xmlText(message)}</Message>`
  const opening = '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
  return xmlReply(
    status === 400 && code === 'ExpiredToken' ? 403 : status,
    `${opening}<Error>${inner}</Error><RequestId>EMULATED</RequestId></ErrorResponse>`,
    headers
  )
}

export const xmlReply = (status: number, body: string, headers: Record<string, string> = {}): ProviderReply => ({
  status,
  headers: { 'content-type': 'application/xml', ...headers },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`
})

export const xmlText = (text: string): string => text.replace(/[<>&"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

/** The error that a service has for a signature that it refuses. */
export function signatureError(fault: SignatureFault, message: string, service: Service): AwsError {
  const [braket, s3, sts] = signatureCodes[fault]
  return new AwsError({ braket, s3, sts }[service], message)
}

const signatureCodes: Record<SignatureFault, readonly [braket: string, s3: string, sts: string]> = {
  missing: ['MissingAuthenticationTokenException', 'AccessDenied', 'MissingAuthenticationToken'],
  malformed: ['IncompleteSignatureException', 'AuthorizationHeaderMalformed', 'IncompleteSignature'],
  unknown_key: ['UnrecognizedClientException', 'InvalidAccessKeyId', 'InvalidClientTokenId'],
  unknown_token: ['UnrecognizedClientException', 'InvalidToken', 'InvalidClientTokenId'],
  expired_token: ['ExpiredTokenException', 'ExpiredToken', 'ExpiredToken'],
  wrong_scope: ['InvalidSignatureException', 'AuthorizationHeaderMalformed', 'SignatureDoesNotMatch'],
  wrong_time: ['InvalidSignatureException', 'RequestTimeTooSkewed', 'SignatureDoesNotMatch'],
  wrong_payload: ['InvalidSignatureException', 'XAmzContentSHA256Mismatch', 'SignatureDoesNotMatch'],
  wrong_signature: ['InvalidSignatureException', 'SignatureDoesNotMatch', 'SignatureDoesNotMatch']
}

export const expiredTokenReply = (line: RequestLine): ProviderReply =>
  refusalOf(signatureError('expired_token', expiredTokenMessage, serviceOf(line)), line)

/** The error that belongs to a status, for faults that a test injects and for the server's own refusals. */
export function errorOfStatus(status: number, message: string, line: RequestLine): ProviderReply {
  const braket: Record<number, string> = {
    402: 'ServiceQuotaExceededException',
    403: 'AccessDeniedException',
    404: 'ResourceNotFoundException',
    409: 'ConflictException',
    410: 'DeviceRetiredException',
    424: 'DeviceOfflineException',
    429: 'ThrottlingException'
  }
  const others: Record<number, string> = { 403: 'AccessDenied', 404: 'NoSuchKey', 429: 'SlowDown', 503: 'SlowDown' }
  const own = serviceOf(line) === 'braket'
  const otherwise =
    status < 500 ? (own ? 'ValidationException' : 'InvalidRequest') : own ? 'InternalServiceException' : 'InternalError'
  return refusalOf(new AwsError((own ? braket : others)[status] ?? otherwise, message), line, status)
}
