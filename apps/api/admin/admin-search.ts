// Query parameters of the lists of administration: a page, and a search text.
import { Type } from 'typebox'
import { TOTAL_MAX } from '../../../domain/json/page.js'

/** Every stored name is shorter. */
const SEARCH_MAX = 1000

export const pageFields = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
}

export const searchFields = { q: Type.Optional(Type.String({ maxLength: SEARCH_MAX })), ...pageFields }
