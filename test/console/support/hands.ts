// How a person uses a page: with a pointer, or with the keyboard alone.
import type { Locator, Page } from 'playwright-core'
import type { Visit } from '../../support/browser/visit.js'
import { eventually } from '../../support/eventually.js'

export interface Hands {
  press(target: Locator): Promise<void>
  /** Replaces what stands in a field. */
  write(field: Locator, text: string): Promise<void>
  /** Opens a page of the console by its name. */
  goTo(name: string): Promise<void>
  /** Opens one of several tabs. */
  show(tab: Locator): Promise<void>
}

/** More stops than any page of the console has. */
const STOPS_MAX = 200
const PATIENCE_MS = 60_000

async function replace({ keyboard }: Page, text: string): Promise<void> {
  await keyboard.press('Control+a')
  // A text of several lines is pasted: an editor indents what is typed.
  if (text.includes('\n')) await keyboard.insertText(text)
  else await keyboard.type(text)
}

export const mouse = ({ page }: Visit): Hands => {
  const press = (target: Locator) => target.click({ timeout: PATIENCE_MS })
  return {
    press,
    async write(field, text) {
      await press(field)
      await replace(page, text)
    },
    goTo: (name) => press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })),
    show: press
  }
}

/** Tab, Enter, arrows and Ctrl-K. A pointer that is used all the same is a fault of the visit. */
export async function keyboard({ page }: Visit): Promise<Hands> {
  await page.addInitScript({
    content: `addEventListener('pointerdown', () => reportBreach('a pointer was used'), true)`
  })
  const { keyboard: keys } = page
  const reach = async (target: Locator) => {
    await eventually(() => target.isEnabled({ timeout: 1_000 }).catch(() => false), { timeoutMs: PATIENCE_MS })
    const isReached = async () => (await target.and(page.locator(':focus')).count()) > 0
    for (let stops = 0; stops < STOPS_MAX; stops++) {
      if (await isReached()) return
      await keys.press('Tab')
    }
    throw new Error(`Tab does not reach ${target}`)
  }
  return {
    async press(target) {
      await reach(target)
      await keys.press('Enter')
    },
    async write(field, text) {
      await reach(field)
      await replace(page, text)
    },
    async goTo(name) {
      await keys.press('Control+k')
      const dialog = page.getByRole('dialog', { name: 'Go to' })
      await dialog.waitFor()
      await keys.type(name)
      await dialog.getByRole('menuitem').first().filter({ hasText: name }).waitFor()
      await keys.press('Enter')
      await dialog.waitFor({ state: 'detached' })
    },
    async show(tab) {
      await reach(tab.locator('xpath=..').getByRole('tab', { selected: true }))
      const isShown = async () => (await tab.getAttribute('aria-selected')) === 'true'
      for (let presses = 0; presses < 10 && !(await isShown()); presses++) await keys.press('ArrowRight')
      if (!(await isShown())) throw new Error(`The arrows do not lead to ${tab}`)
    }
  }
}
