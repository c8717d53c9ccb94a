// What the browser tests of scripts share.
import type { Page } from 'playwright-core'
import { bellQasm3 } from '../../support/jobs/builders.js'
import type { Scene } from '../scene.js'

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

export async function read<Body>(page: Page, scene: Scene, path: string): Promise<Body> {
  return (await (await page.request.get(`${scene.platform.url()}${path}`)).json()) as Body
}

/** Saves a script as the visitor, past the form. @returns its id. */
export async function saved(page: Page, scene: Scene, changes: Record<string, unknown> = {}): Promise<string> {
  const data = { name: 'A Bell pair', script_content: bellQasm3(), ...changes }
  const response = await page.request.post(`${scene.platform.url()}/api/scripts/upload`, { data })
  if (response.status() !== 200) throw new Error(`upload answered ${response.status()}: ${await response.text()}`)
  return ((await response.json()) as { script_id: string }).script_id
}

export async function changed(page: Page, scene: Scene, id: string, data: Record<string, unknown>): Promise<void> {
  const response = await page.request.patch(`${scene.platform.url()}/api/scripts/${id}`, { data })
  if (response.status() !== 200) throw new Error(`change answered ${response.status()}: ${await response.text()}`)
}

/** The editor takes the place of a plain field once it is loaded. */
export const editorIsThere = (page: Page) => page.locator('.cm-content[aria-label=Program]').waitFor()
