// What holds for each page of a team and an account: hostile texts, narrow windows, few requests, no pointer.
import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { apiRequests } from '../../support/browser/api-requests.js'
import { browserTest } from '../../support/browser/browser-test.js'
import type { TeamStage } from './stage.js'

const parts = ['members', 'invitations', 'credentials', 'keys', 'webhooks', 'budget', 'usage', 'retention']
const GETS_MAX = 8
const WIDTH = 360

const markup = `<img src=x onerror="document.title='caught'"><script>document.title='caught'</script>"'&amp;`
const hostile = [
  markup,
  `\u202Egnp.exe\u2066\u200F שלום`,
  `a${'\u0301'.repeat(90)}`,
  'W'.repeat(100),
  `javascript:alert(1) {{7*7}} \${7*7} %00 ' or 1=1 --`
]

export function pageTests({ scene, call, owner, colleague }: TeamStage): void {
  const isIntact = async (page: Page, path: string) => {
    expect(await page.title()).not.toBe('caught')
    expect(await page.locator('main img, main script, main iframe').count()).toBe(0)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect([path, width <= WIDTH ? 'fits' : width]).toEqual([path, 'fits'])
  }

  browserTest(
    'hostile names, labels, messages and addresses are text on every page, which fits 360 pixels and needs at most 8 reads',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      const teamId = await owner(visit, markup)
      for (const [number, text] of hostile.entries()) {
        const name = text.slice(0, 100)
        await call(page, 'POST', '/api/team/api-keys', { team_id: teamId, name, tier: 'qpu', kind: 'live' })
        const email = `guest-${number}@example.org`
        await call(page, 'POST', '/api/team/invitations', { team_id: teamId, email, role: 'member', message: text })
      }
      const url = `https://hooks.example.org/${'x'.repeat(900)}?a=<script>"'&b=${encodeURIComponent(hostile[1]!)}`
      await call(page, 'POST', '/api/team/webhooks', { team_id: teamId, url, events: ['job.failed'] })
      const profile = {
        display_name: markup.slice(0, 100),
        bio: hostile.join('\n').slice(0, 500),
        location: hostile[1]
      }
      await call(page, 'PATCH', '/api/profile', { username: 'hostile', is_public: true, ...profile })
      await colleague(visit, teamId, 'member', async (member) => {
        await call(member.page, 'PATCH', '/api/profile', { display_name: hostile[2] })
        await page.setViewportSize({ width: WIDTH, height: 740 })
        const requests = apiRequests(page)
        const paths = [...parts.map((part) => `/team/${part}?team=${teamId}`), '/profile', '/profiles/hostile']
        for (const path of paths) {
          await page.goto('about:blank')
          requests.clear()
          await open(path)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.waitForLoadState('networkidle', { timeout: 30_000 }).catch(() => {})
          await page.getByText('Loading…').waitFor({ state: 'detached' })
          await isIntact(page, path)
          await examine()
          const reads = [...requests].filter((request) => request.startsWith('GET '))
          expect([path, reads.length <= GETS_MAX ? 'few' : reads]).toEqual([path, 'few'])
        }
        await open(`/team/members?team=${teamId}`)
        await page.getByRole('heading', { level: 1, name: `Team ${markup}` }).waitFor()
        await page.getByRole('button', { name: 'Make owner' }).click()
        await page.getByRole('dialog').waitFor()
        await isIntact(page, 'a dialog')
        await examine()
      })
    })
  )

  browserTest(
    'a private or unknown profile is refused in the words of the service, and a public one links to the web alone',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/profiles/no-such-name')
      await page.getByRole('alert').filter({ hasText: 'no such profile' }).waitFor()
      const website = 'https://example.org/me'
      const profile = { username: 'linked', is_public: true, website, avatar_url: 'https://pictures.example.org/a.png' }
      await call(page, 'PATCH', '/api/profile', profile)
      await open('/profiles/linked')
      const link = page.getByRole('link', { name: website })
      expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
        website,
        'nofollow noopener noreferrer ugc'
      ])
      // The picture would be a request to another site, which is a fault of the visit.
      expect(await page.locator('img').count()).toBe(0)
    })
  )

  browserTest(
    'a team is made, a person invited and a key made and copied away without a pointer',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const { keyboard } = page
      const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.type')
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 60; presses++) {
          await keyboard.press('Tab')
          if ((await focused()) === name) return
        }
        throw new Error(`Tab does not reach ${name}`)
      }
      await scene.signUp(visit)
      await open('/team')
      await page.getByRole('heading', { name: 'You have no team yet' }).waitFor()
      await tabTo('text')
      await keyboard.type('By keyboard')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Team By keyboard' }).waitFor()
      await tabTo('Invitations')
      await keyboard.press('Enter')
      await page.getByLabel('Email').waitFor()
      await tabTo('email')
      await keyboard.type('keys@example.net')
      await keyboard.press('Enter')
      await page.getByRole('cell', { name: 'keys@example.net', exact: true }).waitFor()
      await tabTo('Cancel')
      await keyboard.press('Enter')
      await page.getByRole('dialog', { name: /Cancel the invitation/ }).waitFor()
      await keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await open('/team/keys')
      await page.getByLabel('Name of the key').waitFor()
      await tabTo('text')
      await keyboard.type('a key')
      await keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'The new API key' })
      await dialog.waitFor()
      await tabTo('Close')
      await keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
    })
  )

  browserTest(
    'a refusal stands at its field with the text kept, another session is ended, and the account goes with its password',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/profile')
      await page.getByLabel('User name', { exact: true }).fill('admin')
      await page.getByRole('button', { name: 'Save the profile' }).click()
      await page.getByText('is reserved; choose another one').waitFor()
      expect(await page.getByLabel('User name', { exact: true }).inputValue()).toBe('admin')
      await page.getByLabel('User name', { exact: true }).fill('renamed-person')
      await page.getByRole('button', { name: 'Save the profile' }).click()
      await page.getByText('The profile is saved').waitFor()
      const { user } = await call<{ user: { email: string } }>(page, 'GET', '/api/auth/session')
      const credentials = { email: user.email, password: 'correct horse battery' }
      const other = await fetch(`${scene.platform.url()}/api/auth/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'another browser' },
        body: JSON.stringify(credentials)
      })
      expect(other.status).toBe(200)
      await open('/profile')
      const row = page.getByRole('row', { name: /another browser/ })
      await row.getByRole('button', { name: 'End' }).click()
      await row.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Delete the account' }).click()
      const form = page.getByRole('form', { name: 'Delete the account' })
      await form.getByLabel(/^Your password/).fill('not the password')
      await form.getByRole('button', { name: 'Delete it for good' }).click()
      await form.getByText('is not your password').waitFor()
      await form.getByLabel(/^Your password/).fill(credentials.password)
      await form.getByRole('button', { name: 'Delete it for good' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    })
  )
}
