// The rules of the pages of capsules that need no page.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { pack } from 'tar-stream'
import { targetOf } from '../../../apps/console/capsules/create/file-target.js'
import { capsuleBody, emptyForm, faultPlace, formOfTask } from '../../../apps/console/capsules/create/task-form.js'
import { lifeOf } from '../../../apps/console/capsules/life.js'
import { checkArchive } from '../../../apps/console/capsules/public/check/check-archive.js'
import { readCapsuleRecord } from '../../../apps/console/capsules/record/capsule-record.js'
import { plannedSeal } from '../../../apps/console/capsules/seal/planned-seal.js'
import { driftText, historyLayout, type PastPoint } from '../../../apps/console/capsules/verification/history-layout.js'
import { checksumsText } from '../../../capsule-format/checksums.js'

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

async function archiveOf(files: Record<string, Buffer>): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name: `bell/${name}` }, content)
  tar.finalize()
  const pieces: Buffer[] = []
  for await (const piece of tar as AsyncIterable<Buffer>) pieces.push(piece)
  return gzipSync(Buffer.concat(pieces))
}

describe('the check of a package', () => {
  const payload = {
    'definition.json': Buffer.from('{}'),
    [`tasks/${'a long folder '.repeat(12)}/result.json`]: Buffer.from('{"counts":{"00":1}}'),
    'tasks/~C3~A4/100%.json': Buffer.from('1'),
    'tasks/Größe/🔔.json': Buffer.alloc(700_000, 'x'),
    'tasks/main/empty': Buffer.alloc(0)
  }
  const checksums = Buffer.from(checksumsText(Object.entries(payload).map(([name, content]) => ({ name, content }))))
  const manifest = Buffer.from('{"name":"bell"}')
  const statement = {
    subjects: new Map([
      ['.checksums', sha256(checksums)],
      ['capsule.yaml', sha256(manifest)]
    ]),
    capsuleId: 'mqc:1:x',
    keyId: 'k'
  }
  const whole: Record<string, Buffer> = { 'capsule.yaml': manifest, '.checksums': checksums, ...payload }
  const check = async (files: Record<string, Buffer>) =>
    checkArchive(new Blob([new Uint8Array(await archiveOf(files))]).stream(), statement, () => {})

  test('holds for a package with long and foreign names, and counts its files', async () => {
    const { faults, files, bytes } = await check(whole)
    expect([faults, files]).toEqual([[], Object.keys(whole).length])
    expect(bytes).toBe(Object.values(whole).reduce((sum, { length }) => sum + length, 0))
  })

  test('names every file that was changed, added or left out', async () => {
    for (const name of Object.keys(payload)) {
      const changed = { ...whole, [name]: Buffer.concat([payload[name]!, Buffer.from('!')]) }
      expect((await check(changed)).faults).toEqual([`${name} was changed: its SHA-256 is not the one that was signed`])
      const { [name]: _, ...rest } = whole
      expect((await check(rest)).faults).toEqual([`${name} is missing in the package`])
    }
    expect((await check({ ...whole, 'tasks/main/more': Buffer.from('x') })).faults).toEqual([
      'tasks/main/more was never signed'
    ])
  })

  test('finds checksums and a manifest that were not signed', async () => {
    const lines = Buffer.from(`${checksums}sha256:${'0'.repeat(64)}  new\n`)
    expect((await check({ ...whole, '.checksums': lines })).faults).toContain(
      '.checksums is not the one that was signed'
    )
    expect((await check({ ...whole, 'capsule.yaml': Buffer.from('{}') })).faults).toEqual([
      'capsule.yaml is not the one that was signed'
    ])
  })

  test('ends with words, not with an error, where the package is cut off or is none', async () => {
    const archive = await archiveOf(whole)
    for (const bytes of [
      archive.subarray(0, archive.length - 20),
      archive.subarray(0, 40),
      Buffer.from('none'),
      Buffer.alloc(0)
    ]) {
      const { faults } = await checkArchive(new Blob([new Uint8Array(bytes)]).stream(), statement, () => {})
      expect(faults.length).toBeGreaterThan(0)
    }
  })
})

test('a refusal is shown at the task and the field that it names', () => {
  expect(faultPlace('workflow.tasks[2].parameters.shots: must be a whole number')).toEqual({
    task: 2,
    field: 'shots',
    text: 'must be a whole number'
  })
  expect(faultPlace('workflow.tasks[0].parameters.seed: must be a whole number')).toMatchObject({ field: 'parameters' })
  expect(faultPlace('name: must have a character')).toEqual({
    task: null,
    field: 'name',
    text: 'must have a character'
  })
  expect(faultPlace('The team is suspended')).toBeNull()
})

