// Two people at once: what one changes, the other's page learns of or the press says, and nothing that was typed is lost.
import { expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { teams } from '../../../db/tables/accounts.js'
import { suspended } from '../../../db/teams/teams.js'
import { browserTest } from '../../support/browser/browser-test.js'
import { eventually } from '../../support/eventually.js'
import { submitted } from '../scene.js'
import type { TeamStage } from './stage.js'

const MESSAGE = 'typed for some minutes'

export function togetherTests({ scene, call, owner, colleague }: TeamStage): void {
  const typeInvitation = async (page: Page, teamId: string) => {
    await page.goto(`${scene.platform.url()}/team/invitations?team=${teamId}`)
    await page.getByLabel('Email').fill('late@example.org')
    await page.getByLabel('Message (optional)').fill(MESSAGE)
  }
  const send = (page: Page) => page.getByRole('button', { name: 'Send the invitation' })
  const hear = (page: Page) =>
    page.evaluate<void>(`window.heard = []; new Promise((resolve) => {
      const source = new EventSource('/api/events')
      source.addEventListener('resync', resolve)
      source.addEventListener('job', ({ data }) => window.heard.push(JSON.parse(data).job_id))
    })`)
  const heard = (page: Page, id: string) => page.evaluate<boolean>(`window.heard.includes(${JSON.stringify(id)})`)

  browserTest(
    'an admin who is removed while typing is told at the press, keeps the text until the page is loaded again, and hears no further event',
    scene.visit(async (visit) => {
      const { page } = visit
      const teamId = await owner(visit, 'Leaving')
      await colleague(visit, teamId, 'admin', async (admin, adminId) => {
        await typeInvitation(admin.page, teamId)
        await Promise.all([hear(page), hear(admin.page)])
        const before = await submitted(page, scene, { team_id: teamId, not_before: inAnHour() })
        await eventually(() => heard(admin.page, before))
        await page.goto(`${scene.platform.url()}/team/members?team=${teamId}`)
        await hear(page)
        const row = page.getByRole('row').filter({ hasText: `Role of` })
        await row.getByRole('button', { name: 'Remove' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
        await row.waitFor({ state: 'detached' })
        const after = await submitted(page, scene, { team_id: teamId, not_before: inAnHour() })
        await eventually(() => heard(page, after))
        await send(admin.page).click()
        await admin.page.getByRole('alert').filter({ hasText: 'no such team' }).first().waitFor()
        await admin.page.getByText('You do not belong to the team Leaving any more').waitFor()
        expect(await admin.page.getByLabel('Message (optional)').inputValue()).toBe(MESSAGE)
        expect(await heard(admin.page, after)).toBe(false)
        await admin.page.reload()
        await admin.page.getByText('You do not belong to the team of this address').waitFor()
        expect(adminId).not.toBe('')
      })
    })
  )

  browserTest(
    'a team that is suspended elsewhere is named at the press, with the text kept and the button then closed',
    scene.visit(async (visit) => {
      const { page } = visit
      const teamId = await owner(visit, 'Suspended meanwhile')
      await typeInvitation(page, teamId)
      const { db } = scene.platform.connection
      await db.update(teams).set({ suspendedAt: new Date(), suspendedReason: 'unpaid' }).where(eq(teams.id, teamId))
      await send(page).click()
      await page
        .getByRole('alert')
        .filter({ hasText: suspended('unpaid').message })
        .waitFor()
      expect(await page.getByLabel('Message (optional)').inputValue()).toBe(MESSAGE)
      await eventually(() => send(page).isDisabled())
    })
  )

  browserTest(
    'a service that fails or is busy is named in its words, and the text is sent once when it can be',
    scene.visit(async (visit) => {
      const { page } = visit
      const teamId = await owner(visit, 'Bad days')
      await typeInvitation(page, teamId)
      const fault = { status: 500, json: { error: 'The service has a fault; try again' } }
      const busy = { status: 429, headers: { 'retry-after': '1' }, json: { error: 'Too many invitations' } }
      let answer: typeof fault | typeof busy | null = fault
      const keys = new Set<string | undefined>()
      await page.route('**/api/team/invitations', async (route) => {
        if (route.request().method() !== 'POST') return route.fallback()
        keys.add(route.request().headers()['idempotency-key'])
        return answer ? route.fulfill(answer) : route.fallback()
      })
      await send(page).click()
      await page.getByRole('alert').getByText('The service has a fault; try again').waitFor()
      expect(await page.getByLabel('Message (optional)').inputValue()).toBe(MESSAGE)
      answer = busy
      await send(page).click()
      // The words stand there for a second each time.
      await page.getByText('Too many requests: the page waits').waitFor()
      answer = null
      await page.getByText('The invitation to late@example.org is on its way').waitFor()
      expect(keys.size).toBe(1)
      await page.getByRole('cell', { name: MESSAGE }).waitFor()
    })
  )

  browserTest(
    'a member who left elsewhere is gone after the press, which says so',
    scene.visit(async (visit) => {
      const { page } = visit
      const teamId = await owner(visit, 'Left meanwhile')
      await colleague(visit, teamId, 'member', async (member) => {
        await page.goto(`${scene.platform.url()}/team/members?team=${teamId}`)
        const row = page.getByRole('row').filter({ hasText: 'Role of' })
        await row.getByRole('button', { name: 'Make owner' }).waitFor()
        await call(member.page, 'POST', `/api/teams/${teamId}/leave`)
        await row.getByRole('button', { name: 'Make owner' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Make owner' }).click()
        await eventually(async () => (await row.count()) === 0)
      })
    })
  )
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
