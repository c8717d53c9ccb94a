// Everything that the api lets a person do has a command, or a reason why it has none.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { accessTable, type RouteLine } from '../../../apps/api/http/access-table.js'
import { qjobProgram } from '../../../apps/cli/program.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { type ApiDocument, objectsOf } from '../../support/api/documented.js'

type Reason =
  | 'pages of a browser'
  | 'probes and documents for programs'
  | 'for the Python client'
  | "for the console's playground"
  | 'for the console'

/** A command, or the reason in brackets. */
const table: Record<RouteLine, string | [Reason]> = {
  'GET /': ['pages of a browser'],
  'GET /assets/*': ['pages of a browser'],
  'GET /healthz': ['probes and documents for programs'],
  'GET /readyz': ['probes and documents for programs'],
  'GET /openapi.json': ['probes and documents for programs'],
  'GET /invitations/:token': ['pages of a browser'],
  'GET /reset-password/:token': ['pages of a browser'],
  'GET /public/:slug': ['pages of a browser'],
  'GET /api/meta': ['probes and documents for programs'],
  'GET /api/meta/keys': 'signing-keys',
  'GET /api/meta/providers': ['for the console'],
  'GET /api/backends': 'backends',
  'GET /api/backends/:slug': ['probes and documents for programs'],

  'POST /api/auth/validate-code': ['pages of a browser'],
  'POST /api/auth/sign-up': 'sign-up',
  'POST /api/auth/sign-in': 'login',
  'POST /api/auth/forgot-password': 'forgot-password',
  'POST /api/auth/reset-password': 'reset-password',
  'GET /api/auth/oidc/start': ['pages of a browser'],
  'GET /api/auth/oidc/callback': ['pages of a browser'],
  'GET /api/auth/session': 'whoami',
  'GET /api/auth/sessions': 'sessions list',
  'DELETE /api/auth/sessions/:id': 'sessions end',
  'POST /api/auth/sign-out': 'logout',
  'POST /api/auth/change-password': 'password',

  'GET /api/profile': 'profile show',
  'PATCH /api/profile': 'profile set',
  'DELETE /api/profile': 'profile delete-account',
  'GET /api/profile/deletion': ['for the console'],
  'GET /api/profiles/:username': 'profile show',

  'GET /api/teams': 'team list',
  'POST /api/teams': 'team create',
  'PATCH /api/teams/:id': 'team rename',
  'DELETE /api/teams/:id': 'team delete',
  'POST /api/teams/:id/transfer': 'team transfer',
  'POST /api/teams/:id/leave': 'team leave',
  'GET /api/events': ['for the console'],
  'GET /api/team/members': 'member list',
  'PATCH /api/team/members/:userId': 'member role',
  'DELETE /api/team/members/:userId': 'member remove',
  'GET /api/team/invitations': 'invitation list',
  'POST /api/team/invitations': 'invitation send',
  'PATCH /api/team/invitations/:id': 'invitation resend',
  'DELETE /api/team/invitations/:id': 'invitation cancel',
  'GET /api/invitations/:token': 'invitation show',
  'POST /api/invitations/:token/accept': 'invitation accept',
  'GET /api/team/api-keys': 'key list',
  'POST /api/team/api-keys': 'key create',
  'DELETE /api/team/api-keys/:id': 'key revoke',
  'GET /api/team/secrets': 'credentials list',
  'POST /api/team/secrets': 'credentials set',
  'POST /api/team/secrets/test': 'credentials test',
  'DELETE /api/team/secrets/:id': 'credentials delete',
  'GET /api/team/webhooks': 'webhook list',
  'POST /api/team/webhooks': 'webhook create',
  'DELETE /api/team/webhooks/:id': 'webhook delete',
  'GET /api/team/webhooks/:id/deliveries': 'webhook deliveries',
  'POST /api/team/webhooks/:id/test': ['for the console'],
  'POST /api/team/webhooks/:id/deliveries/:deliveryId/again': ['for the console'],
  'GET /api/team/budget': 'budget',
  'PATCH /api/team/budget': 'budget',
  'GET /api/team/usage': 'usage',
  'GET /api/team/retention': 'retention',
  'PATCH /api/team/retention': 'retention',
  'GET /api/team/audit': 'audit list',
  'GET /api/team/audit/verify': 'audit verify',

  'POST /api/jobs/submit': 'submit',
  'GET /api/jobs': 'jobs',
  // `estimate` sends all parameters.
  'GET /api/jobs/estimate': ['probes and documents for programs'],
  'POST /api/jobs/estimate': 'estimate',
  'GET /api/jobs/destinations': ['for the console'],
  'POST /api/jobs/destinations': ['for the console'],
  'GET /api/jobs/managed-runtimes': ['for the Python client'],
  'GET /api/jobs/:id': 'job',
  'GET /api/jobs/:id/result': ['probes and documents for programs'],
  'GET /api/jobs/:id/status': 'job',
  'GET /api/jobs/:id/attempts': 'job',
  'GET /api/jobs/:id/artifacts': 'artifacts',
  'GET /api/jobs/:id/artifacts/:name': 'artifacts',
  'GET /api/jobs/:id/source': 'source',
  'GET /api/jobs/:id/tasks': 'job',
  'GET /api/jobs/:id/events': 'job',
  'POST /api/jobs/:id/cancel': 'cancel',
  'POST /api/jobs/compare': 'compare',
  'POST /api/jobs/:id/rerun': 'rerun',

  'GET /api/scripts': 'scripts list',
  'POST /api/scripts': 'scripts from-job',
  'POST /api/scripts/upload': 'scripts upload',
  'GET /api/scripts/:id': 'scripts show',
  'PATCH /api/scripts/:id': 'scripts update',
  'DELETE /api/scripts/:id': 'scripts delete',
  'POST /api/scripts/:id/publish': 'scripts publish',
  'GET /api/scripts/:id/versions': ['for the console'],
  'GET /api/scripts/:id/versions/:version': ['for the console'],
  'GET /api/scripts/:id/execution-options': 'scripts options',
  'POST /api/scripts/:id/analyse': 'scripts analyse',

  // `capsule create` sends the same fields as YAML.
  'POST /api/capsules/create': ['probes and documents for programs'],
  'POST /api/capsules/from-job': 'capsule from-job',
  'GET /api/capsules': 'capsule list',
  'GET /api/capsules/public': 'capsule list',
  'GET /api/capsules/public/:slug': 'capsule show',
  'GET /api/capsules/public/:slug/export': ['for the console'],
  'GET /api/capsules/public/:slug/attestation': ['for the console'],
  'GET /api/capsules/public/:slug/files/:name': ['for the console'],
  'GET /api/capsules/public/:slug/verifications': ['for the console'],
  'GET /api/capsules/:id': 'capsule show',
  'PATCH /api/capsules/:id': 'capsule edit',
  'DELETE /api/capsules/:id': 'capsule delete',
  'POST /api/capsules/:id/seal': 'capsule seal',
  'POST /api/capsules/:id/publish': 'capsule publish',
  'POST /api/capsules/:id/archive': 'capsule archive',
  'POST /api/capsules/:id/clone': 'capsule clone',
  // `audit list --capsule` shows the same entries.
  'GET /api/capsules/:id/audit': ['probes and documents for programs'],
  'POST /api/capsules/:id/run': 'capsule run',
  'GET /api/capsules/:id/runs': 'capsule runs',
  'GET /api/capsules/:id/runs/:runId': 'capsule runs',
  'PUT /api/capsules/:id/schedule': 'schedule set',
  'GET /api/capsules/:id/schedule': 'schedule show',
  'DELETE /api/capsules/:id/schedule': 'schedule delete',
  'POST /api/capsules/:id/schedule/backfill': 'schedule backfill',
  'GET /api/capsules/:id/verifications': 'capsule verifications',
  'GET /api/schedules/preview': ['for the console'],
  'GET /api/capsules/:id/export': 'capsule export',
  'GET /api/capsules/:id/attestation': 'capsule export',
  'GET /api/capsules/:id/files/:name': ['for the console'],
  'POST /api/capsules/import': 'capsule import',
  'POST /api/capsules/upload': 'capsule create',

  'POST /api/playground/run': ["for the console's playground"],
  'POST /api/playground/convert': ["for the console's playground"],
  'POST /api/playground/telemetry': ["for the console's playground"],

  'PATCH /api/admin/teams/:id': 'admin team-limits',
  'POST /api/admin/teams/:id/suspend': 'admin suspend',
  'POST /api/admin/teams/:id/unsuspend': 'admin unsuspend',
  'GET /api/admin/teams/:id/budgets': 'admin budget',
  'PUT /api/admin/teams/:id/budgets': 'admin budget',
  'GET /api/admin/teams/:id/storage': 'admin storage',
  'PUT /api/admin/teams/:id/storage': 'admin storage',
  'GET /api/admin/access-codes': 'admin list-codes',
  'POST /api/admin/access-codes': 'admin create-code',
  'PATCH /api/admin/backends/:slug': 'admin backend',
  'GET /api/admin/teams': 'admin teams',
  'GET /api/admin/users': 'admin users',
  'GET /api/admin/jobs': 'admin jobs',
  'GET /api/admin/jobs/:id': ['for the console'],
  'POST /api/admin/jobs/:id/cancel': 'admin cancel',
  'POST /api/admin/jobs/:id/settle': 'admin settle',
  'POST /api/admin/capsules/:id/takedown': 'admin takedown',
  'GET /api/admin/money': 'admin money',
  'GET /api/admin/audit': 'admin audit',
  'GET /api/admin/system': 'admin system'
}

