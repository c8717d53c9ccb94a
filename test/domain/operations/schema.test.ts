// Whether a program can use a schema.
import { describe, expect, test } from '@jest/globals'
import { missingMigrations, readMigrateMode, schemaProblem } from '../../../domain/operations/schema.js'

describe('a program that knows the migrations 10, 20 and 30', () => {
  const known = [10, 20, 30]

  test.each([
    ['an empty database', [], 0],
    ['an older schema', [10, 20], 0],
    ['its own schema', [10, 20, 30], 0],
    ['its own schema, of which it knows all that is required', [10, 20, 30], 3],
    ['an expanded schema', [10, 20, 30, 40, 50], 0],
    ['a contracted schema that requires what it knows', [10, 20, 30, 40, 50], 3]
  ])('can use %s', (_what, applied, minimum) => {
    expect(schemaProblem(known, { applied, minimum })).toBeNull()
  })

  test.each([
    [
      'a schema that requires one more',
      [10, 20, 30, 40],
      4,
      'it knows 3 migrations, and the schema requires a version that knows 4'
    ],
    [
      'a schema with another newest migration',
      [10, 20, 31],
      0,
      'its migration 2 is not the one that this version knows'
    ],
    ['a schema that lacks one in the middle', [10, 30], 0, 'its migration 1 is not the one']
  ])('cannot use %s', (_what, applied, minimum, message) => {
    expect(schemaProblem(known, { applied, minimum })).toContain(message)
  })

  test('misses the migrations that the schema lacks', () => {
    expect(missingMigrations(known, { applied: [10, 20], minimum: 0 })).toContain('it has 2 of 3 migrations')
    expect(missingMigrations(known, { applied: [10, 20, 30], minimum: 0 })).toBeNull()
    expect(missingMigrations(known, { applied: [10, 20, 30, 40], minimum: 0 })).toBeNull()
  })
})

test('MIGRATE has two values, and a default', () => {
  expect([undefined, '', 'auto', 'check'].map(readMigrateMode)).toEqual(['auto', 'auto', 'auto', 'check'])
  expect(() => readMigrateMode('off')).toThrow('MIGRATE must be one of auto, check (got off)')
})
