import { describe, expect, test } from '@jest/globals'
import { readSubmission, type SubmitBody, submissionAgain } from '../../../domain/jobs/submission.js'

const now = new Date('2026-11-21T10:00:00Z')
const read = (changes: Partial<SubmitBody> & Record<string, unknown>) =>
  readSubmission(
    { inline_code: 'OPENQASM 3.0;', backend: 'local', params: { shots: 1 }, ...changes } as SubmitBody,
    now
  )

const refusal = (changes: Record<string, unknown>): { code: string; message: string } => {
  try {
    read(changes)
  } catch (error) {
    return { code: (error as { code: string }).code, message: (error as Error).message }
  }
  throw new Error('was not refused')
}

describe('a submission', () => {
  test('has defaults for everything that may be left out', () => {
    expect(read({})).toEqual({
      source: { kind: 'inline', framework: 'openqasm', text: 'OPENQASM 3.0;' },
      backend: 'local',
      params: { shots: 1 },
      mode: 'direct',
      teamId: null,
      name: null,
      labels: [],
      timeoutSeconds: 120,
      maxCost: null,
      notBefore: null,
      circuitCount: 1,
      notify: null
    })
  })

  test.each([
    [{ inline_code: undefined }, 'none'],
    [{ circuit: { format: 'qasm3', payload: 'x' } }, 'inline_code, circuit'],
    [{ script_slug: 'bell' }, 'script_slug, inline_code']
  ])('with other than one source is refused: %p', (changes, got) => {
    expect(refusal(changes)).toEqual({
      code: 'validation_error',
      message: `exactly one of script_id, script_slug, inline_code, circuit is needed (got ${got})`
    })
  })

  test('a circuit is openqasm, and says so when another framework is named beside it', () => {
    const circuit = { format: 'qasm2', payload: 'OPENQASM 2.0;' } as const
    expect(read({ inline_code: undefined, circuit }).source).toEqual({
      kind: 'circuit',
      format: 'qasm2',
      text: circuit.payload
    })
    expect(read({ inline_code: undefined, circuit, framework: 'openqasm' }).source.kind).toBe('circuit')
    expect(refusal({ inline_code: undefined, circuit, framework: 'qiskit' }).message).toMatch(/^framework: /)
  })

  test('a capsule name needs a capsule', () => {
    expect(refusal({ capsule_name: 'x' }).message).toBe('capsule_name: needs create_capsule: true')
    expect(refusal({ capsule_name: 'x', create_capsule: false }).code).toBe('validation_error')
  })

  test('asks for a capsule, with a name or without', () => {
    expect(read({ create_capsule: true, capsule_name: 'x' }).capsule).toEqual({ name: 'x' })
    expect(read({ create_capsule: true }).capsule).toEqual({ name: null })
    expect(read({ create_capsule: false }).capsule).toBeUndefined()
  })

  test('names a saved script by its id or its slug, with the analysis that it was told of', () => {
    const id = '01900000-0000-7000-8000-000000000000'
    const source = (changes: Record<string, unknown>) => read({ inline_code: undefined, ...changes }).source
    expect(source({ script_id: id, framework: 'cirq' })).toEqual({
      kind: 'saved',
      by: { id },
      framework: 'cirq',
      analysis: null
    })
    expect(source({ script_slug: 'bell', analysis_id: 'a', warn_check_ids: ['w'] })).toEqual({
      kind: 'saved',
      by: { slug: 'bell' },
      framework: null,
      analysis: { id: 'a', consents: ['w'] }
    })
    expect(refusal({ analysis_id: 'a' }).message).toMatch(/^analysis_id: .*send script_id or script_slug/)
  })

  test("what changes nothing about a run passes: empty forms of later features, consent to warnings, an SDK's version", () => {
    expect(() =>
      read({ create_capsule: false, analysis_id: null, warn_check_ids: ['a'], sdk_version: '0.11.0' })
    ).not.toThrow()
    expect(() => read({ params: { shots: 1, extract_state_vector: false, circuit_count: 1 } })).not.toThrow()
  })

  test('keeps the number of circuits for the estimate, and hands it to the code as it is', () => {
    const params = { shots: 1, circuit_count: 1000 }
    expect(read({ params })).toMatchObject({ circuitCount: 1000, params })
  })

  test('keeps how its submitter wants to hear of the end', () => {
    expect(read({ notify: 'email' }).notify).toBe('email')
  })

  test('is run again with the same circuits, at once, and mails nobody', () => {
    const { source, ...job } = read({
      params: { shots: 1, circuit_count: 7 },
      notify: 'email',
      not_before: '2026-12-01T00:00:00Z'
    })
    const stored = {
      kind: 'inline',
      format: null,
      framework: 'openqasm',
      scriptId: null,
      version: null,
      native: null,
      text: source.kind === 'saved' ? '' : source.text
    } as const
    const again = submissionAgain({ ...job, params: job.params.text, teamId: 'a team' }, stored)
    expect(again).toMatchObject({ circuitCount: 7, params: job.params, notify: null, notBefore: null, maxCost: null })
  })

  test.each([
    [0.5, 500_000n],
    [0, 0n]
  ])('max_cost_usd %p is kept exactly', (usd, micro) => {
    expect(read({ max_cost_usd: usd }).maxCost).toBe(micro)
  })

  test('max_cost_usd finer than a micro-dollar is refused', () => {
    expect(refusal({ max_cost_usd: 1e-7 }).message).toMatch(/^max_cost_usd: .*at most 6 decimals/)
  })

  test('not_before reaches 30 days ahead and no further', () => {
    expect(read({ not_before: '2026-12-21T10:00:00Z' }).notBefore).toEqual(new Date('2026-12-21T10:00:00Z'))
    expect(refusal({ not_before: '2026-12-21T10:00:00.001Z' }).message).toMatch(/^not_before: .*30 days/)
    expect(refusal({ not_before: '2026-12-31T23:59:60Z' }).message).toMatch(/^not_before: /)
  })

  test('a not_before that is over asks for nothing: it must not move a reservation into a day of the past', () => {
    for (const past of ['2026-11-21T10:00:00Z', '2020-01-01T00:00:00Z', '0000-01-01T00:00:00Z'])
      expect(read({ not_before: past }).notBefore).toBeNull()
  })
})

