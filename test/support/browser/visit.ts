// A person with a browser of their own. Whatever goes wrong on a page while they use it is a fault: an error of its code, a
// request to another site, a breach of its content policy, a serious finding of axe.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Runs in the page. */
const reportBreaches = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  reportBreach(violatedDirective + ' ' + blockedURI))`

export interface Visit {
  page: Page
  faults: string[]
  /** Opens a path of the console. */
  open(path: string): Promise<void>
  /** Adds the serious findings of axe on the present page to the faults. */
  examine(): Promise<void>
  close(): Promise<void>
}

/** @param origin of the service. */
export async function startVisit(
  browser: Browser,
  origin: () => string,
  options: BrowserContextOptions = {}
): Promise<Visit> {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`page error: ${error.message}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin() && !['data:', 'blob:'].includes(url.protocol)) faults.push(`request to ${url.href}`)
  })
  page.on('console', (message) => {
    // The browser itself reports every refused request; React reports what it dislikes as an error.
    if (message.type() === 'error' && !/Failed to load resource|net::ERR_/.test(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  await page.exposeFunction('reportBreach', (text: string) => void faults.push(`policy: ${text}`))
  await page.addInitScript({ content: reportBreaches })
  return {
    page,
    faults,
    async open(path) {
      await page.goto(`${origin()}${path}`)
    },
    async examine() {
      await page.evaluate(axeSource)
      const found = await page.evaluate<Finding[]>('axe.run().then(({ violations }) => violations)')
      for (const { id, impact, nodes } of found)
        if (impact === 'serious' || impact === 'critical')
          faults.push(`axe: ${id} at ${page.url()}: ${nodes.map(({ html }) => html).join(' | ')}`)
    },
    async close() {
      // An answer that a test is still writing would fail after the test, and so in the next one. What is closed has none.
      for (const one of [...context.pages(), context])
        await one.unrouteAll({ behavior: 'ignoreErrors' }).catch(() => {})
      await context.close()
    }
  }
}

interface Finding {
  id: string
  impact: string
  nodes: { html: string }[]
}
