// Writes docs/errors.md from the catalogue: node tools/errors-doc.mjs. With --print it only prints.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from './bootstrap.mjs'

const bundled = await build({
  stdin: {
    contents: `export { errorCatalogue } from './domain/errors.js'; export { errorGuide } from './domain/error-guide.js'`,
    resolveDir: root,
    loader: 'ts'
  },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'neutral'
})
const source = Buffer.from(bundled.outputFiles[0].contents).toString('base64')
const { errorCatalogue, errorGuide } = await import(`data:text/javascript;base64,${source}`)

const rows = Object.entries(errorCatalogue).map(([code, { http, retryable }]) => {
  const { means, who, check } = errorGuide[code]
  return `| \`${code}\` | ${http} | ${retryable ? 'yes' : 'no'} | ${means} | ${who} | ${check} |`
})

const text = `# Errors

<!-- Written by tools/errors-doc.mjs from domain/errors.ts and domain/error-guide.ts. -->

Every refusal and every failed job carries a code of one catalogue (\`domain/errors.ts\`). A session reads
\`{ "error": "<message>" }\`; a request with an \`Authorization\` header reads
\`{ "error": { "code", "message", "status" } }\`. The message says where, what and how to mend. Every answer carries
\`X-Request-Id\`, which leads to the log entry.

The same codes name why a job failed: \`error.code\` in its record. Codes with "Job:" below are also found there. "Again" says
whether the same request may succeed later.

| Code | HTTP | Again | What it means | Who acts | What to check |
|---|---|---|---|---|---|
${rows.join('\n')}
`

if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(root, 'docs/errors.md'), text)
