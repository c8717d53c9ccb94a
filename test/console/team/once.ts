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

export function onceTests({ scene, call, owner }: TeamStage): void {
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
      const parts = page.getByRole('navigation', { name: 'Parts of the team' })
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

  browserTest(
    'a key whose answer is lost is made once, and the next press says that it cannot be shown',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'Lost answers')
      await open(`/team/keys?team=${teamId}`)
      await page.getByLabel('Name of the key').fill('a lost key')
      await page.route('**/api/team/api-keys', async (route) => {
        if (route.request().method() !== 'POST') return route.fallback()
        await route.fetch()
        await route.abort('connectionreset')
        await page.unroute('**/api/team/api-keys')
      })
      const make = page.getByRole('button', { name: 'Make the key' })
      await make.click()
      await page.getByText('Nothing that you have typed is lost').waitFor()
      expect(await page.getByLabel('Name of the key').inputValue()).toBe('a lost key')
      await make.click()
      const dialog = page.getByRole('dialog', { name: 'The new API key' })
      await dialog.getByText('the answer that shows it was lost').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
      const keys = page.getByRole('region', { name: 'API keys' })
      await keys.getByRole('row', { name: /a lost key/ }).waitFor()
      expect(await keys.getByRole('row', { name: /a lost key/ }).count()).toBe(1)
      await keys.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByText('The key a lost key is revoked').waitFor()
    })
  )

  browserTest(
    'a key on the page is gone when its owner goes back or to another team, and so is what was typed for the first one',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'First')
      const { id: second } = await call<{ id: string }>(page, 'POST', '/api/teams', { name: 'Second' })
      await open(`/team/members?team=${teamId}`)
      await page.getByRole('navigation', { name: 'Parts of the team' }).getByRole('link', { name: 'API keys' }).click()
      await page.getByLabel('Name of the key').fill('a key')
      await page.getByRole('button', { name: 'Make the key' }).click()
      const value = (await page
        .getByRole('dialog')
        .getByText(/^marqey_/)
        .textContent())!
      await page.goBack()
      await page.getByRole('region', { name: 'Members' }).waitFor()
      expect((await keptBy(page)).includes(value)).toBe(false)
      await page.goForward()
      await page.getByLabel('Name of the key').fill('for the first team')
      await page.getByRole('banner').getByRole('combobox').selectOption(second)
      await page.getByRole('heading', { level: 1, name: 'Team Second' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/team/keys')
      expect(await page.getByLabel('Name of the key').inputValue()).toBe('')
      expect((await keptBy(page)).includes(value)).toBe(false)
    })
  )
}
