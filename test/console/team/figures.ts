// Every figure of budget and usage is the answer's, to the last micro-dollar.
import { expect } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { budgetCounters, usageDays } from '../../../db/tables/budgets.js'
import { browserTest } from '../../support/browser/browser-test.js'
import { addHeldJob } from '../../support/jobs/money-rows.js'
import type { TeamStage } from './stage.js'

interface Usage {
  summary: { totalSpend: number; lastMonthSpend: number }
  byProvider: { provider: string; spend: number; jobs: number; shots: number }[]
  byBackend: { name: string; spend: number; jobs: number; shots: number }[]
  daily: { date: string; spend: number; jobs: number }[]
  months: { month: string; spend: number }[]
}
interface Budget {
  limits: Record<string, number>
  day: { spent_usd: number; reserved_usd: number; remaining_usd: number }
  month: { spent_usd: number; reserved_usd: number; remaining_usd: number }
  held: { total_usd: number; oldest: { held_usd: number }[] }
}

export function figureTests({ scene, call, owner }: TeamStage): void {
  /** The numbers in the cells of a row, without `$` and separators. */
  const numbersIn = async (row: Locator): Promise<number[]> =>
    (await row.getByRole('cell').allTextContents())
      .filter((text) => /^-?\$?[\d,]+(\.\d+)?$/.test(text))
      .map((text) => Number(text.replaceAll(/[$,]/g, '')))

  browserTest(
    'usage and budget show what the answers hold, and the table to download is the service’s own',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'Figures')
      const { db } = scene.platform.connection
      const today = new Date().toISOString().slice(0, 10)
      const monthAgo = new Date(Date.UTC(Number(today.slice(0, 4)), Number(today.slice(5, 7)) - 2, 3))
      const line = (day: string, backend: string, provider: string, spent: bigint, shots: bigint) => ({
        teamId,
        day,
        backend,
        provider,
        jobs: 3,
        shots: Number(shots),
        spent
      })
      await db
        .insert(usageDays)
        .values([
          line(today, 'local', 'Local', 0n, 12_345_678n),
          line(today, 'ionq-direct-forte-1', 'IonQ', 123_456_789_000_001n, 1_000n),
          line(`${today.slice(0, 8)}01`, 'ibm-fez', 'IBM Quantum', 100_000n, 7n),
          line(monthAgo.toISOString().slice(0, 10), 'ionq-direct-forte-1', 'IonQ', 1n, 1n)
        ] as never)
      const usage = await call<Usage>(page, 'GET', `/api/team/usage?team_id=${teamId}&months=12`)
      await open(`/team/usage?team=${teamId}`)
      const table = (name: string) => page.getByRole('region', { name, exact: true })
      await table('By day').waitFor()
      for (const { provider, spend, jobs, shots } of usage.byProvider) {
        const row = table('By provider').getByRole('row').filter({ hasText: provider })
        expect(await numbersIn(row)).toEqual([spend, jobs, shots])
      }
      for (const { name, spend, jobs, shots } of usage.byBackend) {
        const row = table('By backend').getByRole('row').filter({ hasText: name })
        expect(await numbersIn(row)).toEqual([spend, jobs, shots])
      }
      for (const { date, spend, jobs } of usage.daily) {
        const row = table('By day').getByRole('row').filter({ hasText: date })
        expect(await numbersIn(row)).toEqual([spend, jobs])
      }
      expect(usage.months).toHaveLength(12)
      for (const { month, spend } of usage.months)
        expect(await numbersIn(table('By month').getByRole('row').filter({ hasText: month }))).toEqual([spend])
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download as CSV' }).click()
      ])
      expect(download.suggestedFilename()).toBe(`usage-${today.slice(0, 7)}.csv`)

      const { user } = await call<{ user: { id: string; email: string } }>(page, 'GET', '/api/auth/session')
      const terms = { cost: 1_250_001n, submission: { teamId } }
      const held = await addHeldJob(db, { userId: user.id, email: user.email }, terms)
      await db
        .insert(budgetCounters)
        .values({ teamId, period: 'day', startsOn: today, spent: 999_999n, reserved: 1_000_001n })
        .onConflictDoUpdate({
          target: [budgetCounters.teamId, budgetCounters.period, budgetCounters.startsOn],
          set: { spent: 999_999n }
        })
      const budget = await call<Budget>(page, 'GET', `/api/team/budget?team_id=${teamId}`)
      await open(`/team/budget?team=${teamId}`)
      await table('Held').waitFor()
      for (const [text, { spent_usd, reserved_usd, remaining_usd }, limit] of [
        ['Today', budget.day, budget.limits.daily_usd],
        ['This month', budget.month, budget.limits.monthly_usd]
      ] as const) {
        const row = table('Spent and reserved').getByRole('row').filter({ hasText: text })
        expect(await numbersIn(row)).toEqual([spent_usd, reserved_usd, remaining_usd, limit])
      }
      const row = table('Held')
        .getByRole('row')
        .filter({ hasText: held.slice(-8) })
      // One short id in 40 has digits alone.
      expect((await numbersIn(row)).at(-1)).toBe(budget.held.oldest[0]!.held_usd)
      await page.getByText('$1.250001 of one job').waitFor()
      await page.getByLabel('A day (UTC)').fill('12345678')
      await page.getByRole('button', { name: 'Save the limits' }).click()
      await page.getByText(/must be at most .* the ceiling that the platform sets/).waitFor()
      expect(await page.getByLabel('A day (UTC)').inputValue()).toBe('12345678')
      await page.getByLabel('A day (UTC)').fill('7.000001')
      await page.getByRole('button', { name: 'Save the limits' }).click()
      await page.getByText('The limits hold from now on').waitFor()
      const after = await call<Budget>(page, 'GET', `/api/team/budget?team_id=${teamId}`)
      expect(after.limits.daily_usd).toBe(7.000001)
    })
  )

  browserTest(
    'how long contents are kept is set and taken back, and a refusal stands at its field',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'Keeps')
      await open(`/team/retention?team=${teamId}`)
      const output = page.getByLabel('What programs and tasks printed')
      await output.fill('1.5')
      await page.getByRole('button', { name: 'Save the days' }).click()
      await page.getByText(/must be an integer from 1 to 36500/).waitFor()
      await output.fill('30')
      await page.getByRole('button', { name: 'Save the days' }).click()
      await page.getByText('A new number holds in a day').waitFor()
      const row = page.getByRole('row').filter({ hasText: 'What programs and tasks printed' })
      await row.getByText('30 days').waitFor()
      await output.fill('')
      await page.getByRole('button', { name: 'Save the days' }).click()
      await row.getByText('30 days').waitFor({ state: 'detached' })
      const now = await call<{ output: { days: number | null } }>(page, 'GET', `/api/team/retention?team_id=${teamId}`)
      expect(now.output.days).toBeNull()
    })
  )
}
