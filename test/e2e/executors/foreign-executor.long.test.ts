// An executor of another release that speaks another protocol: it gets no call, and whoever upgrades reads why.
import { afterAll, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { startFaultyExecutor } from '../../support/stack/faulty-executor.js'
import { startPlatform } from '../../support/stack/platform.js'

const foreign = await startFaultyExecutor((response) => void response.end(JSON.stringify({ protocol: 99 })))
const platform = await startPlatform('foreign-executor', {}, { EXECUTOR_URL: foreign.url })
afterAll(async () => {
  await platform.close()
  await foreign.close()
})

test('a job waits while its only executor speaks another protocol, and /readyz and the log of the worker say so', async () => {
  const id = await platform.submit(submission({ execution_mode: 'temporal' }))
  await platform.until(id, (job) => job.status === 'running')
  const message = expect.stringMatching(/protocol 99/)
  await eventually(async () => {
    const { parts } = (await (await platform.call('GET', '/readyz')).json()) as { parts: Record<string, object> }
    expect(parts.executor).toMatchObject({ message })
    return true
  })
  // The worker and the api look at it at times of their own.
  await eventually(() => {
    const lines = platform.logLines().filter(({ process }) => process === 'worker')
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', executor: foreign.url, reason: message }))
    return true
  })
  expect(await platform.attempts(id)).toEqual([])
  expect(foreign.calls.filter(({ path }) => path !== '/health')).toEqual([])
}, 60_000)