test('a form sends numbers with every digit, and what is no number as it was typed', () => {
  const form = emptyForm()
  const [task] = form.tasks
  const body = capsuleBody(
    { ...form, maxBudget: 'five', tasks: [{ ...task!, parameters: '{"theta":1.0}', shots: 'many' }] },
    true
  )
  expect(body.max_budget_usd).toBe('five')
  const [sent] = (body.workflow as { tasks: { parameters: Record<string, unknown> }[] }).tasks
  expect([String(sent!.parameters.theta), sent!.parameters.shots]).toEqual(['1.0', 'many'])
})

test('a task whose program is a circuit has no place in the form', () => {
  const { tasks } = readCapsuleRecord(
    '{"name":"n","workflow":{"tasks":[{"name":"a","script_id":null,"framework":"openqasm","circuit":{"format":"openqasm3","payload":"x"},"backend":"local","parameters":{"shots":10,"theta":1.0},"authorable":false}]}}'
  )
  expect(tasks[0]!.parameters).toBe('{"shots":10,"theta":1.0}')
  expect(formOfTask(tasks[0]!)).toBeNull()
  expect(formOfTask({ ...tasks[0]!, inline_code: 'y', authorable: true })).toMatchObject({ shots: '10', code: 'y' })
})

test('YAML and JSON are read as text, everything else as a package', () => {
  expect(['a.yaml', 'b.YML', 'c.json', 'd.capsule', 'e.crate.zip', 'f'].map((name) => targetOf(name).path)).toEqual([
    ...Array(3).fill('/api/capsules/upload'),
    ...Array(3).fill('/api/capsules/import')
  ])
})

test('the life of a capsule shows its state and only what can still follow', () => {
  const states = (...args: Parameters<typeof lifeOf>) => lifeOf(...args).map(({ state }) => state)
  expect(states('draft', false)).toEqual(['draft', 'sealed', 'published', 'archived'])
  expect(states('runnable', true)).toEqual(['runnable', 'sealed', 'published', 'archived'])
  expect(states('archived', true)).toEqual(['runnable', 'sealed', 'archived'])
  expect(states('published', false)).toEqual(['draft', 'sealed', 'published'])
})

describe('the history of verifications', () => {
  const point = (day: number, changes: Partial<PastPoint> = {}): PastPoint => ({
    completed_at: new Date(Date.UTC(2026, 0, day)).toISOString(),
    verdict: 'consistent',
    tvd: 0.01,
    tvd_upper: 0.02,
    margin: 0.05,
    ...changes
  })

  test('is drawn in the order of time with alerts, confirmations and those without a distance', () => {
    const layout = historyLayout(
      [
        point(3, { verdict: 'different', tvd: 0.2, tvd_upper: 0.3, alerted_at: '2026-01-03T00:00:00Z' }),
        point(1, { verdict: 'not_testable', tvd: null, tvd_upper: null }),
        point(2, { trigger: 'confirmation' })
      ],
      { points: 2, mean: 0.1, per_30_days: 0.2, standard_error: 0.01 },
      800
    )
    expect(layout.strip.map(({ verdict }) => verdict)).toEqual(['consistent', 'not_testable', 'different'])
    expect(layout.points.map(({ verdict }) => verdict)).toEqual(['consistent', 'different'])
    for (const path of [layout.alerts, layout.confirmations, layout.bounds, layout.margin]) expect(path).not.toBe('')
    expect(layout.drift!.y1).toBeGreaterThan(layout.drift!.y2)
    expect(layout.description).toBe(
      '3 verifications from 2026-01-01 to 2026-01-03: 1 consistent, 1 not testable, 1 different. The mean distance is 0.1. Drift: +0.2 in 30 days, standard error 0.01.'
    )
    expect(JSON.stringify(layout)).not.toMatch(/NaN|Infinity/)
  })

  test('of none, of one and of equal times has no number that cannot be drawn', () => {
    for (const past of [[], [point(1)], [point(1), point(1)], [point(1, { tvd: 0, tvd_upper: 0, margin: 0 })]])
      expect(JSON.stringify(historyLayout(past, null, 320))).not.toMatch(/NaN|Infinity|null,"y/)
  })

  test('says that a slope within two standard errors means nothing yet', () => {
    expect(driftText({ points: 9, mean: 0.01, per_30_days: 0.001, standard_error: 0.001 })).toMatch(/means nothing yet/)
    expect(driftText({ points: 2, mean: 0.01, per_30_days: null, standard_error: null })).toBe(
      'The mean distance is 0.01.'
    )
  })
})

test('the look before a seal warns of a value that no verification can judge, as the seal itself does', () => {
  const warnings = (seed: number | null, local: boolean) =>
    plannedSeal(
      [{ task: 'main', text: JSON.stringify({ energy: -1, metadata: { seed } }), hardware: false, local }],
      null
    )?.warnings
  expect(warnings(7, true)).toEqual([])
  expect(warnings(null, true)).toEqual([expect.stringContaining('a seed in the parameters would fix it')])
  expect(warnings(7, false)).toEqual([expect.stringContaining('whose randomness no seed fixes')])
})
