// Every page and every action of administration in a real browser, against the real platform.
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { sql } from 'drizzle-orm'
import type { Browser, Page } from 'playwright-core'
import { grantPlatformAdmin } from '../../db/accounts/accounts.js'
import { browserPath, browserTest } from '../support/browser/browser-test.js'
import type { Visit } from '../support/browser/visit.js'
import { addSealedCapsule } from '../support/capsules/capsule-rows.js'
import { eventually } from '../support/eventually.js'
import { addHeldJob, usd } from '../support/jobs/money-rows.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'
import { createScene } from './scene.js'

let platform: Platform
let browser: Browser

const ada = { userId: '', email: 'ada@example.org', teamId: '' }

beforeAll(async () => {
  if (browserPath === null) return
  const { chromium } = await import('playwright-core')
  ;[platform, browser] = await Promise.all([
    startPlatform('console_admin'),
    chromium.launch({ executablePath: browserPath, args: ['--disable-dev-shm-usage'] })
  ])
  const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Lab' })
  const { user } = await sent<{ user: { id: string } }>('GET', '/api/auth/session')
  Object.assign(ada, { userId: user.id, teamId: id })
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await platform?.close()
})

const scene = createScene(() => ({ platform, browser }))

/** As ada, who owns the team Lab and is no administrator. */
async function sent<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
  const response = await platform.call(method, path, body)
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Body
}

/** Signs up a visitor and makes them an administrator. */
async function administrator(visit: Visit): Promise<{ email: string }> {
  const person = await scene.signUp(visit)
  await grantPlatformAdmin(platform.connection.db, person.email)
  return person
}

/** As the visitor. */
const read = async <Body>(page: Page, path: string): Promise<Body> =>
  (await (await page.request.get(`${platform.url()}${path}`)).json()) as Body

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()

/** Fills the fields of the dialog that a button opens, and presses its button of the same name. */
async function act(page: Page, button: string, fields: Record<string, string>): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text)
  await dialog.getByRole('button', { name: button, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

const newestAction = async (page: Page) => {
  const { entries } = await read<{ entries: { action: string; target: string; details: Record<string, unknown> }[] }>(
    page,
    '/api/admin/audit?limit=1'
  )
  return entries[0]
}

const pages = [
  ['/admin/system', 'System'],
  ['/admin/money', 'Money'],
  ['/admin/teams', 'Teams'],
  ['/admin/users', 'Users'],
  ['/admin/jobs', 'Jobs of all teams'],
  ['/admin/access-codes', 'Access codes'],
  ['/admin/backends', 'Backends of the catalogue'],
  ['/admin/capsules', 'Public capsules'],
  ['/admin/audit', 'Actions of administrators'],
  ['/audit', /^Audit/]
] as const

describe('who sees administration', () => {
  const unknownText = async ({ page, open }: Visit, path: string) => {
    await open(path)
    await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
    return page.locator('body').textContent()
  }

  browserTest(
    'visitors, members and owners get the page of an unknown address, without a request for administration',
    scene.visit(async (visit) => {
      const { page } = visit
      const asked: string[] = []
      page.on('request', (request) => {
        if (/\/api\/admin\/|admin-layout|system-page/.test(request.url())) asked.push(request.url())
      })
      const asVisitor = await unknownText(visit, '/no-such-page')
      for (const [path] of pages.slice(0, 9)) expect(await unknownText(visit, path)).toBe(asVisitor)
      await scene.signUp(visit)
      const made = await page.request.post(`${platform.url()}/api/teams`, { data: { name: 'Their own' } })
      const { id } = (await made.json()) as { id: string }
      const asOwner = await unknownText(visit, '/no-such-page')
      for (const path of [...pages.slice(0, 9).map(([path]) => path), '/admin', `/admin/teams/${id}`])
        expect(await unknownText(visit, path)).toBe(asOwner)
      await visit.open('/jobs')
      await heading(page, /^Jobs/)
      expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0)
      expect(asked).toEqual([])
    })
  )

  browserTest(
    'an administrator sees each page, without a serious finding, within 360 px and with at most eight requests',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await administrator(visit)
      await platform.submit({
        inline_code: 'OPENQASM 3.0; qubit q; bit b; b = measure q;',
        backend: 'local',
        name: 'one',
        params: { shots: 1 }
      })
      for (const [path, title] of [...pages, [`/admin/teams/${ada.teamId}`, 'Lab'] as const]) {
        let gets = 0
        const count = (request: { method(): string; url(): string }) =>
          void (request.method() === 'GET' && /\/api\//.test(request.url()) && gets++)
        await page.goto('about:blank')
        page.on('request', count)
        await open(path)
        await heading(page, title)
        await page.getByText('Loading…').first().waitFor({ state: 'detached' })
        await examine()
        page.off('request', count)
        expect([path, gets <= 8]).toEqual([path, true])
        await page.setViewportSize({ width: 360, height: 740 })
        expect([path, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([path, 360])
        await page.setViewportSize({ width: 1280, height: 720 })
      }
    })
  )

  browserTest(
    'rights that are taken away while a page is open end in the refusal of the service, and the page stays',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const { email } = await administrator(visit)
      await open('/admin/system')
      await heading(page, 'System')
      await page.getByRole('region', { name: 'Parts' }).first().waitFor()
      await platform.connection.db.execute(sql`update users set is_platform_admin = false where email = ${email}`)
      await page.getByRole('button', { name: 'Read again' }).click()
      await page.getByRole('alert').getByText('no route GET /api/admin/system').waitFor()
      await heading(page, 'System')
    })
  )
})