const rows = Object.entries(table)
const withCommand = rows.filter((row): row is [string, string] => typeof row[1] === 'string')
const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

/** The command of these words, or the last one on the way to it. */
const commandOf = (program: Command, words: string): Command =>
  words.split(' ').reduce((at, word) => at.commands.find((below) => below.name() === word) ?? at, program)

test('every route has a command or a reason, and every command of the table exists', async () => {
  expect(Object.keys(table).sort()).toEqual(Object.keys(accessTable).sort())
  const program = await qjobProgram()
  for (const [route, words] of withCommand)
    expect([route, commandOf(program, words).name()]).toEqual([route, words.split(' ').at(-1)])
})

/** Commands that send what a command of the table sends. */
const alike: Record<string, string[]> = { submit: ['run', 'scripts run'] }

test('every command whose route takes a team has --team', async () => {
  const options = { cwd: projectRoot, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 } as const
  const document: ApiDocument = JSON.parse(execFileSync(process.execPath, ['tools/openapi-doc.mjs'], options))
  const program = await qjobProgram()
  const commands = withCommand.flatMap(([route, words]) => {
    const [method, path] = route.split(' ') as [string, string]
    const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    if (!operation) return []
    const inQuery = operation.parameters?.some(({ name }) => name === 'team_id')
    const inBody = Object.values(operation.requestBody?.content ?? {})
      .flatMap(({ schema }) => objectsOf(document, schema))
      .some(({ properties }) => Object.hasOwn(properties ?? {}, 'team_id'))
    return inQuery || inBody ? [words, ...(alike[words] ?? [])] : []
  })
  expect(commands).toEqual(expect.arrayContaining(['submit', 'jobs', 'scripts upload', 'capsule clone', 'budget']))
  const without = commands.filter((words) => !commandOf(program, words).options.some(({ long }) => long === '--team'))
  expect(without).toEqual([])
})

