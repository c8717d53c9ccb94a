// The text form of a job that waits, or runs at a provider.
import { expect, test } from '@jest/globals'
import type { JobRecord } from '../../../apps/cli/jobs/job-record.js'
import { attemptsText, jobText } from '../../../apps/cli/jobs/job-text.js'

const job = (changes: Partial<JobRecord>): JobRecord => ({
  id: '01900000-0000-7000-8000-000000000000',
  name: null,
  labels: [],
  status: 'pending',
  status_reason: null,
  backend: 'ionq-forte-1',
  execution_mode: 'temporal',
  framework: null,
  source: { kind: 'inline', sha256: 'a'.repeat(64) },
  estimated_cost_usd: 1.25,
  actual_cost_usd: null,
  error: null,
  summary: null,
  attempts: 0,
  provider_jobs: [],
  emulated: false,
  cancel: null,
  workflow: null,
  created_at: '2026-11-21T10:00:00.000Z',
  started_at: null,
  completed_at: null,
  queue: null,
  ...changes
})
const line = (name: string, record: JobRecord) =>
  jobText(record, null)
    .split('\n')
    .filter((text) => text.startsWith(`${name}  `))
    .map((text) => text.slice(name.length).trim())

test('the text of a waiting job shows the reason and its position', () => {
  const queue = { position: 3, reason: 'concurrency_limit', message: 'the team has as many jobs under way as it may' }
  expect(line('status', job({ queue }))).toEqual([
    'pending (the team has as many jobs under way as it may, position 3)'
  ])
  expect(line('status', job({ queue: { ...queue, position: null, message: null } }))).toEqual([
    'pending (concurrency_limit)'
  ])
  const message = 'waits in the queue of ionq at position 3'
  expect(line('status', job({ queue: { position: 3, reason: 'provider_queue', message } }))).toEqual([
    `pending (${message})`
  ])
})

test('the text of a job that an emulator ran says so', () => {
  expect(line('backend', job({ emulated: true }))).toEqual(['ionq-forte-1, temporal, emulated'])
})

test('the text of a job at a provider shows its provider job, and each attempt the delay of the next', () => {
  const provider_jobs = [{ provider_job_id: 'task-7', provider: 'ionq', status: 'completed', cost_usd: 0.3 }]
  expect(line('at ionq', job({ provider_jobs }))).toEqual(['task-7, completed, $0.30'])
  const billed = { ...provider_jobs[0]!, usage: { amount: 12.5, unit: 'HQC' }, note: 'the estimate is booked' }
  expect(line('at ionq', job({ provider_jobs: [billed] }))).toEqual([
    'task-7, completed, 12.5 HQC, $0.30, the estimate is booked'
  ])
  const attempt = {
    task_id: null,
    task: 'circuit',
    number: 1,
    state: 'lost',
    started_at: '2026-11-21T10:00:00.000Z',
    ended_at: '2026-11-21T10:00:02.000Z',
    error: { code: 'execution_service_lost', message: 'gone' },
    backoff_ms: 2_000,
    provider_job_id: null
  }
  const [headings, row] = attemptsText([attempt]).split('\n')
  expect(headings!.split(/ {2,}/)).toEqual([
    'ATTEMPT',
    'STATE',
    'STARTED',
    'LASTED',
    'NEXT AFTER',
    'AT PROVIDER',
    'ERROR'
  ])
  expect(row).toMatch(/^ +1 {2}lost .* 2 s .*execution_service_lost: gone$/)
})

test('the text of a job whose backend was chosen shows why, and of how many', () => {
  const candidates = [
    { usable: true, reason: 'the cheapest' },
    { usable: true, reason: 'it costs more' },
    { usable: false, reason: 'it is offline' }
  ]
  expect(line('chosen', job({ choice: { candidates } }))).toEqual(['the cheapest (2 of 3 backends could take it)'])
  expect(line('chosen', job({}))).toEqual([])
})
