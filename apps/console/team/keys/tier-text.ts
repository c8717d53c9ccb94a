// What keys may do, in words.
import type { ApiKey } from '../team-queries.js'

export const tierText: Readonly<Record<ApiKey['tier'], string>> = {
  read: 'read',
  simulate: 'read, write, and run on free backends',
  qpu: 'read, write, and run on free and paid backends'
}

export const kindText: Readonly<Record<ApiKey['kind'], string>> = {
  live: 'live',
  test: 'test: never on a paid backend'
}
