// The playground as its tests use it.
import type { Page } from 'playwright-core'

export const header = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'

/** Takes about a minute here, so that there is time to cancel it, on a busy machine too. */
export const lengthy = `${header}qubit[20] q;\nh q;\nfor int i in [0:799] {\n  for int j in [0:18] {\n    cx q[j], q[j + 1];\n  }\n}\n`

export const program = (page: Page) => page.getByLabel('Program', { exact: true })

/**
 * Replaces the program by the keyboard: a selection that a script makes is lost where the editor draws itself before the
 * browser has told it.
 */
export async function write(page: Page, text: string): Promise<void> {
  await program(page).focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}

export const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })
export const ranOn = (page: Page, where: string | RegExp) =>
  page.getByLabel('Outcome').getByText(where).first().waitFor()

/** What stands in the program, in the plain field or in the editor that replaces it. */
export const written = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `(({ value, innerText }) => value ?? innerText)(document.querySelector('[aria-label=Program]'))`
  )
