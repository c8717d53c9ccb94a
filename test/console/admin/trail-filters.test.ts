import { expect, test } from '@jest/globals'
import { isoTime, localTime, readTrailFilters } from '../../../apps/console/audit/trail-filters.js'
import { actorText } from '../../../apps/console/audit/trail-texts.js'

test('the address of a trail holds texts and a whole number above 0, and anything else is left out', () => {
  const filters = { action: 'capsule.run', from: '2026-01-01T00:00:00.000Z', capsule: 'an id', entry: 37 }
  expect(readTrailFilters(filters)).toEqual(filters)
  expect(readTrailFilters({ ...filters, to: '', action: 3, capsule: ['x'], other: 'y' })).toEqual({
    from: filters.from,
    entry: 37
  })
  for (const entry of [0, -1, 1.5, '37', Number.NaN, Number.MAX_VALUE]) expect(readTrailFilters({ entry })).toEqual({})
})

test('a time of the address stays the same second through the field for it, and what is no time is empty', () => {
  for (const iso of ['2026-01-01T00:00:00.000Z', '2026-07-15T23:59:59.000Z', '0999-05-01T12:00:00.000Z'])
    expect(isoTime(localTime(iso))).toBe(iso)
  for (const text of [undefined, '', 'yesterday']) expect(localTime(text)).toBe('')
  for (const text of ['', '2026-13-01T00:00', 'x']) expect(isoTime(text)).toBeUndefined()
})

test('an actor is named where the name is known, and never by a property that every object has', () => {
  expect(actorText('user:1', { 'user:1': 'Ada' })).toBe('Ada')
  expect(actorText('key:1', { 'key:1': 'ci' })).toBe('the key ci')
  expect(actorText('user:1', {})).toBe('a user who is not known any more')
  expect(actorText('key:1', {})).toBe('a key that is not known any more')
  expect(actorText('admin:1', { 'admin:1': 'x' })).toBe('a platform administrator')
  for (const actor of ['system', 'toString', '__proto__']) expect(actorText(actor, {})).toBe('the service')
})
