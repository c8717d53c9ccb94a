// An analog program at the emulated Aquila of AWS Braket: checked against the device's limits before anything is sent, and
// counted by site.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('braket-analog', { providers: ['aws-braket'] })
}, 240_000)
beforeEach(() => platform.provider('aws-braket').reset())
afterAll(() => platform.close())

const text = readFileSync(join(projectRoot, 'examples/analog.json'), 'utf8')
const submit = (payload: string) =>
  platform.submitPaid({ backend: 'quera-aquila', circuit: { format: 'ahs', payload }, params: { shots: 100 } })

test('a program runs unchanged, and its counts are by site', async () => {
  const sites = (JSON.parse(text) as { setup: { ahs_register: { sites: unknown[] } } }).setup.ahs_register.sites.length
  const job = await platform.ended(await submit(text))
  expect(job).toMatchObject({ status: 'completed', error: null, actual_cost_usd: 1.3, emulated: true })
  const { counts, metadata } = job.result! as { counts: Record<string, number>; metadata: Record<string, unknown> }
  expect(metadata).toMatchObject({
    bit_order: 'site order',
    count_source: 'provider_measurements',
    shots_observed: 100
  })
  // The account's number is for the team alone: results can be published.
  expect(JSON.stringify(job.result)).not.toContain('123456789012')
  expect(metadata.provider_job_id).toMatch(/^arn:aws:braket:us-east-1::quantum-task\/[0-9a-f-]{36}$/)
  expect(JSON.stringify(job.provider_jobs)).toContain('123456789012')
  for (const states of Object.keys(counts)) expect(states).toMatch(new RegExp(`^[egr]{${sites}}$`))
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(100)
  expect(platform.provider('aws-braket').tasks()).toHaveLength(1)
  expect(await platform.mismatches()).toEqual([])
}, 240_000)

test('a pulse beyond the device fails the job by name before anything is sent', async () => {
  const program = JSON.parse(text) as {
    hamiltonian: { drivingFields: { amplitude: { time_series: { values: string[] } } }[] }
  }
  const { values } = program.hamiltonian.drivingFields[0]!.amplitude.time_series
  values[Math.floor(values.length / 2)] = '9e9'
  const job = await platform.ended(await submit(JSON.stringify(program)))
  expect(job).toMatchObject({ status: 'failed', actual_cost_usd: 0, attempts: 0 })
  expect(job.error!.message).toMatch(/amplitude/)
  expect(platform.provider('aws-braket').tasks()).toEqual([])
}, 240_000)
