// What the tests of administration share: a platform, a browser, a team of ada, and administrators.
import { beforeAll } from '@jest/globals'
import type { Page } from 'playwright-core'
import { grantPlatformAdmin } from '../../../db/accounts/accounts.js'
import { browserPath } from '../../support/browser/browser-test.js'
import type { Visit } from '../../support/browser/visit.js'
import { sceneOfFile } from '../scene.js'

export interface AdminAction {
  action: string
  target: string
  details: Record<string, unknown>
}

export function createStage() {
  const scene = sceneOfFile()
  /** Owns the team Lab, and is no administrator. */
  const ada = { userId: '', email: 'ada@example.org', teamId: '' }

  beforeAll(async () => {
    if (browserPath === null) return
    const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Lab' })
    const { user } = await sent<{ user: { id: string } }>('GET', '/api/auth/session')
    Object.assign(ada, { userId: user.id, teamId: id })
  }, 30_000)

  /** As ada. */
  async function sent<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await scene.platform.call(method, path, body)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }

  /** As the visitor. */
  const read = async <Body>(page: Page, path: string): Promise<Body> =>
    (await (await page.request.get(`${scene.platform.url()}${path}`)).json()) as Body

  return {
    scene,
    ada,
    sent,
    read,
    platform: () => scene.platform,
    db: () => scene.platform.connection.db,
    /** Signs up a visitor and makes them an administrator. */
    async administrator(visit: Visit): Promise<{ email: string }> {
      const person = await scene.signUp(visit)
      await grantPlatformAdmin(scene.platform.connection.db, person.email)
      return person
    },
    newestAction: async (page: Page): Promise<AdminAction> =>
      (await read<{ entries: AdminAction[] }>(page, '/api/admin/audit?limit=1')).entries[0]!
  }
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()

/** Fills the fields of the dialog that a button opens, and presses its button of the same name. */
export async function act(page: Page, button: string, fields: Record<string, string>): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text)
  await dialog.getByRole('button', { name: button, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}
