// Writes the tables of docs/limits.md from the constants that the service enforces: node tools/limits-doc.mjs. With --print
// it prints the page instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'
import { importTypescript } from './import-typescript.mjs'

const { rateLimits, team, WEBHOOKS_PER_TEAM_MAX, SCRIPTS_MAX, accessTable, body, values, points, CIRCUIT_PAYLOAD_MAX } =
  await importTypescript(`
      export { rateLimits } from './domain/teams/rate-limits.js'
      export * as team from './domain/teams/team-limits.js'
      export { WEBHOOKS_PER_TEAM_MAX } from './domain/teams/webhook.js'
      export { SCRIPTS_MAX } from './domain/scripts/script.js'
      export { accessTable } from './apps/api/http/access-table.js'
      export * as body from './apps/api/http/body/body-limits.js'
      export * as values from './domain/jobs/value-limits.js'
      export * as points from './domain/jobs/params/points.js'
      export { CIRCUIT_PAYLOAD_MAX } from './domain/jobs/submitted-circuits.js'`)

/** What a limit counts, where that is not the requests to the routes that name it in the access table. */
const counts = {
  submitTeam: 'jobs that requests create',
  validateCode: '`POST /api/auth/validate-code`; sign-ups with an access code or invitation that make no account',
  signInFailed: 'failed sign-ins to one account',
  passwordResetMail: 'mails with a link that sets a password',
  invitationMail: 'mails with an invitation',
  unprovedJobMail: 'submissions with `notify` before the submitter has proved the address',
  read: 'every other `GET /api/*`, `POST /api/jobs/estimate`, `POST /api/jobs/destinations`',
  scheduled: 'jobs that schedules start'
}
/** The limits in the order in which a reader looks for them: `read` is the rest of `poll`. */
const order = (name) => (name === 'read' ? 1 : 0)

const windows = { 60: 'a minute', 900: 'in 15 minutes', 3600: 'in an hour', 86400: 'in 24 hours' }
const countedBy = (scope, lines) =>
  scope === 'user' && lines.some(([, { who }]) => who === 'public')
    ? 'user, or address without one'
    : scope === 'email'
      ? 'e-mail address'
      : scope

const requestRows = Object.values(rateLimits)
  .sort((one, other) => order(one.name) - order(other.name))
  .map(({ name, max, windowSeconds, scope }) => {
    const lines = Object.entries(accessTable).filter(([, { limit }]) => limit === name)
    const what = counts[name] ?? lines.map(([line]) => `\`${line}\``).join(', ')
    const window = windows[windowSeconds]
    if (!what) throw new Error(`no route has the limit ${name}: say what it counts in tools/limits-doc.mjs`)
    if (!window) throw new Error(`the window of ${name} has no name in tools/limits-doc.mjs (${windowSeconds} s)`)
    return [what, `${max} ${window}`, countedBy(scope, lines)]
  })

const size = (bytes) => (bytes < 1024 ** 2 ? `${bytes / 1024} KiB` : `${bytes / 1024 ** 2} MiB`)
const number = (value) => value.toLocaleString('en-US')

const sizeRows = [
  ['teams of a user', number(team.TEAMS_PER_USER_MAX)],
  ['members of a team', number(team.MEMBERS_MAX)],
  ['pending invitations of a team', number(team.PENDING_INVITATIONS_MAX)],
  ['API keys of a team', number(team.API_KEYS_MAX)],
  ['webhooks of a team', number(WEBHOOKS_PER_TEAM_MAX)],
  ['scripts of a team', number(SCRIPTS_MAX)],
  ['body of a submission', size(body.SUBMISSION_BODY_MAX)],
  ['body in the playground and for scripts', size(body.PROGRAM_BODY_MAX)],
  ['body of a telemetry report', size(body.TELEMETRY_BODY_MAX)],
  ['body of an imported capsule', size(body.PACKAGE_BODY_MAX)],
  ['body of a capsule in YAML', size(body.YAML_BODY_MAX)],
  ['any other body', size(body.BODY_MAX)],
  ['results of other tasks that one task takes, or one workflow returns, together', size(values.VALUES_BYTES_MAX)],
  ['all results that one script receives', size(values.ANSWERS_BYTES_MAX)],
  ["functions, arguments and results of a job's tasks, each content once", size(values.JOB_VALUES_BYTES_MAX)],
  ['points of a sweep', number(points.POINTS_MAX)],
  ['results of the points of a sweep, together', size(points.POINTS_RESULT_BYTES_MAX)],
  ['payload of the circuits of a sweep, together', size(CIRCUIT_PAYLOAD_MAX)],
  ['printed text that is kept for followers, of an attempt', size(values.OUTPUT_BYTES_MAX)],
  [
    'the same, of all attempts of a job',
    `${size(values.JOB_OUTPUT_BYTES_MAX)} in ${number(values.JOB_OUTPUT_EVENTS_MAX)} events`
  ],
  ['executions of a task or script in a row that lose their worker', number(values.EXECUTIONS_BEGUN_MAX)]
]

const table = (...rows) =>
  [rows[0], rows[0].map(() => '---'), ...rows.slice(1)].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const tables = {
  requests: table(['What', 'Limit', 'Counted by'], ...requestRows),
  sizes: table(['What', 'Limit'], ...sizeRows)
}

const path = join(root, 'docs/limits.md')
const page = Object.entries(tables).reduce(
  (text, [name, rows]) => {
    const begin = `<!-- tools/limits-doc.mjs writes this table: ${name} -->`
    const end = `<!-- end of ${name} -->`
    const [before, rest] = text.split(begin)
    const after = rest?.split(end)[1]
    if (after === undefined) throw new Error(`docs/limits.md lacks the lines ${begin} and ${end}`)
    return `${before}${begin}\n${rows}\n${end}${after}`
  },
  readFileSync(path, 'utf8')
)

if (process.argv.includes('--print')) process.stdout.write(page)
else writeFileSync(path, page)