/** Commands of operators, which use the database and work before anybody can sign in. */
const inDatabase = [
  'admin team-limits',
  'admin suspend',
  'admin unsuspend',
  'admin storage',
  'admin list-codes',
  'admin create-code',
  'admin teams',
  'admin users',
  'admin settle',
  'admin money'
]

test('the sources of qjob request every route that has a command, but for those that use the database', () => {
  const sources = readdirSync(join(projectRoot, 'apps/cli'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`apps/cli/${name}`))
    .join('\n')
  const missing = withCommand.flatMap(([route, command]) => {
    const path = route.split(' ')[1]!
    if (inDatabase.includes(command)) return []
    // A part of the path is written out, or filled in.
    const parts = path.split('/').slice(2)
    const pattern = parts.map((part) => (part.startsWith(':') ? filled : `(?:${part}|${filled})`)).join('/')
    return new RegExp(`/api/${pattern}(?=[\`'?$])`).test(sources) ? [] : [route]
  })
  expect(missing).toEqual([])
})

const filled = '\\$\\{[^}]*\\}'

test('docs/cli.md lists what has no command', () => {
  const [, section = ''] = read('docs/cli.md').split('## What has no command\n')
  const listed = [...section.split(/^## /m)[0]!.matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, route]) => route!)
  expect(listed.sort()).toEqual(rows.flatMap(([route, to]) => (typeof to === 'string' ? [] : [route])).sort())
})
