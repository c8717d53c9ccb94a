// What changes is shown without a reload, however many tabs are open.
import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { browserTest } from '../support/browser/browser-test.js'
import type { Visit } from '../support/browser/visit.js'
import { eventually } from '../support/eventually.js'
import { type Scene, submitted } from './scene.js'

const TABS = 8
const ROWS = 10_000
const ROWS_OF_PAGE = 1_000
export const FRAMES = 60

const inAnHour = () => ({ not_before: new Date(Date.now() + 3_600_000).toISOString() })

export function liveTests(scene: Scene): void {
  /** The page shows its heading before it opens the stream of the teams. */
  const signUpToItsStream = (visit: Visit) =>
    Promise.all([visit.page.waitForRequest((request) => request.url().endsWith('/api/events')), scene.signUp(visit)])

  browserTest(
    'the list shows new jobs and their changes, without a reload',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await submitted(page, scene, { name: 'the first' })
      await open('/jobs')
      await page
        .getByRole('row', { name: /the first/ })
        .getByText('completed')
        .waitFor({ timeout: 90_000 })
      await submitted(page, scene, { name: 'the second' })
      await page
        .getByRole('row', { name: /the second/ })
        .getByText('completed')
        .waitFor({ timeout: 90_000 })
      const id = await submitted(page, scene, { name: 'the third', ...inAnHour() })
      const third = page.getByRole('row', { name: /the third/ })
      await third.getByText('pending').waitFor()
      await page.getByText('3 of 3 jobs').waitFor()
      await page.request.post(`${scene.platform.url()}/api/jobs/${id}/cancel`)
      await third.getByText('cancelled').waitFor()
      expect(await page.getByRole('button', { name: 'Refresh' }).count()).toBe(0)
    })
  )

  browserTest(
    'eight tabs on the pages of jobs that wait all load, share one stream of the teams, and all follow a change',
    scene.visit(async (visit) => {
      const { page } = visit
      await signUpToItsStream(visit)
      const id = await submitted(page, scene, { name: 'seen by many', ...inAnHour() })
      const pages: Page[] = []
      const streams = { teams: 0, job: 0 }
      page.context().on('request', (request) => {
        const { pathname, search } = new URL(request.url())
        if (pathname === '/api/events') streams.teams++
        if (pathname === `/api/jobs/${id}/events` && search === '') streams.job++
      })
      for (let tab = 0; tab < TABS; tab++) pages.push(await page.context().newPage())
      await Promise.all(pages.map((one) => one.goto(`${scene.platform.url()}/jobs/${id}`)))
      const shown = (one: Page, status: string) =>
        one.getByLabel('Timeline').getByText(status, { exact: true }).waitFor()
      await Promise.all(pages.map((one) => shown(one, 'pending')))
      // The tab of the sign-up has the stream of the teams already.
      expect(streams.teams).toBe(0)
      expect(streams.job).toBe(3)
      await page.request.post(`${scene.platform.url()}/api/jobs/${id}/cancel`)
      await Promise.all(pages.map((one) => shown(one, 'cancelled')))
      // Another tab takes the stream over.
      await page.close()
      await eventually(() => streams.teams === 1)
      const list = pages[0]!
      await list.goto(`${scene.platform.url()}/jobs`)
      await list.getByText('1 of 1 jobs').waitFor()
      await submitted(pages[1]!, scene, { name: 'after the change of streams' })
      await list.getByRole('link', { name: 'after the change of streams' }).waitFor()
    })
  )

  browserTest(
    'when the service is killed the page says so, and when it is back the list continues by itself',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const { platform } = scene
      await scene.signUp(visit)
      await submitted(page, scene, { name: 'before', ...inAnHour() })
      await open('/jobs')
      await page.getByRole('link', { name: 'before' }).waitFor()
      const banner = page.getByText('The page continues as soon as it is back')
      await platform.kill('api')
      try {
        await page.getByLabel('Status').selectOption('pending')
        await banner.waitFor()
      } finally {
        await platform.start.api(Number(new URL(platform.url()).port))
      }
      await banner.waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'before' }).waitFor()
      await submitted(page, scene, { name: 'after', ...inAnHour() })
      await page.getByRole('link', { name: 'after' }).waitFor()
    })
  )

  browserTest(
    'a browser without locks has a stream in each tab that is seen, and none in a hidden one',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await page.addInitScript({ content: "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })" })
      await signUpToItsStream(visit)
      await page.goto('about:blank')
      const streams = { opened: 0, closed: 0 }
      const isStream = (request: { url(): string }) => request.url().endsWith('/api/events')
      page.on('request', (request) => void (isStream(request) && streams.opened++))
      page.on('requestfailed', (request) => void (isStream(request) && streams.closed++))
      await open('/jobs')
      await eventually(() => streams.opened === 1)
      await look(page, 'hidden')
      await eventually(() => streams.closed >= 1)
      await submitted(page, scene, { name: 'while hidden' })
      await look(page, 'visible')
      await page.getByRole('link', { name: 'while hidden' }).waitFor()
      expect(streams.opened).toBe(2)
    })
  )

  browserTest(
    'ten thousand jobs are read page by page while they are scrolled to, and few of their rows are on the page',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await submitted(page, scene, {})
      const first = await page.request.get(`${scene.platform.url()}/api/jobs?limit=1`)
      const known = (await first.json()) as { jobs: object[] }
      await page.route('**/api/jobs?*', async (route) => {
        const from = Number(/cursor=rows(\d+)/.exec(route.request().url())?.[1] ?? 0)
        const rows = Array.from({ length: ROWS_OF_PAGE }, (_, at) => from + at)
        const jobs = rows.map((row) => ({ ...known.jobs[0], id: `row-${row}`, name: `row ${row}` }))
        const to = from + ROWS_OF_PAGE
        const next_cursor = to < ROWS ? `rows${to}` : null
        const end = { total: ROWS, total_capped: true, total_estimate: 5_700_000, limit: 100, offset: 0, next_cursor }
        await route.fulfill({ json: { jobs, ...end } })
      })
      await open('/jobs')
      await page.getByText('1,000 of about 5,700,000 jobs').waitFor()
      await eventually(async () => {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)')
        return page.getByText('10,000 of about 5,700,000 jobs').isVisible()
      })
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await page.getByRole('link', { name: 'row 9999' }).waitFor()
      expect(await page.getByRole('row').count()).toBeLessThan(100)
      expect(await processorMs(page, () => page.evaluate(scrollThrough))).toBeLessThan(50 * FRAMES)
    })
  )
}

const look = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`
  )

/** How long the page's thread is at work meanwhile; how long it waits for a busy machine does not count. */
export async function processorMs(page: Page, act: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const worked = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1_000 * metrics.find(({ name }) => name === 'TaskDuration')!.value
  }
  const before = await worked()
  await act()
  return (await worked()) - before
}

/** Runs in the page: jumps through all rows, each time to rows that were not on the page. */
export const scrollThrough = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  for (let step = 0; step < ${FRAMES}; step++) {
    scrollTo(0, (document.body.scrollHeight / ${FRAMES}) * step)
    await frame()
  }
})()`