describe('the framework of code that names none', () => {
  const framework = (inline_code: string) => {
    const { source } = read({ inline_code })
    return source.kind === 'inline' && source.framework
  }

  test.each([
    ['a header', 'OPENQASM 3.0;\nqubit q;', 'openqasm'],
    ['a header after comments', '// a\n/* b\n */ // c\nOPENQASM 2.0;', 'openqasm'],
    ['a header after a byte order mark', '\uFEFFOPENQASM 3;', 'openqasm'],
    ['an import', 'import qiskit\n', 'qiskit'],
    ['a from-import of a part', 'x = 1\n  from qiskit.circuit import Gate', 'qiskit'],
    ['Windows line ends', 'import numpy\r\nimport qiskit\r\n', 'qiskit'],
    ['the same import twice', 'import qiskit\nfrom qiskit import QuantumCircuit', 'qiskit']
  ])('is told by %s', (_what, code, expected) => {
    expect(framework(code)).toBe(expected)
  })

  test.each([
    ['two frameworks', 'import qiskit\nimport cirq'],
    ['an import among others', 'import numpy as np, qiskit']
  ])('is left to the execution service with %s', (_what, code) => {
    expect(framework(code)).toBe('auto')
  })

  test.each([
    ['nothing', 'x = 1'],
    ['a name that only begins like one', 'import qiskitish'],
    ['a header inside a comment', '/* OPENQASM 3.0;']
  ])('cannot be told from %s, and the message lists what may be sent', (_what, code) => {
    expect(refusal({ inline_code: code }).message).toBe(
      'framework: could not be told from the code, which names no framework; ' +
        'send one of qiskit, cirq, pennylane, openqasm, marqov, or import the framework you use'
    )
  })

  test('is told in linear time from 50,000 characters made to be slow', () => {
    const hostile = [
      ' '.repeat(50_000),
      '\t \n'.repeat(16_666),
      `import${'\t'.repeat(49_990)}x`,
      'import \t'.repeat(6_250),
      'from from from '.repeat(3_333),
      '//\n'.repeat(16_666),
      '/**/'.repeat(12_500),
      '/*'.repeat(25_000),
      `${'/**/ '.repeat(9_990)}OPENQAS`,
      'import qiskit\n'.repeat(3_571),
      'import qiskit_\n'.repeat(3_333)
    ]
    const began = performance.now()
    for (const inline_code of hostile)
      try {
        read({ inline_code })
      } catch (error) {
        expect((error as { code?: string }).code).toBe('validation_error')
      }
    // Each is quadratic work of a second or more when a pattern or a loop is not linear.
    expect(performance.now() - began).toBeLessThan(500)
  })
})
