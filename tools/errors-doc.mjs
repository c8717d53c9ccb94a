// Writes docs/errors.md from the catalogue: node tools/errors-doc.mjs. With --print it only prints.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'
import { importTypescript } from './import-typescript.mjs'

const { errorCatalogue, errorGuide } = await importTypescript(
  `export { errorCatalogue } from './domain/errors.js'; export { errorGuide } from './domain/error-guide.js'`
)

const rows = Object.entries(errorCatalogue).map(([code, { http, httpForKeys, retryable }]) => {
  const { means, who, check } = errorGuide[code]
  return `| \`${code}\` | ${http}${httpForKeys ? `; ${httpForKeys} with a key` : ''} | ${retryable ? 'yes' : 'no'} | ${means} | ${who} | ${check} |`
})

const text = `# Errors

<!-- Written by tools/errors-doc.mjs from domain/errors.ts and domain/error-guide.ts. -->

Every refused request and every failed job has a code of this catalogue (\`domain/errors.ts\`). With a session the body is
\`{ "error": "<message>" }\`; with an \`Authorization\` header it is \`{ "error": { "code", "message", "status" } }\`. The header
\`X-Error-Code\` has the code in both cases. The message says what is wrong, where, and how to fix it. \`X-Request-Id\` of the
response finds the log entry. A refused request has all its wrong fields named, ten at most and then their number. A 401 says
in \`WWW-Authenticate\` how to sign in.

\`error.code\` of a failed job is one of the same codes; "Job:" marks what it means there. "Retry" says whether the same request
can succeed later.

| Code | HTTP | Retry | Meaning | Who acts | What to check |
|---|---|---|---|---|---|
${rows.join('\n')}
`

if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(root, 'docs/errors.md'), text)
