// `can` walked: in each state of a capsule and for each role, what is offered is what the service allows, and what is withheld
// says why in its words.
import { expect } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { teams } from '../../../db/tables/accounts.js'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'
import { capsuleOfJob, completedJob } from './walk.js'

type Can = Record<string, true | string>

/** The button of each action. */
const buttons = {
  verify: 'Verify',
  run: 'Run as a template',
  seal: 'Seal',
  publish: 'Publish',
  archive: 'Archive',
  update: 'Change',
  clone: 'Clone',
  delete: 'Delete'
} as const

interface Session {
  user: { id: string }
  teams: { id: string }[]
}

export const sessionOf = async (page: Page, scene: Scene): Promise<Session> =>
  (await (await page.request.get(`${scene.platform.url()}/api/auth/session`)).json()) as Session

export async function post<Body = Record<string, string>>(
  page: Page,
  scene: Scene,
  path: string,
  data: object = {}
): Promise<Body> {
  const response = await page.request.post(`${scene.platform.url()}${path}`, { data })
  if (!response.ok()) throw new Error(`${path} answered ${response.status()}: ${await response.text()}`)
  return (await response.json()) as Body
}

const canOf = async (page: Page, scene: Scene, id: string): Promise<Can> =>
  ((await (await page.request.get(`${scene.platform.url()}/api/capsules/${id}`)).json()) as { can: Can }).can

/** One capsule in each state. */
async function inEachState(page: Page, scene: Scene): Promise<Record<string, string>> {
  const draft = await post(page, scene, '/api/capsules/create', { name: 'A draft' })
  const ids: Record<string, string> = { draft: draft.capsule_id! }
  const job = await completedJob(page, scene, { params: { shots: 100, seed: 1 } })
  for (const state of ['runnable', 'sealed', 'published', 'archived']) {
    const { capsule_id: id } = await post(page, scene, '/api/capsules/from-job', {
      job_id: job,
      name: state,
      ...(state !== 'runnable' && { seal: true })
    })
    if (state === 'published')
      await post(page, scene, `/api/capsules/${id}/publish`, { title: `Of ${id}`, description: 'd' })
    if (state === 'archived') await post(page, scene, `/api/capsules/${id}/archive`)
    ids[state] = id!
  }
  return ids
}

/** Every button is as `can` says. */
async function compare(page: Page, scene: Scene, id: string): Promise<void> {
  const can = await canOf(page, scene, id)
  for (const [action, name] of Object.entries(buttons)) {
    const button = page.getByRole('button', { name, exact: true }).first()
    await button.waitFor()
    const said = can[action]!
    expect([action, await button.isDisabled()]).toEqual([action, said !== true])
    if (said !== true) expect(await button.locator('..').textContent()).toBe(`${name}${said}`)
  }
}

export function actionTests(scene: Scene): void {
  browserTest(
    'in each state, its owner, a member, an admin, the members of a suspended team and who inherits it see what they may do, and why not',
    scene.visit(async (owner) => {
      const { page } = owner
      await scene.signUp(owner)
      const ids = await inEachState(page, scene)
      const { teams: own } = await sessionOf(page, scene)
      const teamId = own[0]!.id
      const { db } = scene.platform.connection
      for (const [state, id] of Object.entries(ids)) {
        await owner.open(`/capsules/${id}`)
        await page.locator(`[aria-current=step]`).filter({ hasText: state }).waitFor()
        await compare(page, scene, id)
      }
      await scene.visit(async (other) => {
        await scene.signUp(other)
        const { user } = await sessionOf(other.page, scene)
        for (const role of ['member', 'admin']) {
          await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${user.id}, ${role})
            on conflict (team_id, user_id) do update set role = excluded.role`)
          for (const id of Object.values(ids)) {
            await other.open(`/capsules/${id}?team=${teamId}`)
            await compare(other.page, scene, id)
          }
        }
        await db.update(teams).set({ suspendedAt: new Date(), suspendedReason: 'a test' }).where(eq(teams.id, teamId))
        for (const id of Object.values(ids)) {
          await other.open(`/capsules/${id}?team=${teamId}`)
          await compare(other.page, scene, id)
        }
        await db.update(teams).set({ suspendedAt: null, suspendedReason: null }).where(eq(teams.id, teamId))
        await post(page, scene, `/api/teams/${teamId}/transfer`, { user_id: user.id })
        await post(page, scene, `/api/teams/${teamId}/leave`)
        for (const id of Object.values(ids)) {
          await other.open(`/capsules/${id}?team=${teamId}`)
          await other.page.getByText(/, for one who left$/).waitFor()
          await compare(other.page, scene, id)
        }
      })()
    }),
    300_000
  )

  browserTest(
    'a capsule that was sealed elsewhere while its page is open: the press says so, and the page shows the new state',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await capsuleOfJob(page, scene, 'Two people')
      await open(`/capsules/${id}`)
      await page.getByRole('button', { name: 'Seal', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Exit message (optional)').fill('typed and kept')
      await post(page, scene, `/api/capsules/${id}/seal`, { exit_code: 0 })
      await dialog.getByRole('button', { name: 'Seal', exact: true }).click()
      await dialog.getByRole('alert').filter({ hasText: 'This capsule is sealed; only a' }).waitFor()
      expect(await dialog.getByLabel('Exit message (optional)').inputValue()).toBe('typed and kept')
      await dialog.getByRole('button', { name: 'Close' }).click()
      await page.locator('[aria-current=step]').filter({ hasText: 'sealed' }).waitFor()
    }),
    120_000
  )
}
