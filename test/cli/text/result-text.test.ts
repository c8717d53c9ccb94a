// The text form of results of circuits and of programs, whatever their shape, and of comparisons of them.
import { expect, test } from '@jest/globals'
import { comparisonText } from '../../../apps/cli/jobs/comparison-text.js'
import { resultText } from '../../../apps/cli/jobs/result-text.js'

test("the text of a result has the program's summary first, then counts, values, warnings and output", () => {
  const text = resultText(
    JSON.stringify({
      counts: { '00': 60, '11': 40 },
      shots: 100,
      metadata: { seed: null },
      circuit_info: { depth: 2 },
      probabilities: { '00': 0.6, '11': 0.4 },
      execution_time_ms: 3,
      energy: -1.137,
      terms: [1, 2],
      warnings: ['mind the gap'],
      stdout: 'hello\n',
      _summary: { Energy: '-1.137 hartree', Shots: 100 },
      _workflow_metadata: { total_tasks: 3 }
    })
  )
  const [summary, counts, values, ...rest] = text.split('\n\n')
  expect(summary).toBe('Energy  -1.137 hartree\nShots   100')
  expect(counts).toMatch(/^100 shots, qubit 0 leftmost\n00 {2}█+ {2}60 {3}60\.0 %\n11 /)
  expect(values).toBe('energy  -1.137\nterms   [1,2]')
  expect(rest).toEqual(['warning: mind the gap', 'printed by the code:\nhello'])
})

test('the text of an analog program says what its letters are', () => {
  const metadata = { bit_order: 'site order' }
  const text = resultText(JSON.stringify({ counts: { gr: 60, er: 40 }, shots: 100, metadata }))
  expect(text).toMatch(/^100 shots, site 0 leftmost \(e empty, g ground state, r Rydberg state\)\ngr {2}█+ {2}60 /)
})

test('the text of a sweep is a table of its points, with every digit, and the reason of each that failed', () => {
  const text = resultText(
    `{"points":[
      {"index":0,"params":{"theta": 0.5, "n": 1000000000000000000000000000001},"counts":{"0":1,"1":9},"shots":10},
      {"index":1,"expectation_values":[{"observable":"ZZ","value":0.25,"standard_error":0.0125}],"counts":{"0":4},"shots":4},
      {"index":2,"shots":null,"value":[1000000000000000000000000000001]},
      {"index":3,"params":{"note":"\\u001b[31mred"},"error":{"code":"execution_error","message":"line 2: no\\u0007"}}],
      "total_points":4,"failed_points":[3],"metadata":{"sweep":true}}`
  )
  expect(text.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ').trim())).toEqual([
    'POINT | PARAMETERS | SHOTS | RESULT',
    '| 0 | theta=0.5, n=1000000000000000000000000000001 | 10 | 1: 9, 0: 1',
    '| 1 | 4 | ZZ = 0.25 ± 0.013',
    '| 2 | [1000000000000000000000000000001]',
    expect.stringMatching(/^\| 3 \| note="\P{Cc}*red" \| failed: line 2: no\P{Cc}?$/u)
  ])
})

test('what a program returns under the names of a sweep is shown as its values', () => {
  expect(resultText('{"points":[1,2],"total_points":2,"metadata":{"seed":null}}')).toBe(
    'points        [1,2]\ntotal_points  2'
  )
})

test('the text of a result keeps every digit of integers and cuts long values', () => {
  expect(resultText('{"result": 1000000000000000000000000000001}')).toBe('result  1000000000000000000000000000001')
  const long = resultText(`{"list":[${'12345,'.repeat(10_000)}1]}`)
  expect(long.length).toBeLessThan(1_100)
  expect(long).toMatch(/ \[12345,.*\.\.\. \(--json shows all\)$/)
  const lines = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`label ${n}`, 'x']))
  expect(resultText(JSON.stringify({ _summary: lines }))).toMatch(/\nand 10 more lines \(--json shows all\)$/)
})

