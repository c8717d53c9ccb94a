// The built console, as tools/build/console.mjs leaves it: one page, and assets whose names change with their content.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { escaped } from './html-text.js'

/** In the page's text, in the place of the nonce. tools/build/console.mjs writes it. */
const NONCE_MARK = 'NONCE_OF_THIS_RESPONSE'

export interface Page {
  html: string
  headers: Record<string, string>
}

/** What a shared link shows of a page. Texts of users. */
export interface PageHead {
  title: string
  description: string
}

export interface BuiltConsole {
  /** Holds the folder `assets`. */
  folder: string
  page(head?: PageHead): Page
}

/** Reads the page once: assets of an older build stay for an hour after a newer one, so a running api still finds its own. */
export function readConsole(folder: string): BuiltConsole | null {
  const file = join(folder, 'index.html')
  if (!existsSync(file)) return null
  const template = readFileSync(file, 'utf8')
  return {
    folder,
    page(head) {
      const nonce = randomBytes(16).toString('base64')
      // The mark is replaced first: it could stand in the texts of users.
      const html = template.replaceAll(NONCE_MARK, nonce)
      return { html: head ? withHead(html, head) : html, headers: pageHeaders(nonce) }
    }
  }
}

function withHead(html: string, { title, description }: PageHead): string {
  const [name, text] = [escaped(title), escaped(description)]
  const head = `<title>${name} · Quantum Job Service</title>
    <meta name="description" content="${text}">
    <meta property="og:title" content="${name}">
    <meta property="og:description" content="${text}">`
  // By a function: a text can hold the patterns of a replacement.
  return html.replace(/<title>[^<]*<\/title>/, () => head)
}

/** The nonce is for the one style element that React Aria writes. */
const pageHeaders = (nonce: string): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "worker-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'"
  ].join('; '),
  // The addresses of mailed links hold tokens.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin'
})

/**
 * A worker obeys the policy of its own file, not that of the page. Simulators get no network; the compiled one of Qulacs
 * makes its functions from text.
 * @param name of the file in `assets`.
 */
export function workerPolicyOf(name: string): string | null {
  const worker = /^workers\/([a-z]+)[\w.-]*\.js$/.exec(name)?.[1]
  if (worker === undefined) return null
  const script = worker === 'qulacs' ? "'self' 'unsafe-eval' 'wasm-unsafe-eval'" : "'self'"
  return `default-src 'none'; script-src ${script}`
}
