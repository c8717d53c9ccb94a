// What the editor of a script sends, and where the faults and warnings of a save belong.
import { describe, expect, test } from '@jest/globals'
import { ApiError } from '../../../apps/console/api/api-error.js'
import {
  changeBody,
  otherWarnings,
  placedFaults,
  placedWarnings,
  rebased,
  typed
} from '../../../apps/console/scripts/source/script-form.js'
import { comparedVersions } from '../../../apps/console/scripts/versions/compared-versions.js'

const form = { name: 'n', description: 'd', source: 's', requirements: '', framework: 'qiskit', type: 'script' }
const base = { ...form, updatedAt: '2026-01-01T00:00:00.000Z' }

test('a save sends what was changed, and when the script was read', () => {
  expect(changeBody({ ...form, source: 't', requirements: 'numpy' }, base)).toEqual({
    script_content: 't',
    requirements: 'numpy',
    unchanged_since: base.updatedAt
  })
  expect(changeBody({ ...form, description: '' }, base)).toEqual({ description: '', unchanged_since: base.updatedAt })
  expect(changeBody({ ...form, framework: 'cirq' }, base)).toEqual({
    framework: 'cirq',
    unchanged_since: base.updatedAt
  })
})

test('an editor that writes line ends its own way has typed nothing', () => {
  const before = { ...form, source: 'one\r\ntwo\rthree\n' }
  expect(typed({ ...before, source: 'one\ntwo\nthree\n' }, before)).toEqual(before)
  expect(typed({ ...before, source: 'one\ntwo\n' }, before).source).toBe('one\ntwo\n')
})

test('what was typed stays on top of what someone else has saved, field by field', () => {
  const theirs = { ...base, name: 'theirs', description: 'theirs', source: 'theirs', updatedAt: 'later' }
  expect(rebased({ ...form, source: 'mine' }, base, theirs)).toEqual({
    name: 'theirs',
    description: 'theirs',
    source: 'mine',
    requirements: '',
    framework: 'qiskit',
    type: 'script'
  })
})

describe('the faults of a save', () => {
  const refused = (message: string, faults: ApiError['faults'] = []) => new ApiError(400, message, null, faults)

  test('stand at their lines, and those of the requirements at that field', () => {
    const faults = [
      { field: 'script_content', message: 'invalid syntax', line: 3, column: 7 },
      { field: 'script_content', message: 'no column', line: 4, column: null },
      { field: 'requirements', message: 'requirements, line 1: no', line: 1, column: null }
    ]
    expect(placedFaults(refused('script_content, line 3, column 7: invalid syntax (and 2 more)', faults))).toEqual({
      source: [
        { line: 3, column: 7, message: 'invalid syntax' },
        { line: 4, column: 1, message: 'no column' }
      ],
      at: { requirements: 'requirements, line 1: no' },
      isElsewhere: false
    })
  })

  test('without a line are shown as the refusal', () => {
    const faults = [{ field: 'script_content', message: 'is empty', line: null, column: null }]
    expect(placedFaults(refused('script_content: is empty', faults)).isElsewhere).toBe(true)
    expect(placedFaults(new ApiError(409, 'conflict', null)).isElsewhere).toBe(true)
    expect(placedFaults(null)).toEqual({ source: [], at: {}, isElsewhere: false })
  })

  test('of one field stand at it', () => {
    expect(placedFaults(refused('name: must match "\\S"'))).toEqual({
      source: [],
      at: { name: 'must match "\\S"' },
      isElsewhere: false
    })
    expect(placedFaults(refused('script_content: is blank')).isElsewhere).toBe(true)
    expect(placedFaults(refused('framework: the code is cirq')).isElsewhere).toBe(true)
    expect(placedFaults(refused('constructor: x')).isElsewhere).toBe(true)
  })
})

test('warnings of the source stand at their lines, and the others below', () => {
  const warnings = [
    { field: 'script_content', message: 'at a line', line: 2 },
    { field: 'requirements', message: 'of requirements', line: 1 },
    { field: 'script_type', message: 'of the type', line: null }
  ] as const
  expect(placedWarnings(warnings)).toEqual([{ line: 2, column: 1, message: 'at a line' }])
  expect(otherWarnings(warnings)).toEqual(['of requirements', 'of the type'])
})

test('the last two versions are compared where the address names none that exist', () => {
  expect(comparedVersions([3, 2, 1], {})).toEqual({ from: 2, to: 3 })
  expect(comparedVersions([3, 2, 1], { from: 3, to: 1 })).toEqual({ from: 3, to: 1 })
  expect(comparedVersions([3, 2, 1], { from: 9, to: 1 })).toEqual({ from: 2, to: 1 })
  expect(comparedVersions([1], {})).toEqual({ from: 1, to: 1 })
})
