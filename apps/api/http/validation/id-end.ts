// A parameter of lists, by which `qjob` finds what a short id names.
import { Type } from 'typebox'
import { idEndPattern } from '../../../../domain/json/short-id.js'

export const idEnd = Type.Optional(
  Type.String({ pattern: idEndPattern, description: 'The last 8 to 12 characters of the id' })
)
