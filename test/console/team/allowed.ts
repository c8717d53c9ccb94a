// A button can be pressed exactly where the API says so, and has its words where not.
import { expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Locator, Page } from 'playwright-core'
import { teams } from '../../../db/tables/accounts.js'
import { browserTest } from '../../support/browser/browser-test.js'
import type { TeamStage } from './stage.js'

type Verdict = true | string
interface Item<Name extends string> {
  can: Record<Name, Verdict>
}
interface Lists {
  teams: (Item<'rename' | 'leave' | 'delete' | 'invite' | 'save_credentials' | 'list_api_keys' | 'create_api_key'> &
    Item<'list_webhooks' | 'create_webhook' | 'change_budget' | 'change_retention'> & { id: string })[]
  members: (Item<'change_role' | 'remove' | 'make_owner'> & { user_id: string; email: string })[]
  invitations: (Item<'resend' | 'cancel'> & { email: string })[]
}

export function allowedTests({ scene, call, owner, colleague }: TeamStage): void {
  const read = async <Name extends keyof Lists>(page: Page, path: string, name: Name) =>
    (await call<Pick<Lists, Name>>(page, 'GET', path))[name]

  /** Compares every button of the pages with what the API says to the same person. */
  async function compare(page: Page, teamId: string): Promise<void> {
    const open = (part: string) => page.goto(`${scene.platform.url()}/team/${part}?team=${teamId}`)
    const agrees = async (what: string, button: Locator, verdict: Verdict) => {
      if (verdict === true) {
        await button.waitFor()
        expect([what, await button.isEnabled()]).toEqual([what, true])
      } else {
        await page.getByText(verdict).first().waitFor()
        for (const one of await button.all()) expect([what, await one.isEnabled()]).toEqual([what, false])
      }
    }
    const button = (name: string | RegExp, within: Page | Locator = page) =>
      within.getByRole('button', { name, exact: typeof name === 'string' })
    const { can } = (await read(page, '/api/teams', 'teams')).find(({ id }) => id === teamId)!
    await open('members')
    await page.getByRole('region', { name: 'Members' }).waitFor()
    await agrees('rename', button('Rename'), can.rename)
    await agrees('leave', button('Leave the team'), can.leave)
    await agrees('delete', button('Delete the team'), can.delete)
    for (const member of await read(page, `/api/team/members?team_id=${teamId}`, 'members')) {
      const row = page.getByRole('row').filter({ hasText: member.email })
      await agrees(`remove ${member.email}`, button('Remove', row), member.can.remove)
      expect(await row.getByRole('combobox').count()).toBe(member.can.change_role === true ? 1 : 0)
    }
    await open('invitations')
    await agrees('invite', button('Send the invitation'), can.invite)
    for (const invitation of await read(page, `/api/team/invitations?team_id=${teamId}`, 'invitations')) {
      const row = page.getByRole('row').filter({ hasText: invitation.email })
      await agrees('resend', button('Send again', row), invitation.can.resend)
      await agrees('cancel', button('Cancel', row), invitation.can.cancel)
    }
    await open('credentials')
    await agrees('credentials', button('Set the credentials of IonQ'), can.save_credentials)
    await open('keys')
    if (can.list_api_keys === true) await agrees('make a key', button('Make the key'), can.create_api_key)
    else await agrees('list keys', button('Make the key'), can.list_api_keys)
    await open('webhooks')
    if (can.list_webhooks === true) await agrees('add a webhook', button('Add the webhook'), can.create_webhook)
    else await agrees('list webhooks', button('Add the webhook'), can.list_webhooks)
    await open('budget')
    await agrees('budget', button('Save the limits'), can.change_budget)
    await open('retention')
    await agrees('retention', button('Save the days'), can.change_retention)
  }

  browserTest(
    'an owner, an admin and a member find what each may do, also in a suspended team, and the reason of the rest',
    scene.visit(async (visit) => {
      const { page } = visit
      const teamId = await owner(visit, 'Roles')
      await call(page, 'POST', '/api/team/invitations', { team_id: teamId, email: 'waits@example.org', role: 'member' })
      await colleague(visit, teamId, 'admin', async (admin) => {
        await colleague(visit, teamId, 'member', async (member) => {
          for (const person of [visit, admin, member]) await compare(person.page, teamId)
          const { db } = scene.platform.connection
          await db.update(teams).set({ suspendedAt: new Date(), suspendedReason: 'unpaid' }).where(eq(teams.id, teamId))
          for (const person of [visit, admin, member]) await compare(person.page, teamId)
        })
      })
    }),
    // Three people look at all pages twice.
    240_000
  )
}
