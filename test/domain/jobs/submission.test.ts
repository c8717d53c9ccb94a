import { describe, expect, test } from '@jest/globals'
import { readSubmission, type SubmitBody, submissionAgain } from '../../../domain/jobs/submission.js'

const now = new Date('2026-11-21T10:00:00Z')
const read = (changes: Partial<SubmitBody> & Record<string, unknown>) => {
  const body = { inline_code: 'OPENQASM 3.0;', backend: 'local', params: { shots: 1 }, ...changes }
  return readSubmission(body as SubmitBody, JSON.stringify(body), now)
}

const refusal = (changes: Record<string, unknown>): { code: string; message: string } => {
  try {
    read(changes)
  } catch (error) {
    return { code: (error as { code: string }).code, message: (error as Error).message }
  }
  throw new Error('was not refused')
}

describe('a submission', () => {
  test('keeps the numbers of its parameters as they were written, since 1.0 is a float for a program', () => {
    const text =
      '{"params":{"a":1}, "params": {"shots":10, "x":1.0, "nested":{"y":[-1e300, 2]}, "text":"1.0"}, "name":"{}"}'
    const body = { ...(JSON.parse(text) as SubmitBody), inline_code: 'OPENQASM 3.0;', backend: 'local' }
    // As a default of the schema would add it.
    const params = { ...body.params, added: true }
    expect(readSubmission({ ...body, params }, text, now).params).toEqual({
      value: params,
      text: '{"shots":10,"x":1.0,"nested":{"y":[-1e300, 2]},"text":"1.0","added":true}'
    })
  })

  test('has defaults for every optional field', () => {
    expect(read({})).toEqual({
      source: { kind: 'inline', framework: 'openqasm', text: 'OPENQASM 3.0;' },
      backend: 'local',
      params: { value: { shots: 1 }, text: '{"shots":1}' },
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
      message: `send exactly one of script_id, script_slug, inline_code, circuit, circuits (got ${got})`
    })
  })

  test('with a circuit and another framework than openqasm is refused', () => {
    const circuit = { format: 'qasm2', payload: 'OPENQASM 2.0;' } as const
    expect(read({ inline_code: undefined, circuit }).source).toEqual({
      kind: 'circuit',
      format: 'qasm2',
      text: circuit.payload
    })
    expect(read({ inline_code: undefined, circuit, framework: 'openqasm' }).source.kind).toBe('circuit')
    expect(refusal({ inline_code: undefined, circuit, framework: 'qiskit' }).message).toMatch(/^framework: /)
  })

  test('with a capsule name needs create_capsule', () => {
    expect(refusal({ capsule_name: 'x' }).message).toBe('capsule_name: needs create_capsule: true')
    expect(refusal({ capsule_name: 'x', create_capsule: false }).code).toBe('validation_error')
  })

  test('that breaks several rules has all of them named', () => {
    expect(
      refusal({ capsule_name: 'x', inline_code: undefined, max_cost_usd: 0.0000001, not_before: '2030-01-01' })
    ).toEqual({
      code: 'validation_error',
      message:
        'send exactly one of script_id, script_slug, inline_code, circuit, circuits (got none); capsule_name: needs create_capsule: true; max_cost_usd: must be a number of USD with at most 6 decimals (got 1e-7); not_before: must be at most 30 days ahead (got 2030-01-01)'
    })
  })

  test('can request a capsule, with a name or without', () => {
    expect(read({ create_capsule: true, capsule_name: 'x' }).capsule).toEqual({ name: 'x' })
    expect(read({ create_capsule: true }).capsule).toEqual({ name: null })
    expect(read({ create_capsule: false }).capsule).toBeUndefined()
  })

  test('can name a saved script by id or slug, with its analysis', () => {
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

  test('accepts fields that change nothing about a run: null analysis, consents, an SDK version', () => {
    expect(() =>
      read({ create_capsule: false, analysis_id: null, warn_check_ids: ['a'], sdk_version: '0.11.0' })
    ).not.toThrow()
    expect(() => read({ params: { shots: 1, extract_state_vector: false, circuit_count: 1 } })).not.toThrow()
  })

  test('uses the number of circuits for the estimate, and passes it to the code unchanged', () => {
    const params = { shots: 1, circuit_count: 1000 }
    expect(read({ params })).toMatchObject({
      circuitCount: 1000,
      params: { value: params, text: JSON.stringify(params) }
    })
  })

  test('keeps the requested notification', () => {
    expect(read({ notify: 'email' }).notify).toBe('email')
  })

  test('is repeated with the same circuits, at once, and without a mail', () => {
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
      maxCost: null,
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

  test('with a max_cost_usd finer than a micro-dollar is refused', () => {
    expect(refusal({ max_cost_usd: 1e-7 }).message).toMatch(/^max_cost_usd: .*at most 6 decimals/)
  })

  test('can start at most 30 days ahead', () => {
    expect(read({ not_before: '2026-12-21T10:00:00Z' }).notBefore).toEqual(new Date('2026-12-21T10:00:00Z'))
    expect(refusal({ not_before: '2026-12-21T10:00:00.001Z' }).message).toMatch(/^not_before: .*30 days/)
    expect(refusal({ not_before: '2026-12-31T23:59:60Z' }).message).toMatch(/^not_before: /)
  })

  test('with a not_before in the past starts now, so its reservation cannot count against a past day', () => {
    for (const past of ['2026-11-21T10:00:00Z', '2020-01-01T00:00:00Z', '0000-01-01T00:00:00Z'])
      expect(read({ not_before: past }).notBefore).toBeNull()
  })
})

test('the framework braket is another name of marqov', () => {
  const { source } = read({ inline_code: 'OPENQASM 3; qubit[2] q; cnot q[0], q[1];', framework: 'braket' })
  expect(source).toMatchObject({ kind: 'inline', framework: 'marqov' })
})

describe('the framework of code without a declared one', () => {
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
  ])('is detected by %s', (_what, code, expected) => {
    expect(framework(code)).toBe(expected)
  })

  test.each([
    ['two frameworks', 'import qiskit\nimport cirq'],
    ['an import among others', 'import numpy as np, qiskit']
  ])('is left to the executor with %s', (_what, code) => {
    expect(framework(code)).toBe('auto')
  })

  test.each(['marqov', 'braket'] as const)(
    '%s reads a circuit in OpenQASM 3 as its dialect, as far as code can be long',
    (name) => {
      const circuit = (payload: string, format: 'qasm2' | 'qasm3' = 'qasm3') => ({
        inline_code: undefined,
        framework: name,
        circuit: { format, payload }
      })
      expect(read(circuit('qubit q;')).source).toEqual({ kind: 'inline', framework: 'marqov', text: 'qubit q;' })
      expect(refusal(circuit('x', 'qasm2')).message).toBe(`framework: a circuit in qasm2 is openqasm (got "${name}")`)
      expect(refusal(circuit('x'.repeat(50_001))).message).toBe(
        "circuit.payload: a program in Braket's dialect has at most 50000 characters (got 50001)"
      )
    }
  )

  test.each([
    ['nothing', 'x = 1'],
    ['a word that only begins like a framework', 'import qiskitish'],
    ['a header inside a comment', '/* OPENQASM 3.0;']
  ])('cannot be detected from %s, and the message lists the frameworks', (_what, code) => {
    expect(refusal({ inline_code: code }).message).toBe(
      'framework: could not be detected, because the code imports no known framework; ' +
        'send one of qiskit, cirq, pennylane, openqasm, marqov, braket, or import the framework you use'
    )
  })

  test('is detected in linear time from 50,000 adversarial characters', () => {
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
    // Of this process alone: the time of a busy machine counts nothing.
    const before = process.cpuUsage()
    for (const inline_code of hostile)
      try {
        read({ inline_code })
      } catch (error) {
        expect((error as { code?: string }).code).toBe('validation_error')
      }
    // Each takes a second or more when a pattern or a loop is quadratic.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500)
  })
})
