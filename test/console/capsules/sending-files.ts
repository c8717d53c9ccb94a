// A file is sent like every other request of the console: it waits as the service asks, and outlives the end of a session.
import { expect } from '@jest/globals'
import type { Page, Route } from 'playwright-core'
import { browserTest } from '../../support/browser/browser-test.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { PASSWORD, type Scene } from '../scene.js'

const yaml = `name: From a file
tasks:
  - name: bell
    backend: local
    inline_code: |
${bellQasm3().replace(/^/gm, '      ')}
`

/** Opens the dialog, and chooses the file in it. */
async function choose(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'From a file' }).click()
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('dialog').getByRole('button', { name: 'Choose a file' }).click()
  ])
  await chooser.setFiles({ name: 'bell.yaml', mimeType: 'application/yaml', buffer: Buffer.from(yaml) })
}

const capsulesOf = async (page: Page, scene: Scene): Promise<number> =>
  ((await (await page.request.get(`${scene.platform.url()}/api/capsules`)).json()) as { total: number }).total

/** The keys under which the file was sent. */
function keysOf(page: Page): string[] {
  const keys: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/capsules/upload') keys.push(request.headers()['idempotency-key']!)
  })
  return keys
}

export function fileTests(scene: Scene): void {
  browserTest(
    'a file that is refused because the session has ended is sent again after the password, and makes one capsule',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/capsules')
      const keys = keysOf(page)
      const signOut = async (route: Route) => {
        await page.request.post(`${scene.platform.url()}/api/auth/sign-out`)
        await route.continue()
      }
      await page.route('**/api/capsules/upload*', signOut, { times: 1 })
      await choose(page)
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
      await dialog.getByLabel(/^Password of/).fill(PASSWORD)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('The draft is there').waitFor()
      expect([keys.length, new Set(keys).size, await capsulesOf(page, scene)]).toEqual([2, 1, 1])
    }),
    120_000
  )

  browserTest(
    'a file that comes too soon is sent again when the service has asked it to, and the page says that it waits',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/capsules')
      const keys = keysOf(page)
      // The refusal of the service, without 60 seconds of the test: its own is shown in walks/limits.
      let refusals = 0
      const tooMany = (route: Route) => {
        refusals++
        return route.fulfill({
          status: 429,
          headers: { 'retry-after': '2', 'x-error-code': 'rate_limited' },
          json: { error: 'too many imports' }
        })
      }
      await page.route('**/api/capsules/upload*', tooMany)
      await choose(page)
      // What is said for two seconds can be missed once.
      await page.getByText('Too many requests: the page waits').waitFor()
      await page.unroute('**/api/capsules/upload*', tooMany)
      await page.getByText('The draft is there').waitFor()
      expect([keys.length, new Set(keys).size, await capsulesOf(page, scene)]).toEqual([refusals + 1, 1, 1])
    }),
    120_000
  )
}
