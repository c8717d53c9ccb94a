// Why a job, a task or an attempt failed.
import { type Static, Type } from 'typebox'
import { type ErrorCode, errorCodes } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { nullable, text } from '../http/response.js'

export const Failure = nullable(Type.Object({ code: oneOf(errorCodes), message: text }, { $id: 'Failure' }))

/** The columns of a failure; the database sets both or neither. */
interface FailureColumns {
  errorCode: string | null
  errorMessage: string | null
}

export const failureView = ({ errorCode, errorMessage }: FailureColumns): Static<typeof Failure> =>
  errorCode === null ? null : { code: errorCode as ErrorCode, message: errorMessage! }
