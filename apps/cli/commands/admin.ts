// `qjob admin ...`: what an operator does before anybody can sign in, straight in the database.
import { type Command, InvalidArgumentError } from 'commander'
import { createAccessCode, grantPlatformAdmin } from '../../../db/accounts.js'
import { type Connection, connect, postgresCode } from '../../../db/client.js'
import { CliError } from '../cli-error.js'
import { print } from '../output.js'
import { jsonOption, reported } from '../service-command.js'
import { runningStack } from '../service-url.js'

const USES_MAX = 1_000_000

const databaseHelp =
  '\nThe database is the one that DATABASE_URL names, else that of the stack running from DATA_DIR (.data).'

export function addAdminCommand(program: Command): void {
  const admin = program.command('admin').description('work on the database of the service, without signing in')
  jsonOption(admin.command('create-code').description('make an access code, with which people sign up'))
    .option('--uses <n>', 'how many people may sign up with it', numberOfUses, 1)
    .option('--code <code>', 'the code itself (default: a random one)', accessCode)
    .option('--expires <time>', 'ISO 8601 time after which it is worthless', futureTime)
    .addHelpText('after', databaseHelp)
    .action((options: { json?: boolean; uses: number; code?: string; expires?: Date }) =>
      reported(options, () => createCode(options))
    )
  jsonOption(admin.command('grant <email>').description('make a user a platform administrator'))
    .addHelpText('after', databaseHelp)
    .action((email: string, options: { json?: boolean }) => reported(options, () => grant(email, options)))
}

async function createCode(options: { json?: boolean; uses: number; code?: string; expires?: Date }): Promise<void> {
  const { uses, expires } = options
  const code = await inDatabase(({ db }) =>
    createAccessCode(db, {
      uses,
      ...(options.code !== undefined && { code: options.code }),
      ...(expires && { expiresAt: expires })
    })
  )
  const expiresAt = expires?.toISOString() ?? null
  if (options.json) return print(JSON.stringify({ code, uses, expires_at: expiresAt }))
  const until = expiresAt ? ` until ${expiresAt}` : ''
  print(
    `${code}\n${uses === 1 ? 'one person' : `${uses} people`} can sign up with it${until}: qjob sign-up EMAIL --code ${code}`
  )
}

async function grant(email: string, options: { json?: boolean }): Promise<void> {
  const granted = await inDatabase(({ db }) => grantPlatformAdmin(db, email))
  if (!granted) throw new CliError('refused', `no account has the address ${email}: sign up first`)
  print(options.json ? JSON.stringify({ email, is_platform_admin: true }) : `${email} is a platform administrator now.`)
}

async function inDatabase<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const url = process.env.DATABASE_URL || runningStack()?.database_url
  if (!url)
    throw new CliError(
      'unreachable',
      'no database: start the service (npm start), name its data folder with DATA_DIR, or set DATABASE_URL'
    )
  if (!URL.canParse(url))
    throw new CliError('usage', 'DATABASE_URL: must be an address such as postgres://user:password@host:5432/name')
  const connection = connect(url, { max: 1 })
  try {
    return await work(connection)
  } catch (error) {
    throw translated(error, new URL(url).host)
  } finally {
    await connection.close()
  }
}

function translated(error: unknown, host: string): unknown {
  const code = postgresCode(error)
  if (code === '23505') return new CliError('refused', 'this access code exists already: choose another')
  if (code === '42P01')
    return new CliError('unreachable', `the database at ${host} has no tables yet: start the service once`)
  if (code && /^(28|3D)/.test(code))
    return new CliError(
      'unreachable',
      `the database at ${host} lets nobody in with these credentials (${code}): check DATABASE_URL`
    )
  if (code && /^(E[A-Z]+|CONNECT.*|08.*|57P03)$/.test(code))
    return new CliError('unreachable', `the database at ${host} does not answer (${code}): is the service running?`)
  return error
}

function numberOfUses(text: string): number {
  const uses = Number(text)
  if (!/^\d+$/.test(text) || uses < 1 || uses > USES_MAX)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${USES_MAX}.`)
  return uses
}

function accessCode(text: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(text))
    throw new InvalidArgumentError('It must have 1 to 64 letters, digits, hyphens or underscores.')
  return text
}

function futureTime(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || !/^\d{4}-\d\d-\d\d/.test(text))
    throw new InvalidArgumentError('It must be an ISO 8601 time, such as 2030-01-31T12:00:00Z.')
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It must lie in the future.')
  return time
}
