import { describe, expect, test } from '@jest/globals'
import { assertFramework, assertSource, SCRIPT_BYTES_MAX, slugChoices, slugOf } from '../../../domain/scripts/script.js'
import {
  assertAnalysed,
  hiddenDirections,
  type StoredAnalysis,
  textHint,
  withUniqueIds
} from '../../../domain/scripts/script-analysis.js'

const messageOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('was not refused')
}

describe('a slug', () => {
  test.each([
    ['A Bell pair', 'a-bell-pair'],
    ['  --Über  Größe!! 2 ', 'uber-gro-e-2'],
    ['ﬁne', 'fine'],
    ['量子', 'script'],
    ['\u{1f511}', 'script'],
    ['__proto__', 'proto'],
    ['x'.repeat(300), 'x'.repeat(200)],
    [`${'x'.repeat(199)}-y`, 'x'.repeat(199)]
  ])('of %j consists of its letters and digits', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  test('is followed by numbered ones of at most 200 characters', () => {
    const take = (name: string) => {
      const choices = slugChoices(name)
      return [1, 2, 3].map(() => choices.next().value)
    }
    expect(take('bell')).toEqual(['bell', 'bell-2', 'bell-3'])
    expect(take('x'.repeat(200))).toEqual(['x'.repeat(200), `${'x'.repeat(198)}-2`, `${'x'.repeat(198)}-3`])
  })
})

describe('a source', () => {
  test.each(['é', '\u{1f511}', '量'])('is measured in bytes of UTF-8: %s', (character) => {
    const bytes = Buffer.byteLength(character)
    const most = character.repeat(Math.floor(SCRIPT_BYTES_MAX / bytes)) + 'x'.repeat(SCRIPT_BYTES_MAX % bytes)
    expect(() => assertSource('f', most)).not.toThrow()
    expect(messageOf(() => assertSource('f', `${most}x`))).toBe('f: must be at most 1048576 bytes (got 1048577)')
  })

  test('is OpenQASM exactly when it is written so', () => {
    expect(() => assertFramework('openqasm', 'openqasm')).not.toThrow()
    expect(() => assertFramework('cirq', null)).not.toThrow()
    expect(messageOf(() => assertFramework('cirq', 'openqasm'))).toMatch(/is OpenQASM \(got "cirq"\)/)
    expect(messageOf(() => assertFramework('openqasm', null))).toMatch(/is Python/)
  })

  test('with characters that reverse text gets a check with the line', () => {
    expect(hiddenDirections('x = 1\ny = "é量"')).toEqual([])
    expect(hiddenDirections('x = 1\n# \u2066')).toEqual([
      expect.objectContaining({ id: 'hidden_direction', level: 'warning', line: 2 })
    ])
  })
})

describe('an analysis', () => {
  const about = { scriptId: 's', teamId: 't', sourceSha256: 'h', backend: 'local', shots: 1, circuitCount: 1, cost: 5n }
  const warning = { id: 'w', level: 'warning', message: 'm' } as const
  const kept: StoredAnalysis = { ...about, checks: [warning] }

  test('is valid for the analysed script, with consent to each warning, at no higher price', () => {
    expect(() => assertAnalysed(kept, about, ['w'])).not.toThrow()
    expect(() => assertAnalysed(kept, { ...about, cost: 4n }, ['w'])).not.toThrow()
    expect(messageOf(() => assertAnalysed(kept, about, []))).toMatch(/^warn_check_ids: .*: w$/)
  })

  test('that found an error refuses the run, with its message', () => {
    const failed = { ...kept, checks: [warning, { id: 'qubits', level: 'error' as const, message: 'too wide' }] }
    expect(messageOf(() => assertAnalysed(failed, about, ['w', 'qubits']))).toBe(
      'analysis_id: the analysis found what prevents the run: too wide'
    )
  })

  test.each<Partial<typeof about>>([
    { scriptId: 'x' },
    { teamId: 'x' },
    { sourceSha256: 'x' },
    { backend: 'x' },
    { shots: 2 },
    { circuitCount: 2 },
    { cost: 6n }
  ])('is invalid when anything else changed: %p', (change) => {
    expect(messageOf(() => assertAnalysed(kept, { ...about, ...change }, ['w']))).toMatch(/^analysis_id: /)
  })

  test('that does not exist is invalid', () => {
    expect(messageOf(() => assertAnalysed(null, about, ['w']))).toMatch(/^analysis_id: no analysis/)
  })

  test('gives each of its checks a unique id', () => {
    const ids = withUniqueIds([warning, warning, { ...warning, id: 'x' }, warning]).map(({ id }) => id)
    expect(ids).toEqual(['w', 'w-2', 'x', 'w-3'])
  })
})

test('the hint of a text is its signed djb2 hash', () => {
  expect([textHint(''), textHint('a'), textHint('hello world')]).toEqual(['5381', '177670', '894552257'])
  expect(textHint('OPENQASM 3.0;\nqubit[2] q;\n')).toMatch(/^-?\d+$/)
})
