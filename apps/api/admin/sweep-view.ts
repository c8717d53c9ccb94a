// The last pass of a sweep. Its view is domain's (domain/operations/sweep.ts).
import { Type } from 'typebox'
import { nullable, text, time } from '../http/response.js'

export const SweepPass = Type.Object(
  {
    ran_at: time,
    succeeded_at: nullable(time),
    late: Type.Boolean({ description: 'The last success is more than ten periods ago' }),
    handled: Type.Integer({ minimum: 0, description: 'Items handled since the previous note' }),
    failed: Type.Integer({ minimum: 0, description: 'Rows that could not be handled since then; each is tried again' }),
    error: nullable(text),
    findings: Type.Array(Type.Object({ message: text, at: time }))
  },
  { $id: 'SweepPass' }
)
