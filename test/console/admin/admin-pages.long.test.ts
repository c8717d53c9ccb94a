// Every page of administration in a real browser: who sees it, what texts of users do to it, and what it says of refusals.
import { describe, expect } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { apiRequests } from '../../support/browser/api-requests.js'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Visit } from '../../support/browser/visit.js'
import { eventually } from '../../support/eventually.js'
import { act, createStage, heading } from './stage.js'

const { scene, platform, db, ada, sent, administrator } = createStage()

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
      const made = await page.request.post(`${platform().url()}/api/teams`, { data: { name: 'Their own' } })
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
      await platform().submit({
        inline_code: 'OPENQASM 3.0; qubit q; bit b; b = measure q;',
        backend: 'local',
        name: 'one',
        params: { shots: 1 }
      })
      const requests = apiRequests(page)
      for (const [path, title] of [...pages, [`/admin/teams/${ada.teamId}`, 'Lab'] as const]) {
        await page.goto('about:blank')
        requests.clear()
        await open(path)
        await heading(page, title)
        await page.getByText('Loading…').first().waitFor({ state: 'detached' })
        await examine()
        expect([path, requests.size <= 8 ? [] : [...requests]]).toEqual([path, []])
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
      await db().execute(sql`update users set is_platform_admin = false where email = ${email}`)
      await page.getByRole('button', { name: 'Read again' }).click()
      await page.getByRole('alert').getByText('no route GET /api/admin/system').waitFor()
      await heading(page, 'System')
    })
  )
})

describe('the pages of administration', () => {
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
      await db().execute(sql`update users set email = ${evil} where email = ${ada.email}`)
      await open('/admin/users?q=onload')
      await page.getByText(evil).waitFor()
      await db().execute(sql`update users set email = ${ada.email} where email = ${evil}`)
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
      // The focus comes back a frame after the dialog is gone.
      await eventually(async () => (await focused()) === 'Suspend')
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
      await page.getByRole('button', { name: 'Older' }).click()
      await page.getByRole('link', { name: 'team 50' }).waitFor()
      expect(page.url()).toContain('page=2')
      await page.reload()
      await page.getByText('51 to 100 of 400').waitFor()
      await page.getByRole('button', { name: 'Newer' }).click()
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

  browserTest(
    'figures of money are those of the answer to the last micro-dollar, and none is added up in the page',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await administrator(visit)
      const job = { job_id: ada.teamId, team_id: ada.teamId, team_name: 'Lab', backend: 'local', provider: 'IonQ' }
      const at = '2026-01-01T00:00:00.000Z'
      await page.route('**/api/admin/money?*', (route) =>
        route.fulfill({
          json: {
            held: [
              {
                ...{ ...job, provider_job_id: null, status: 'failed', status_reason: null, since: at },
                ...{ held_usd: 123_456_789.123456, asks_provider_at: null }
              }
            ],
            held_jobs: 3,
            held_usd: 999_999_999.999999,
            over_reservation: [{ ...job, reserved_usd: 0.000001, settled_usd: 0.1, settled_at: at }],
            proofs: {}
          }
        })
      )
      await open('/admin/money')
      await page.getByText('$999999999.999999 of 3 jobs whose provider').waitFor()
      for (const figure of ['$123456789.123456', '$0.000001', '$0.10'])
        await page.getByRole('cell', { name: figure, exact: true }).waitFor()
      const period = { spent_usd: 0.1, reserved_usd: 0.2, remaining_usd: -0.300001 }
      const limits = { per_job_usd: 1e9, per_suite_usd: 0.000001, daily_usd: 0, monthly_usd: 12.5 }
      await page.route('**/budgets', (route) =>
        route.fulfill({
          json: {
            ...{ team_id: ada.teamId, limits, ceilings: limits },
            ...{ day: { date: '2026-01-01', ...period }, month: { month: '2026-01', ...period } }
          }
        })
      )
      await open(`/admin/teams/${ada.teamId}`)
      await page.getByText('$0.10 spent, $0.20 reserved, $-0.300001 left').first().waitFor()
      for (const [label, text] of [
        ['One job: limit, in USD', '1000000000'],
        ['One capsule run: limit, in USD', '0.000001'],
        ['A day: limit, in USD', '0'],
        ['A month: ceiling, in USD', '12.5']
      ] as const)
        expect(await page.getByLabel(label).inputValue()).toBe(text)
    })
  )
})