test.each([
  ['{}', 'The result has no counts and no values (--json shows it).'],
  ['{"counts": {}}', 'counts  {}'],
  ['{"counts": "many"}', 'counts  "many"'],
  ['{"counts": {"a": {"b": 1}}}', 'counts  {"a": {"b": 1}}'],
  ['{"counts": {"up": 0.5}}', 'counts  {"up": 0.5}'],
  ['{"counts": {"0": -1}}', 'counts  {"0": -1}'],
  ['{"_summary": "text"}', '_summary  "text"'],
  ['{"metadata": {}, "shots": 5}', 'The result has no counts and no values (--json shows it).'],
  ['{"_summary": {"a": null, "b": [1]}}', 'a  null\nb  [1]'],
  ['{"warnings": "w", "stdout": 7, "x": null}', 'x  null'],
  ['{"a\\u001b[2J": "\\u001b[2J"}', 'a�[2J  "\\u001b[2J"']
])('%s shows as what it is', (json, text) => {
  expect(resultText(json)).toBe(text)
})

test('the counts of a result without shots are summed', () => {
  expect(resultText('{"counts": {"0": 3, "1": 4}}')).toMatch(/^7 shots, /)
})

test('expectation values are shown with their error and how they were found', () => {
  const text = resultText(
    JSON.stringify({
      expectation_values: [
        { observable: 'ZZ', value: 1, standard_error: 0, method: 'exact' },
        { observable: 'XI + 0.5*\u001b[31mZZ', value: -0.4375, standard_error: 0.01234, method: 'sampled' },
        {
          ...{ observable: 'XX', value: 0.98, standard_error: 0.02, method: 'sampled' },
          raw: { value: 0.85, standard_error: 0.01 }
        }
      ]
    })
  )
  expect(text).toBe(
    `${'ZZ'.padEnd(18)}1.000000 (exact)\nXI + 0.5*�[31mZZ  -0.437500 ± 0.012 (sampled)\n${'XX'.padEnd(18)}0.980000 ± 0.020 (sampled, raw 0.850000 ± 0.010)`
  )
  // A framework's own are stored in another form.
  const own = [{ name: 'Z(0)', kind: 'expval', value: 0.5 }]
  expect(resultText(JSON.stringify({ expectation_values: own }))).toBe(`expectation_values  ${JSON.stringify(own)}`)
})

test('the text of a comparison of several circuits lists their verdicts, and its texts cannot move the cursor', () => {
  const job = { job_id: 'an id', point: null, backend: 'local', count_source: null, seed: null }
  const circuit = (k: number) => ({
    name: `result /${k}\u001b[2J`,
    verdict: 'consistent' as const,
    n: 10,
    m: 10,
    notes: ['the circuits differ'],
    counts: [{ outcome: '0', a: 10, b: 10 }],
    left_out: { outcomes: 0, a: 0, b: 0 }
  })
  const text = comparisonText({
    verdict: 'not_testable',
    method: 'none',
    reason: 'a reason\u0007',
    statement: 'Nothing follows.',
    alpha: 0.01,
    margin: 0.05,
    tvd: null,
    tvd_upper: null,
    needed_shots: 2300,
    a: job,
    b: job,
    circuits: Array.from({ length: 25 }, (_, k) => circuit(k)),
    circuits_left_out: 50
  })
  expect(text).toMatch(/^verdict +not_testable\nmargin +0\.05\nneeded shots +2300 in each job\n/)
  expect(text).toMatch(/^a +an id on local, a value of its program$/m)
  expect(text.match(/^Note: the circuits differ$/gm)).toHaveLength(1)
  expect(text.match(/^consistent +result/gm)).toHaveLength(20)
  expect(text).toMatch(/55 more circuits: --json has more of them$/)
  for (const control of ['\u0007', '\u001b']) expect(text).not.toContain(control)
})
