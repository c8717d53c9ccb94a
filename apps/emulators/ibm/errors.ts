// Refusals in the words of the IBM Quantum API: `errors` with a code of IBM's registry, and a trace.
import { randomUUID } from 'node:crypto'
import { jsonReply, type ProviderReply } from '../provider.js'

/** Codes of https://quantum.cloud.ibm.com/docs/errors; which code IBM sends is documented for few refusals. */
export const codes = {
  internal: 1000,
  backendNotFound: 1007,
  tooManyShots: 1103,
  notAuthorized: 1200,
  tooManyRequests: 1202,
  tooManyTags: 1204,
  tagTooLong: 1205,
  authentication: 1219,
  jobNotFound: 1291,
  ranTooLong: 1305,
  notIsa: 1517,
  outage: 1999,
  jobNotCancelled: 3208,
  jobStatusNotValid: 3213,
  payloadNotValid: 3220,
  tooManyPending: 3458,
  usageLimit: 4317
} as const

export class IbmError extends Error {
  override readonly name = 'IbmError'
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly solution = ''
  ) {
    super(message)
  }
}

export const notValid = (message: string): IbmError =>
  new IbmError(400, codes.payloadNotValid, message, 'Change the body of the request.')

export const refusalOf = ({ status, code, message, solution }: IbmError): ProviderReply =>
  jsonReply(status, {
    errors: [{ code, message, solution, more_info: `https://quantum.cloud.ibm.com/docs/errors#${code}` }],
    trace: randomUUID()
  })

const codeOfStatus: Readonly<Record<number, number>> = {
  400: codes.payloadNotValid,
  401: codes.authentication,
  403: codes.notAuthorized,
  404: codes.notAuthorized,
  409: codes.usageLimit,
  413: codes.payloadNotValid,
  429: codes.tooManyRequests,
  503: codes.outage
}

/** For refusals that no route makes, such as those of faults. */
export const refusalOfStatus = (status: number, message: string): ProviderReply =>
  refusalOf(new IbmError(status, codeOfStatus[status] ?? codes.internal, message))

export const unauthenticated = (message = 'Error authenticating user.'): IbmError =>
  new IbmError(401, codes.authentication, message, 'Get a new access token with a valid API key.')
