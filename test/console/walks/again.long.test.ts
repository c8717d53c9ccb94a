// What a person does again: runs a job with changes, and signs in after the session has ended.
import { expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { changeTeamBudget } from '../../../db/money/budget.js'
import { backends } from '../../../db/tables/backends.js'
import { browserTest } from '../../support/browser/browser-test.js'
import { eventually } from '../../support/eventually.js'
import { PASSWORD, sceneOfFile, submitted } from '../scene.js'

const scene = sceneOfFile()
const PAID = 'aer-density-matrix'
/** Runs in the page: what a refused stream would wait for never comes, so only the sign-in can open it again. */
const noReopeningByTime = `{
  const later = window.setTimeout
  window.setTimeout = (act, ms, ...more) => {
    if (window.event?.type !== 'error' || !(window.event.target instanceof EventSource)) return later(act, ms, ...more)
    window.isRefused = true
    return 0
  }
}`

const later = () => ({ not_before: new Date(Date.now() + 3_600_000).toISOString() })

browserTest(
  'the price of an edited sweep with observables and mitigation is the one that is charged',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await scene.signUp(visit)
    const { db } = scene.platform.connection
    await db.update(backends).set({ taskFee: 1_000n, perShot: 7n }).where(eq(backends.slug, PAID))
    const params = {
      shots: 100,
      observables: ['ZZ', 'XX'],
      mitigation: { readout: true },
      noise_model: { readout_errors: { all: { p0_given1: 0.02, p1_given0: 0.01 } } },
      points: [{ seed: 1 }, { seed: 2, shots: 300 }, { seed: 3, observables: ['ZI'] }]
    }
    const code = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
    const id = await submitted(page, scene, {
      inline_code: code,
      backend: PAID,
      params,
      name: 'edited again',
      ...later()
    })
    const record = async (of: string) =>
      (await (await page.request.get(`${scene.platform.url()}/api/jobs/${of}`)).json()) as {
        team_id: string
        estimated_cost_usd: number
        actual_cost_usd: number | null
        status: string
      }
    const { team_id } = await record(id)
    await changeTeamBudget(db, team_id, { perJob: 1_000_000_000n, daily: 1_000_000_000n })
    await open(`/jobs/${id}`)
    await page.getByRole('button', { name: 'Edit and run again' }).click()
    const shown = page.getByText(/^Estimated cost: \$[\d.]+/)
    await shown.waitFor()
    const price = async () => Number(/\$(\d+(?:\.\d+)?)/.exec((await shown.textContent())!)![1])
    const earlier = await price()
    expect(earlier).toBe((await record(id)).estimated_cost_usd)
    await page.getByLabel('Shots').fill('200')
    await eventually(async () => (await price()) !== earlier)
    const before = await price()
    await page.getByRole('button', { name: 'Submit', exact: true }).click()
    await page.waitForURL((url) => !url.pathname.includes(id))
    const again = new URL(page.url()).pathname.split('/').at(-1)!
    await page
      .getByLabel('Timeline')
      .getByText(/^(completed|failed)$/)
      .waitFor({ timeout: 60_000 })
    const { estimated_cost_usd, actual_cost_usd, status } = await record(again)
    expect([status, before]).toEqual(['completed', estimated_cost_usd])
    expect(actual_cost_usd).toBe(before)
    expect(before).toBeGreaterThan(0)
  }),
  150_000
)

browserTest(
  'after signing in again the list is live at once, in the tab of the sign-in and in the one that has the stream',
  scene.visit(async (visit) => {
    const { page, open } = visit
    const { platform } = scene
    await page.context().addInitScript({ content: noReopeningByTime })
    await scene.signUp(visit)
    await submitted(page, scene, { name: 'before', ...later() })
    // The first tab has the stream of the teams.
    await open('/jobs')
    await page.getByRole('link', { name: 'before' }).waitFor()
    const second = await page.context().newPage()
    await second.goto(`${platform.url()}/jobs`)
    await second.getByRole('link', { name: 'before' }).waitFor()
    const refused = page.waitForResponse(
      (response) => response.url().endsWith('/api/events') && response.status() === 401,
      { timeout: 60_000 }
    )
    await page.request.post(`${platform.url()}/api/auth/sign-out`)
    // The stream breaks, comes back, and is refused.
    await platform.kill('api')
    await platform.start.api(Number(new URL(platform.url()).port))
    await refused
    await eventually(() => page.evaluate<boolean>('window.isRefused === true'))
    await second.getByLabel('Status').selectOption('pending')
    const dialog = second.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel(/^Password of/).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await submitted(second, scene, { name: 'after', ...later() })
    const appears = (one: Page) => one.getByRole('link', { name: 'after', exact: true }).waitFor()
    await Promise.all([appears(page), appears(second)])
  }),
  150_000
)
