// The console at the real limits of the service: requests are counted as for everybody.
import { beforeAll, expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { browserPath, browserTest } from '../../support/browser/browser-test.js'
import { sceneOfFile, submitted } from '../scene.js'

const scene = sceneOfFile()
/** Above the window of the limits, a minute. */
const WAIT_MS = 100_000

beforeAll(async () => {
  if (browserPath === null) return
  const { platform } = scene
  const port = Number(new URL(platform.url()).port)
  platform.settings.RATE_LIMIT_SCALE = '1'
  await platform.stop('api')
  await platform.start.api(port)
}, 60_000)

const waits = (page: Page) => page.getByText('Too many requests: the page waits')

/** Reads until the service refuses to. */
async function useUpReads(page: Page): Promise<void> {
  for (;;) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => page.request.get(`${scene.platform.url()}/api/jobs?limit=1`))
    )
    if (answers.some((answer) => answer.status() === 429)) return
  }
}

browserTest(
  'after too many submissions the form waits as long as the service asks, says so, and submits once',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await scene.signUp(visit)
    const later = { not_before: new Date(Date.now() + 3_600_000).toISOString() }
    await open('/jobs')
    await page.getByRole('button', { name: 'Submit a first job' }).click()
    await page.getByText(/Estimated cost/).waitFor()
    await page.getByLabel('Name (optional)').fill('after the wait')
    for (let job = 0; job < 10; job++) await submitted(page, scene, { name: `before ${job}`, ...later })
    await page.getByRole('button', { name: 'Submit', exact: true }).click()
    await waits(page).waitFor()
    await page.getByRole('heading', { level: 1, name: 'after the wait' }).waitFor({ timeout: WAIT_MS })
    const { jobs } = (await (await page.request.get(`${scene.platform.url()}/api/jobs`)).json()) as {
      jobs: { name: string }[]
    }
    expect(jobs.filter(({ name }) => name === 'after the wait')).toHaveLength(1)
    expect(jobs).toHaveLength(11)
  }),
  150_000
)

browserTest(
  'after too many reads a page that is open waits and continues, and so does one that is opened then',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await scene.signUp(visit)
    await submitted(page, scene, { name: 'to be found' })
    await open('/jobs')
    await page.getByRole('link', { name: 'to be found' }).waitFor()
    await useUpReads(page)
    await page.getByLabel('Status').selectOption('cancelled')
    await waits(page).waitFor()
    const second = await page.context().newPage()
    await second.goto(`${scene.platform.url()}/jobs`)
    await waits(second).waitFor()
    await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor({ timeout: WAIT_MS })
    await second.getByRole('link', { name: 'to be found' }).waitFor({ timeout: WAIT_MS })
    await waits(page).waitFor({ state: 'detached' })
  }),
  240_000
)
