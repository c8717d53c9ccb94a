// A button can be pressed exactly where the API says so, and has its words where not.
import { expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Locator, Page } from 'playwright-core'
import { teams } from '../../../db/tables/accounts.js'
import { browserTest } from '../../support/browser/browser-test.js'
import { eventually } from '../../support/eventually.js'
import { refuse, startReceiver } from '../../support/receivers/webhook-receiver.js'
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
  api_keys: (Item<'revoke'> & { name: string })[]
  secrets: (Item<'replace' | 'test' | 'delete'> & { key_name: string })[]
  webhooks: (Item<'test' | 'delete'> & { id: string; url: string })[]
  deliveries: (Item<'send_again'> & { event: string })[]
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
      // Whoever reads the page cannot be given what is theirs.
      if ((await row.getByText('(you)').count()) > 0) expect(await button('Make owner', row).count()).toBe(0)
      else await agrees(`make ${member.email} the owner`, button('Make owner', row), member.can.make_owner)
    }
    await open('invitations')
    await agrees('invite', button('Send the invitation'), can.invite)
    for (const invitation of await read(page, `/api/team/invitations?team_id=${teamId}`, 'invitations')) {
      const row = page.getByRole('row').filter({ hasText: invitation.email })
      await agrees('resend', button('Send again', row), invitation.can.resend)
      await agrees('cancel', button('Cancel', row), invitation.can.cancel)
    }
    await open('credentials')
    const secrets = await read(page, `/api/team/secrets?team_id=${teamId}`, 'secrets')
    await agrees('credentials', button('Set the credentials of IBM Quantum'), can.save_credentials)
    for (const secret of secrets) {
      const row = page.getByRole('row').filter({ hasText: secret.key_name })
      await agrees(`delete ${secret.key_name}`, button('Delete', row), secret.can.delete)
      await agrees(`test ${secret.key_name}`, button('Test what IonQ has'), secret.can.test)
      await agrees(`replace ${secret.key_name}`, button('Change the credentials of IonQ'), secret.can.replace)
    }
    await open('keys')
    if (can.list_api_keys === true) {
      await agrees('make a key', button('Make the key'), can.create_api_key)
      for (const key of await read(page, `/api/team/api-keys?team_id=${teamId}`, 'api_keys')) {
        const row = page.getByRole('row').filter({ hasText: key.name })
        await agrees(`revoke ${key.name}`, button('Revoke', row), key.can.revoke)
      }
    } else await agrees('list keys', button('Make the key'), can.list_api_keys)
    await open('webhooks')
    if (can.list_webhooks === true) {
      await agrees('add a webhook', button('Add the webhook'), can.create_webhook)
      for (const webhook of await read(page, `/api/team/webhooks?team_id=${teamId}`, 'webhooks')) {
        const part = page.getByRole('region', { name: `Webhook ${webhook.url}` })
        await agrees(`test ${webhook.url}`, button('Send a test', part), webhook.can.test)
        await agrees(`delete ${webhook.url}`, button('Delete', part), webhook.can.delete)
        await button('Show the log', part).click()
        const log = `/api/team/webhooks/${webhook.id}/deliveries`
        for (const { event, can: may } of await read(page, log, 'deliveries')) {
          const row = page.getByRole('row').filter({ hasText: event })
          await agrees(`send ${event} again`, button('Send again', row), may.send_again)
        }
      }
    } else await agrees('list webhooks', button('Add the webhook'), can.list_webhooks)
    await open('budget')
    await agrees('budget', button('Save the limits'), can.change_budget)
    await open('retention')
    await agrees('retention', button('Save the days'), can.change_retention)
  }

  /** A delivery under way is not sent again. */
  const untilFailed = (page: Page, id: string) =>
    eventually(async () => {
      const [delivery] = await read(page, `/api/team/webhooks/${id}/deliveries`, 'deliveries')
      return delivery?.can.send_again === true
    })

  browserTest(
    'an owner, an admin and a member find what each may do, also in a suspended team, and the reason of the rest',
    scene.visit(async (visit) => {
      const { page } = visit
      const teamId = await owner(visit, 'Roles')
      await call(page, 'POST', '/api/team/invitations', { team_id: teamId, email: 'waits@example.org', role: 'member' })
      await call(page, 'POST', '/api/team/api-keys', { team_id: teamId, name: 'nightly', tier: 'qpu', kind: 'live' })
      const credentials = { provider: 'ionq', secrets: { api_key: 'a-key-of-nobody' } }
      await call(page, 'POST', '/api/team/secrets', { team_id: teamId, ...credentials })
      const receiver = await startReceiver(refuse)
      const webhook = { url: receiver.url, events: ['job.failed'] }
      const { id } = await call<{ id: string }>(page, 'POST', '/api/team/webhooks', { team_id: teamId, ...webhook })
      await call(page, 'POST', `/api/team/webhooks/${id}/test`)
      await untilFailed(page, id)
      await receiver.close()
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
    480_000
  )
}
