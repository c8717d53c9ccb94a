// Three hundred bodies of a faulty client: a valid one, changed by a seeded generator. None gives a 5xx, every refusal has
// a valid error body, and every accepted job can be read.
import { afterAll, expect, test } from '@jest/globals'
import { startApi } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('fuzz')
afterAll(() => api.close())

const BODIES = 300
const seed = Number(process.env.FUZZ_SEED ?? 20261121)

/** mulberry32: a small generator with the same numbers on every machine. */
function generator(state: number): () => number {
  let at = state
  return () => {
    at = (at + 0x6d2b79f5) | 0
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const random = generator(seed)
const below = (count: number): number => Math.floor(random() * count)
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!

const values: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e-7,
  1e21,
  2 ** 53,
  -(2 ** 31),
  100_000,
  100_001,
  '',
  ' ',
  '0',
  '100',
  'NaN',
  'null',
  '\0',
  '\ud800',
  '\uffff',
  '🔑',
  "'; drop table jobs; --",
  '%00',
  '../..',
  '{{7*7}}',
  '__proto__',
  'x'.repeat(1_000),
  'x'.repeat(60_000),
  [],
  [[]],
  {},
  { a: {} },
  [null],
  '2026-13-45T99:99:99Z',
  '0000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '01900000-0000-7000-8000-000000000000',
  'urn:uuid:01900000-0000-7000-8000-000000000000'
]
const keys = [
  'script_id',
  'script_slug',
  'inline_code',
  'circuit',
  'framework',
  'backend',
  'params',
  'create_capsule',
  'capsule_name',
  'execution_mode',
  'team_id',
  'name',
  'labels',
  'timeout_seconds',
  'max_cost_usd',
  'not_before',
  'notify',
  'analysis_id',
  'warn_check_ids',
  'sdk_version',
  'toString',
  'constructor',
  '__proto__',
  'prototype',
  'hasOwnProperty',
  '',
  '\0',
  '🔑',
  'a.b[0]'
]
const paramKeys = [
  'shots',
  'theta',
  'graph_size',
  'layers',
  'noise_model',
  'seed',
  'optimization_level',
  'circuit_count',
  'toJSON'
]

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

function mutated(): string {
  const body = submission({ params: { shots: 100 } })
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const kind = below(5)
    if (kind === 0) put(body, oneOf(keys), oneOf(values))
    else if (kind === 1) put(body.params as Record<string, unknown>, oneOf(paramKeys), oneOf(values))
    else if (kind === 2) delete body[oneOf(Object.keys(body))]
    else if (kind === 3)
      put(body, oneOf(keys), { format: 'qasm3', payload: oneOf(values), [oneOf(keys)]: oneOf(values) })
    else body.labels = Array.from({ length: below(12) }, () => oneOf(values))
    if (typeof body.params !== 'object' || body.params === null) body.params = { shots: 1 }
  }
  const text = JSON.stringify(body)
  // One in eight is damaged as text as well.
  if (below(8) > 0) return text
  const at = below(text.length)
  return oneOf([
    text.slice(0, at),
    `${text.slice(0, at)}${oneOf(['"', '{', ']', '\\u', '\0', ','])}${text.slice(at)}`,
    `${text}${text}`
  ])
}

test(`${BODIES} bodies from seed ${seed} are accepted or refused with a message, never with a 5xx`, async () => {
  const ada = await api.signUp()
  const faults: string[] = []
  const statuses = new Map<number, number>()
  for (let index = 0; index < BODIES; index++) {
    const body = mutated()
    const answer = await ada.ask('POST', '/api/jobs/submit', body)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const readable = async () => (await ada.get(`/api/jobs/${answer.body.job_id}`)).status === 200
    const fine =
      answer.status === 201
        ? await readable()
        : answer.status >= 400 &&
          answer.status < 500 &&
          typeof answer.body?.error === 'string' &&
          answer.text.length < 1_000
    if (!fine) faults.push(`${answer.status} ${answer.text.slice(0, 200)} for ${body.slice(0, 300)}`)
  }
  expect(faults).toEqual([])
  // Without both kinds the generator tests too little.
  expect(statuses.get(201) ?? 0).toBeGreaterThan(20)
  expect(statuses.get(400) ?? 0).toBeGreaterThan(100)
})