describe('what administrators do', () => {
  browserTest(
    'held money is settled with its note, to the micro-dollar, from the list and from the page of a job',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      const held = (cost: number) =>
        addHeldJob(platform.connection.db, ada, {
          cost: usd(cost),
          submission: { teamId: ada.teamId, backend: 'local' }
        })
      const [first, second] = [await held(7.123457), await held(2)]
      await open('/admin/money')
      await page.getByText(/^\$9\.123457 of 2 jobs whose provider/).waitFor()
      const row = page.getByRole('row', { name: new RegExp(first.slice(-8)) })
      await row.getByText('$7.123457').waitFor()
      await row.getByRole('button', { name: 'Settle' }).click()
      const dialog = page.getByRole('dialog', { name: 'Settle held money' })
      await dialog.getByLabel(/^What the provider billed/).fill('1.0000001')
      await dialog.getByLabel(/^Why/).fill('the bill <b>of</b> November')
      await dialog.getByRole('button', { name: 'Settle' }).click()
      await dialog.getByText(/must have at most 6 decimals/).waitFor()
      expect(await dialog.getByLabel(/^Why/).inputValue()).toBe('the bill <b>of</b> November')
      await dialog.getByLabel(/^What the provider billed/).fill('1.234567')
      await dialog.getByRole('button', { name: 'Settle' }).click()
      await page.getByText(/^\$2\.00 of 1 job whose provider/).waitFor()
      expect(await newestAction(page)).toMatchObject({
        action: 'job.settle',
        target: first,
        details: { cost_usd: 1.234567, note: 'the bill <b>of</b> November' }
      })
      await open(`/admin/jobs/${first}`)
      await page.getByText('$1.234567 ($7.123457 estimated)').waitFor()
      const { can } = await read<{ can: { settle: string } }>(page, `/api/admin/jobs/${first}`)
      await page.getByText(can.settle).waitFor()
      expect(await page.getByRole('button', { name: 'Settle' }).isDisabled()).toBe(true)
      await open(`/admin/jobs/${second}`)
      await act(page, 'Settle', { 'What the provider billed, in USD': '0', 'Why, for the record of actions': 'free' })
      await page.getByText('$0.00 ($2.00 estimated)').waitFor()
      await open('/admin/money')
      await page.getByText(/^\$0\.00 of 0 jobs/).waitFor()
    })
  )

  browserTest(
    'a team is suspended, its reason changed and the suspension lifted; its budget, limits and storage are set',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Set' })
      await open(`/admin/teams/${id}`)
      await act(page, 'Suspend', { 'Reason, which the team reads': 'unpaid' })
      await page.getByText(/^suspended since .*: unpaid$/).waitFor()
      await act(page, 'Change the reason', { 'Reason, which the team reads': 'still unpaid' })
      await page.getByText(/: still unpaid$/).waitFor()
      await page.getByRole('button', { name: 'Lift the suspension' }).click()
      await page.getByText('active', { exact: true }).waitFor()

      await page.getByLabel('A day: limit, in USD').fill('7.000001')
      await page.getByLabel('A month: ceiling, in USD').fill('much')
      await page.getByRole('button', { name: 'Change the budget' }).click()
      await page.getByText(/must be a number/).waitFor()
      expect(await page.getByLabel('A day: limit, in USD').inputValue()).toBe('7.000001')
      await page.getByLabel('A month: ceiling, in USD').fill('70000')
      await page.getByRole('button', { name: 'Change the budget' }).click()
      await page.getByText(/\$7\.000001 left/).waitFor()
      const { limits, ceilings } = await read<Record<'limits' | 'ceilings', Record<string, number>>>(
        page,
        `/api/admin/teams/${id}/budgets`
      )
      expect([limits.daily_usd, ceilings.monthly_usd]).toEqual([7.000001, 70_000])

      await page.getByLabel('Slots of the executor at once').fill('3')
      await page.getByRole('button', { name: 'Change the limits' }).click()
      await eventually(async () => (await newestAction(page))?.action === 'team.limits')
      await page.getByLabel('Limit in bytes').fill('123456789')
      await page.getByRole('button', { name: 'Change the storage' }).click()
      await page.getByText(/of 123,456,789 bytes are used/).waitFor()
      await page.getByLabel('Slots of the executor at once').fill('')
      await page.getByRole('button', { name: 'Change the limits' }).click()
      await eventually(async () => {
        const { teams } = await read<{ teams: { slots_max: number | null }[] }>(page, `/api/admin/teams?q=${id}`)
        return teams[0]!.slots_max === null
      })
    })
  )

  browserTest(
    'what is typed stays when another administrator changes the same team, and only what was typed is sent',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Shared' })
      await open(`/admin/teams/${id}`)
      await page.getByLabel('One job: limit, in USD').fill('1.5')
      const other = await page.request.put(`${platform.url()}/api/admin/teams/${id}/budgets`, {
        data: { daily_usd: 9 }
      })
      expect(other.status()).toBe(200)
      await act(page, 'Suspend', { 'Reason, which the team reads': 'meanwhile' })
      await page.getByText(/\$9\.00 left/).waitFor()
      expect(await page.getByLabel('One job: limit, in USD').inputValue()).toBe('1.5')
      await page.getByRole('button', { name: 'Change the budget' }).click()
      await eventually(async () => (await newestAction(page))?.action === 'team.budget')
      expect((await newestAction(page))!.details.requested).toEqual({ per_job_usd: 1.5 })
    })
  )

  browserTest(
    'a job of another team is found and cancelled, and nothing of its program is on the page',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      const id = await platform.submit({
        inline_code: 'canary = 1\nimport time\ntime.sleep(600)',
        framework: 'qiskit',
        backend: 'local',
        params: { shots: 1 },
        name: 'long <script>',
        team_id: ada.teamId
      })
      await open('/admin/jobs')
      await page.getByLabel(/^Id of a job/).fill(id)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'long <script>' }).click()
      await heading(page, 'long <script>')
      await act(page, 'Cancel the job', {})
      await eventually(async () => ['cancelling', 'cancelled'].includes((await platform.job(id)).status))
      expect(await page.locator('body').textContent()).not.toContain('canary')
      expect(await newestAction(page)).toMatchObject({ action: 'job.cancel', target: id })
    })
  )

  browserTest(
    'an access code is made, refused when it exists already, and a backend is changed and changed back',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      await open('/admin/access-codes')
      await page.getByLabel('Code', { exact: true }).fill('lab-code')
      await page.getByLabel('Accounts that it can open').fill('3')
      await page.getByRole('button', { name: 'Make an access code' }).click()
      await page.getByText('The code is lab-code.').waitFor()
      await page.getByRole('row', { name: /lab-code 3 never/ }).waitFor()
      await page.getByLabel('Code', { exact: true }).fill('lab-code')
      await page.getByRole('button', { name: 'Make an access code' }).click()
      await page.getByText(/this access code exists already/).waitFor()
      expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe('lab-code')

      await open('/admin/backends')
      const row = page.getByRole('row').filter({ hasText: 'marqov-sim' })
      await row.getByRole('button', { name: /^Change/ }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Status').selectOption('maintenance')
      await dialog.getByLabel('A task, in USD').fill('0.000001')
      await dialog.getByLabel('Place in the list').fill('77')
      await dialog.getByRole('button', { name: 'Change the backend' }).click()
      await row.getByText('$0.000001 a task').waitFor()
      await row.getByText('no: it is in maintenance').waitFor()
      expect((await newestAction(page))!.details).toMatchObject({ after: { status: 'maintenance', displayOrder: 77 } })
      await row.getByRole('button', { name: /^Change/ }).click()
      await dialog.getByLabel('Status').selectOption('online')
      await dialog.getByLabel('A task, in USD').fill('0')
      await dialog.getByRole('button', { name: 'Change the backend' }).click()
      await dialog.waitFor({ state: 'detached' })
      await row.getByText('free').waitFor()
    })
  )

  browserTest(
    'a public capsule is taken down with a reason, and its team reads the entry in its trail',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      const id = await addSealedCapsule(platform.connection.db, ada, ada.teamId, 'publish')
      await open('/admin/capsules')
      await page.getByRole('row', { name: new RegExp(`Bell ${id}`) }).waitFor()
      await act(page, 'Take down', { 'Reason, which its team reads': 'it names a person' })
      await page.getByText(`“Bell ${id}” is out of the catalogue.`).waitFor()
      await page.getByRole('heading', { name: 'No published capsule matches' }).waitFor()
      const { entries } = await sent<{ entries: { action: string; actor: string }[] }>(
        'GET',
        `/api/team/audit?team_id=${ada.teamId}`
      )
      expect(entries[0]).toMatchObject({ action: 'capsule.takedown', actor: expect.stringMatching(/^admin:/) })
    })
  )

  browserTest(
    'texts of users stay text: names of teams, addresses, reasons and notes',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await administrator(visit)
      const corpus = [
        '<img src=x onerror=alert(1)>',
        '"><script>alert(1)</script>',
        '\u202eevil\u202c name',
        'javascript:alert(1)',
        'a\u0301'.repeat(30),
        'w'.repeat(100)
      ]
      for (const name of corpus) {
        const { id } = await sent<{ id: string }>('POST', '/api/teams', { name })
        await open(`/admin/teams/${id}`)
        await page.getByText(id).waitFor()
        await act(page, 'Suspend', { 'Reason, which the team reads': name })
        await page.getByText(/^suspended since/).waitFor()
        expect(await page.locator('h1').textContent()).toBe(name)
        await page.setViewportSize({ width: 360, height: 740 })
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360)
        await page.setViewportSize({ width: 1280, height: 720 })
      }
      await open('/admin/audit')
      await page.getByText('reason: <img src=x onerror=alert(1)>').first().waitFor()
      await examine()
      await open('/admin/teams')
      await page.getByRole('link', { name: '"><script>alert(1)</script>' }).waitFor()
      await examine()
      expect(await page.locator('img, main script').count()).toBe(0)
      const evil = '"<svg/onload=alert(1)>"@example.org'
      await platform.connection.db.execute(sql`update users set email = ${evil} where email = ${ada.email}`)
      await open('/admin/users?q=onload')
      await page.getByText(evil).waitFor()
      await platform.connection.db.execute(sql`update users set email = ${ada.email} where email = ${evil}`)
    })
  )

  browserTest(
    'a team is suspended without a pointer, and Escape leaves the dialog without a change',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const { keyboard } = page
      await administrator(visit)
      const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Keys' })
      await open(`/admin/teams/${id}`)
      await heading(page, 'Keys')
      const focused = () => page.evaluate<string>('document.activeElement.textContent')
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 60; presses++) {
          await keyboard.press('Tab')
          if ((await focused()) === name) return
        }
        throw new Error(`Tab does not reach ${name}`)
      }
      await tabTo('Suspend')
      await keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Suspend the team' })
      await dialog.waitFor()
      await keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      expect(await focused()).toBe('Suspend')
      await keyboard.press('Enter')
      await dialog.waitFor()
      await dialog.getByLabel('Reason, which the team reads').focus()
      await keyboard.type('by keyboard')
      await keyboard.press('Tab')
      await keyboard.press('Enter')
      await page.getByText(/: by keyboard$/).waitFor()
    })
  )

  browserTest(
    'a list of 400 teams is read page by page, and the page is in the address',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      await page.route('**/api/admin/teams?*', async (route) => {
        const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
        const teams = Array.from({ length: 50 }, (_, at) => ({
          ...{ id: `team-${offset + at}`, name: `team ${offset + at}`, owner: null, members: 1, suspended: false },
          ...{ suspended_at: null, suspended_reason: null, running_jobs_max: null, slots_max: null, deleted_at: null },
          created_at: '2026-01-01T00:00:00.000Z'
        }))
        await route.fulfill({ json: { teams, total: 400, limit: 50, offset } })
      })
      await open('/admin/teams')
      await page.getByText('1 to 50 of 400').waitFor()
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByRole('link', { name: 'team 50' }).waitFor()
      expect(page.url()).toContain('from_row=50')
      await page.reload()
      await page.getByText('51 to 100 of 400').waitFor()
      await page.getByRole('button', { name: 'Previous' }).click()
      await page.getByRole('link', { name: 'team 0', exact: true }).waitFor()
    })
  )

  browserTest(
    'what the service refuses or cannot do stands on the page in its words',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      await page.route('**/api/admin/money?*', (route) =>
        route.fulfill({ status: 500, json: { error: 'the ledger <b>cannot</b> be read' } })
      )
      await open('/admin/money')
      await page.getByRole('alert').getByText('the ledger <b>cannot</b> be read').waitFor()
      await page.unroute('**/api/admin/money?*')
      await page.route('**/api/admin/system', (route) =>
        route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error: 'too many' } })
      )
      await open('/admin/system')
      await page.getByText(/Too many requests: the page waits/).waitFor()
      await page.unroute('**/api/admin/system')
      await page.getByRole('region', { name: 'Sweeps' }).first().waitFor()
      await open('/admin/jobs?status=nonsense')
      await page
        .getByRole('alert')
        .getByText(/^status: /)
        .waitFor()
      await open('/admin/jobs/00000000-0000-4000-8000-000000000000')
      await page.getByRole('alert').getByText('no such job').waitFor()
      await open('/admin/teams/00000000-0000-4000-8000-000000000000')
      await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
    })
  )
})
