// Pages that work without the console: text and links alone.
import { createHash } from 'node:crypto'
import type { Page } from './built-console.js'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em}code,pre{background:#8882;padding:.1em .3em}'

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer'
}

/** @param body HTML. */
export const plainPage = (title: string, body: string): Page => ({
  html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${style}</style>
<h1>${title}</h1>
${body}
</html>
`,
  headers
})
