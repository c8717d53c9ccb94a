// What the service refuses is named in its words: before the press where it says so, and after it otherwise.
import { expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { changeTeamBudget } from '../../db/money/budget.js'
import { teams } from '../../db/tables/accounts.js'
import { backends } from '../../db/tables/backends.js'
import { suspended } from '../../db/teams/teams.js'
import { browserTest } from '../support/browser/browser-test.js'
import { startVisit } from '../support/browser/visit.js'
import { PASSWORD, type Scene, submitted } from './scene.js'
import { wordsOf } from './support/words.js'

export type Verdict = true | string

/** A simulator with a price, while a test needs one. */
const PAID = 'aer-statevector'

export function refusalTests(scene: Scene): void {
  const read = async <Body>(page: Page, path: string) =>
    (await (await page.request.get(`${scene.platform.url()}${path}`)).json()) as Body
  const openForm = async (page: Page) => {
    await page.getByRole('button', { name: 'Submit a job', exact: true }).click()
    await page.getByText(/Estimated cost/).waitFor()
  }
  const submitButton = (page: Page) => page.getByRole('button', { name: 'Submit', exact: true })

  browserTest(
    'the form has each backend with price and queue, and why the service would refuse a job there, before the press',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await submitted(page, scene, {})
      await open('/jobs')
      await openForm(page)
      await page.getByText(/Left today: \$\S+ of \$\S+, this month: \$\S+ of \$\S+; limit of one job: \$\S+/).waitFor()
      const { destinations } = await read<{
        destinations: { name: string; available: boolean; refusals: { message: string }[] }[]
      }>(page, '/api/jobs/destinations')
      const refused = destinations.find(({ available }) => !available)!
      const backends = page.getByRole('region', { name: 'Backends' })
      // One more lets the service choose.
      expect(await backends.getByRole('radio').count()).toBe(destinations.length + 1)
      const [{ message } = { message: '' }] = refused.refusals
      await backends.getByRole('row', { name: refused.name }).getByText(message).waitFor()
      await backends.getByRole('radio', { name: refused.name }).check()
      expect(await submitButton(page).isDisabled()).toBe(true)
      await examine()
      await page.setViewportSize({ width: 360, height: 740 })
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    })
  )

  browserTest(
    'a budget that is spent while the form is open is named after the press, a suspension before it, in the words of the service',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const { db } = scene.platform.connection
      const id = await submitted(page, scene, {})
      const { team_id } = await read<{ team_id: string }>(page, `/api/jobs/${id}`)
      // One job a day can be paid.
      await db.update(backends).set({ taskFee: 600_000n }).where(eq(backends.slug, PAID))
      await changeTeamBudget(db, team_id, { daily: 1_000_000n })
      try {
        await open('/jobs')
        await openForm(page)
        await page.getByRole('radio', { name: /^Aer state vector/ }).check()
        await page.getByText('Estimated cost: $0.60').waitFor()
        // The form asks again each half minute, and an answer would name the budget before the press.
        await page.route('**/api/jobs/destinations', () => {})
        await submitted(page, scene, { backend: PAID, name: 'the one that is paid' })
        const refused = page.waitForResponse((response) => response.url().endsWith('/api/jobs/submit'))
        await submitButton(page).click()
        const response = await refused
        expect(response.status()).toBe(402)
        const words = wordsOf(await response.json())
        expect(words).toContain('daily')
        await page.getByRole('alert').getByText(words).waitFor()
      } finally {
        await page.unroute('**/api/jobs/destinations')
        await db.update(backends).set({ taskFee: 0n }).where(eq(backends.slug, PAID))
      }
      await db.update(teams).set({ suspendedAt: new Date(), suspendedReason: 'unpaid' }).where(eq(teams.id, team_id))
      await open('/jobs')
      await openForm(page)
      await page.getByText(suspended('unpaid').message).first().waitFor()
      expect(await submitButton(page).isDisabled()).toBe(true)
    })
  )

  browserTest(
    'an owner and a member can press on each job what the service allows, and find its words on the rest',
    scene.visit(async (visit) => {
      const { page } = visit
      await scene.signUp(visit)
      const jobs = {
        completed: await submitted(page, scene, { name: 'done' }),
        failed: await submitted(page, scene, { inline_code: 'raise ValueError("no")', framework: 'qiskit' }),
        pending: await submitted(page, scene, { not_before: new Date(Date.now() + 3_600_000).toISOString() })
      }
      const { team_id } = await read<{ team_id: string }>(page, `/api/jobs/${jobs.completed}`)
      const member = await startVisit(page.context().browser()!, () => scene.platform.url())
      try {
        await member.open(`/invitations/${await scene.invite(team_id, `member-${team_id}@example.org`)}`)
        await member.page.getByLabel('Password').fill(PASSWORD)
        await member.page.getByRole('button', { name: 'Create the account and join' }).click()
        await member.page.getByRole('heading', { level: 1, name: /^Jobs of/ }).waitFor()
        for (const one of [visit, member])
          for (const [status, id] of Object.entries(jobs)) {
            await one.open(`/jobs/${id}`)
            await one.page.getByLabel('Timeline').getByText(status, { exact: true }).waitFor({ timeout: 90_000 })
            const { can } = await read<{ can: { cancel: Verdict; rerun: Verdict } }>(
              one.page,
              `/api/jobs/${id}?result=omit`
            )
            await shows(one.page, 'Cancel', can.cancel)
            await shows(one.page, 'Run again', can.rerun)
          }
        await member.page.getByRole('button', { name: 'Cancel', exact: true }).click()
        await member.page.getByLabel('Timeline').getByText('cancelled', { exact: true }).waitFor()
        await page.getByLabel('Timeline').getByText('cancelled', { exact: true }).waitFor()
        expect(member.faults).toEqual([])
      } finally {
        await member.close()
      }
    })
  )
}

/** Waits until the button is as the record says: to be pressed, or with the words of its refusal. */
export async function shows(page: Page, name: string, verdict: Verdict): Promise<void> {
  const button = page.getByRole('button', { name, exact: true })
  await (verdict === true ? page.getByRole('button', { name, exact: true, disabled: false }) : button).waitFor()
  if (verdict === true) return
  await page.getByText(verdict).first().waitFor()
  expect(await button.isDisabled()).toBe(true)
}
