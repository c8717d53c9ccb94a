// What is shown once, and what was typed as a secret, is nowhere afterwards.
import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { browserTest } from '../../support/browser/browser-test.js'
import { PASSWORD } from '../scene.js'
import type { TeamStage } from './stage.js'

/** All that the page keeps: its text and fields, history, storage, caches, and the answers of the query client. */
const kept = `(async () => {
  const root = document.getElementById('root')
  const container = root[Object.keys(root).find((key) => key.startsWith('__reactContainer'))]
  let client = null
  const fibers = [container]
  while (fibers.length > 0 && !client) {
    const fiber = fibers.pop()
    if (!fiber) continue
    client = fiber.memoizedProps?.client?.getQueryCache ? fiber.memoizedProps.client : null
    fibers.push(fiber.sibling, fiber.child)
  }
  if (!client) throw new Error('the page has no query client')
  const text = (value) => JSON.stringify(value, (key, part) => (typeof part === 'bigint' ? String(part) : part))
  return text({
    page: document.documentElement.outerHTML,
    fields: [...document.querySelectorAll('input, textarea, select')].map(({ value }) => value),
    history: [history.state, ...(window.navigation?.entries() ?? []).map((entry) => [entry.url, entry.getState()])],
    storage: [{ ...localStorage }, { ...sessionStorage }, document.cookie],
    databases: await indexedDB.databases(),
    caches: await caches.keys(),
    queries: client.getQueryCache().getAll().map(({ queryKey, state }) => [queryKey, state]),
    mutations: client.getMutationCache().getAll().map(({ state }) => state)
  })
})()`

const API_KEY = 'canaryTypedCredential0123456789'

export function onceTests({ scene, owner }: TeamStage): void {
  const keptBy = (page: Page) => page.evaluate<string>(kept)

  browserTest(
    'keys, signing secrets, credentials and passwords are in no page, history, storage, cache or log afterwards',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'Canaries')
      const canaries: string[] = [API_KEY, PASSWORD, 'another long password']
      const shown = async (title: string, shape: RegExp) => {
        const dialog = page.getByRole('dialog', { name: title })
        const value = (await dialog.getByText(shape).textContent())!
        // The search finds what is there.
        expect(await keptBy(page)).toContain(value)
        canaries.push(value)
        await dialog.getByRole('button', { name: 'Close' }).click()
        await dialog.waitFor({ state: 'detached' })
      }
      const search = async () => {
        const found = await keptBy(page)
        for (const canary of canaries) expect(found.includes(canary) ? canary : '').toBe('')
      }
      await open(`/team/keys?team=${teamId}`)
      await page.getByLabel('Name of the key').fill('a key')
      await page.getByRole('button', { name: 'Make the key' }).click()
      await shown('The new API key', /^marqey_/)
      await search()
      const parts = page.getByRole('navigation', { name: 'Team' })
      await parts.getByRole('link', { name: 'Webhooks' }).click()
      await page.getByLabel('Address').fill('https://hooks.example.org/x')
      await page.getByRole('button', { name: 'Add the webhook' }).click()
      await shown('The signing secret of the webhook', /^whsec_/)
      await search()
      await parts.getByRole('link', { name: 'Credentials' }).click()
      await page.getByRole('button', { name: 'Set the credentials of IonQ' }).click()
      const form = page.getByRole('form', { name: 'Credentials of IonQ' })
      await form.getByLabel('api_key').fill(API_KEY)
      await form.getByRole('button', { name: 'Test and save' }).click()
      await form.getByRole('button', { name: 'Save without a successful test' }).click()
      await page.getByRole('region', { name: 'Credentials of IonQ' }).getByText('********').waitFor()
      await search()
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByRole('link', { name: 'Profile, password and sessions' }).click()
      await page.getByLabel('Present password').fill(PASSWORD)
      await page.getByLabel('New password').fill('another long password')
      await page.getByRole('button', { name: 'Change the password' }).click()
      await page.getByText('The password is changed').waitFor()
      await search()
      await page.goBack()
      await page.getByRole('region', { name: 'Credentials of IonQ' }).getByText('********').waitFor()
      await search()
      for (const canary of canaries) expect(scene.platform.logs().includes(canary) ? canary : '').toBe('')
    })
  )
}
