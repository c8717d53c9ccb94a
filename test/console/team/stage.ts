// A platform for the pages of teams: with sealed secrets, mail, receivers of webhooks on this machine, and an emulated IonQ.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { emulatorVariables } from '../../../apps/cli/stack/parts/emulators.js'
import { type Emulators, startEmulators } from '../../../apps/emulators/emulators.js'
import { members } from '../../../db/tables/accounts.js'
import type { Role } from '../../../domain/teams/role.js'
import { browserPath } from '../../support/browser/browser-test.js'
import { startVisit, type Visit } from '../../support/browser/visit.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'
import { createScene, type Scene } from '../scene.js'

export interface TeamStage {
  scene: Scene
  emulators: () => Emulators
  /** A request of the page's user, past the page. @throws Error where it is refused. */
  call<Body>(page: Page, method: string, path: string, data?: unknown): Promise<Body>
  /** Signs up and makes a team. @returns its id. */
  owner(visit: Visit, name: string): Promise<string>
  /** A second person with a browser of their own, in the team. Their faults are in the first person's. */
  colleague(
    visit: Visit,
    teamId: string,
    role: Role,
    act: (visit: Visit, userId: string) => Promise<void>
  ): Promise<void>
}

/** For one test file. */
export function startTeamStage(file: string): TeamStage {
  let platform: Platform
  let browser: Browser
  let emulators: Emulators
  let mails: string | undefined
  beforeAll(async () => {
    if (browserPath === null) return
    const { chromium } = await import('playwright-core')
    emulators = await startEmulators({ startsPerMinute: 1_000_000 })
    mails = mkdtempSync(join(tmpdir(), 'qjob-mails-'))
    const env = {
      SECRETS_KEYS: `stage:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`,
      MAIL_DIR: mails,
      WEBHOOK_ALLOW_PRIVATE: '1',
      ...emulatorVariables(emulators.providers)
    }
    ;[platform, browser] = await Promise.all([
      startPlatform(file, {}, env),
      chromium.launch({ executablePath: browserPath, args: ['--disable-dev-shm-usage'] })
    ])
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.close()
    await emulators?.close()
    if (mails !== undefined) rmSync(mails, { recursive: true, force: true })
  })
  const scene = createScene(() => ({ platform, browser }))
  const call = async <Body>(page: Page, method: string, path: string, data?: unknown): Promise<Body> => {
    const options = { method, ...(data !== undefined && { data }) }
    const response = await page.request.fetch(`${platform.url()}${path}`, options)
    if (!response.ok()) throw new Error(`${method} ${path} answered ${response.status()}: ${await response.text()}`)
    return (await response.json()) as Body
  }
  return {
    scene,
    emulators: () => emulators,
    call,
    async owner(visit, name) {
      await scene.signUp(visit)
      return (await call<{ id: string }>(visit.page, 'POST', '/api/teams', { name })).id
    },
    async colleague(first, teamId, role, act) {
      const visit = await startVisit(browser, () => platform.url())
      try {
        await scene.signUp(visit)
        const { user } = await call<{ user: { id: string } }>(visit.page, 'GET', '/api/auth/session')
        await platform.connection.db.insert(members).values({ teamId, userId: user.id, role })
        await act(visit, user.id)
        ;(first.faults as string[]).push(...visit.faults)
      } finally {
        await visit.close()
      }
    }
  }
}
