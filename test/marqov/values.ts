// Python values reach a user of the public client exactly, or not at all with a reason; never as an approximation.
import { expect, test } from '@jest/globals'
import type { Scene } from './scene.js'

const SOURCE = `from marqov import Circuit, task, workflow

def deep(levels):
    made = []
    for _ in range(levels):
        made = [made]
    return made

@task
def value(code):
    import math
    import numpy
    return eval(code, {"Circuit": Circuit, "deep": deep, "math": math, "numpy": numpy})

@task
def text_of(value):
    return repr(value)[:100]

@workflow
def each(*codes):
    return [value(code) for code in codes]

@workflow
def handed(code):
    return text_of(value(code))
`

/** A Python value and the JSON that is shown; numbers exactly as written. */
const shown: [code: string, json: string][] = [
  ['None', 'null'],
  ['[True, False]', '[true,false]'],
  ['2**53 + 1', '9007199254740993'],
  ['-(10**4299)', `-1${'0'.repeat(4_299)}`],
  ['0.1 + 0.2', '0.30000000000000004'],
  ['-0.0', '-0.0'],
  ['1e22', '1e+22'],
  ['"é\\u2028🔑\\n"', '"é\\u2028🔑\\n"'],
  ['(1, (2,))', '[1,[2]]'],
  ['{"b": 1, "a": {"10": 2, "9": 3}}', '{"b":1,"a":{"10":2,"9":3}}'],
  ['numpy.float64(0.5)', '0.5'],
  ['numpy.int64(2**62 + 1)', '4611686018427387905']
]

const hidden: [code: string, reason: RegExp][] = [
  ['float("nan")', /nan/i],
  ['[math.inf]', /inf/i],
  ['10**4300', /digits|integer|large/i],
  ['deep(300)', /deep|nest/i],
  ['Circuit().h(0)', /Circuit/],
  ['{1: "a", "1": "b"}', /1/],
  ['object', /type|object/],
  ['"\\ud800"', /surrogate/]
]

interface Display {
  state: string
  reason?: string
}

export function checkValues(scene: () => Scene): void {
  const run = async (entrypoint: string, codes: string[], end = 'completed'): Promise<string> =>
    scene().python.run(
      `
      job = connect(url, key).submit_native(team_id=team, source=source, entrypoint=entrypoint, args=codes, cap_cents=1)
      try:
          job.result(60, poll_interval=0.1)
          assert end == "completed"
      except JobFailed:
          assert end == "failed"
      return requests.get(f"{url}/api/jobs/{job.id}/status", headers={"Authorization": "Bearer " + key}).text
      `,
      { ...scene().there, team: scene().teamId, source: SOURCE, entrypoint, codes, end }
    )

  test('values that JSON can express are shown exactly', async () => {
    const text = await run(
      'each',
      shown.map(([code]) => code)
    )
    const displays = [...text.matchAll(/"state":"available","value":(.*?)\}\}(?=[,\]])/g)].map((match) =>
      plain(match[1]!)
    )
    expect(displays).toEqual(shown.map(([, json]) => plain(json)))
  }, 60_000)

  test('values that JSON cannot express are listed with a reason', async () => {
    const text = await run(
      'each',
      hidden.map(([code]) => code)
    )
    const displays: Display[] = JSON.parse(text).result.outputs.map(({ display }: { display: Display }) => display)
    expect(displays.map(({ state }) => state)).toEqual(hidden.map(() => 'unavailable'))
    for (const [at, [code, reason]] of hidden.entries())
      expect([code, displays[at]!.reason]).toEqual([code, expect.stringMatching(reason)])
  }, 60_000)

  test.each(refused)(
    '%s fails the job with an error that names the task and the reason',
    async (_what, code, reason) => {
      const text = await run('each', [code], 'failed')
      const { error } = JSON.parse(text).result
      expect(error).toMatch(/task 'value' \(task_0001\)/)
      expect(error).toMatch(reason)
      expect(error.length).toBeLessThan(1_000)
    },
    60_000
  )

  test('values that JSON cannot express still reach the next task', async () => {
    for (const [code, seen] of [
      ['{1, 2}', '{1, 2}'],
      ['b"\\x00\\xff"', "b'\\x00\\xff'"],
      ['{1: (2,), "1": float("nan")}', "{1: (2,), '1': nan}"]
    ] as const) {
      const { outputs } = JSON.parse(await run('handed', [code])).result
      expect(outputs[0].display.value).toBe(seen)
    }
  }, 120_000)
}

/** A Python value that a task cannot pass on. */
const refused: [what: string, code: string, reason: RegExp][] = [
  ['a hundred thousand nested lists', 'deep(100_000)', /cannot be pickled/],
  ['a generator', '(one for one in [])', /cannot pickle 'generator'/],
  ['a result above the size limit', '"x" * (17 * 2**20)', /16 MiB/]
]

/** Normalizes JSON that differs only in spaces and escapes. */
const plain = (json: string): string =>
  json
    .replaceAll(/(?<=[,:[{\]}\d"a-z])\s+/g, '')
    .replaceAll(/\\u([0-9a-f]{4})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
