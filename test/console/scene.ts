// What the tests of the console in a browser share: one platform, one browser, and people who use it.
import { afterAll, beforeAll, expect } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createAccessCode } from '../../db/accounts/accounts.js'
import { beginPasswordReset } from '../../db/accounts/passwords.js'
import { invite } from '../../db/teams/invitations.js'
import type { AssignableRole } from '../../domain/teams/role.js'
import { browserPath } from '../support/browser/browser-test.js'
import { startVisit, type Visit } from '../support/browser/visit.js'
import { bellQasm3 } from '../support/jobs/builders.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

export const PASSWORD = 'correct horse battery'
/** Of a platform that can seal capsules. */
export const signing = { SECRETS_KEYS: `console:${Buffer.from('a ring key of 32 bytes, console!').toString('base64')}` }

export interface Scene {
  platform: Platform
  /** Makes a browser test of `act`: a visit of its own, at whose end nothing may have gone wrong. */
  visit(act: (visit: Visit) => Promise<void>, options?: BrowserContextOptions): () => Promise<void>
  /** Creates an account with the page for it; the visitor is then signed in. */
  signUp(visit: Visit): Promise<{ email: string }>
  /** Of an access code for one account. */
  code(): Promise<string>
  /** @returns the token of the link in the mail. */
  invite(teamId: string, email: string, role?: AssignableRole): Promise<string>
  /** @returns the token of the link in the mail. */
  resetToken(email: string): Promise<string>
}

type OwnPlatform = Parameters<typeof startPlatform> extends [string, ...infer Own] ? Own : never

let people = 0

/**
 * The scene of a test file: its platform and browser run from before its first test until after its last.
 * @param own what the platform has in the place of its usual parts and settings.
 */
export function sceneOfFile(...own: OwnPlatform): Scene {
  let platform: Platform
  let browser: Browser
  beforeAll(async () => {
    if (browserPath === null) return
    const { chromium } = await import('playwright-core')
    ;[platform, browser] = await Promise.all([
      startPlatform('console', ...own),
      chromium.launch({ executablePath: browserPath, args: ['--disable-dev-shm-usage'] })
    ])
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.close()
  })
  return createScene(() => ({ platform, browser }))
}

export function createScene(parts: () => { platform: Platform; browser: Browser }): Scene {
  const db = () => parts().platform.connection.db
  const scene: Scene = {
    get platform() {
      return parts().platform
    },
    visit: (act, options) => async () => {
      const { platform, browser } = parts()
      const visit = await startVisit(browser, () => platform.url(), options)
      try {
        await act(visit)
        expect(visit.faults).toEqual([])
      } catch (error) {
        const text = await visit.page
          .locator('body')
          .textContent()
          .catch(() => null)
        throw new Error(`at ${visit.page.url()}, which shows:\n${text?.slice(0, 2_000)}\n${visit.faults.join('\n')}`, {
          cause: error
        })
      } finally {
        await visit.close()
      }
    },
    code: () => createAccessCode(db(), { uses: 1 }),
    async invite(teamId, email, role = 'member') {
      const session = (await (await parts().platform.call('GET', '/api/auth/session')).json()) as {
        user: { id: string }
      }
      const given = { teamId, email, role, message: null, invitedBy: session.user.id }
      return (await db().transaction((tx) => invite(tx, given))).token
    },
    resetToken: async (email) => (await db().transaction((tx) => beginPasswordReset(tx, email)))!.token,
    async signUp({ page, open }) {
      const email = `person-${++people}@example.org`
      await open(`/sign-up?code=${await scene.code()}`)
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create the account' }).click()
      await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
      return { email }
    }
  }
  return scene
}

/** Submits as the visitor, past the form. @returns the id. */
export async function submitted(page: Page, scene: Scene, changes: Record<string, unknown>): Promise<string> {
  const data = { inline_code: bellQasm3(), backend: 'local', params: { shots: 100 }, ...changes }
  const response = await page.request.post(`${scene.platform.url()}/api/jobs/submit`, { data })
  if (response.status() !== 201) throw new Error(`submit answered ${response.status()}: ${await response.text()}`)
  return ((await response.json()) as { job_id: string }).job_id
}
