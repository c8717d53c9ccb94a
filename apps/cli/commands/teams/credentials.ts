// `qjob credentials`: a team's credentials at quantum providers. Their values are never arguments, which other users of the
// machine can read.
import { Argument, type Command } from 'commander'
import { type CredentialProvider, credentialProviders } from '../../../../domain/backends/provider-credentials.js'
import type { ApiClient } from '../../session/api-client.js'
import { changedTeam, onlyTeamHelp, type TeamOptions, writeTeamHelp } from '../../session/choice.js'
import { itemNamed, type List, listCommand, listText } from '../../session/list.js'
import { readSecrets } from '../../session/password.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { exitCodes } from '../../terminal/cli-error.js'
import { listing } from '../../terminal/layout.js'
import { printResult } from '../../terminal/output.js'
import { ago } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'

interface Secret {
  id: string
  provider: string
  key_name: string
  validation_status: string
  validated_at: string | null
  updated_at: string
}

type Options = ServiceOptions & TeamOptions

const stored: List<Secret> = {
  path: '/api/team/secrets',
  field: 'secrets',
  noun: 'credential',
  listedBy: 'qjob credentials list',
  idOf: ({ id }) => id,
  namesOf: () => [],
  columns: [
    { heading: 'ID', id: true },
    'PROVIDER',
    { heading: 'NAME', least: 10 },
    { heading: 'CHECKED', yields: 1 },
    { heading: 'CHANGED', yields: 2 }
  ],
  cells: ({ id, provider, key_name, validation_status, validated_at, updated_at }) => [
    id,
    provider,
    key_name,
    validation_status + (validated_at ? `, ${ago(validated_at)}` : ''),
    ago(updated_at)
  ],
  none: 'No credentials.'
}

const valuesHelp =
  '\nEach NAME is asked for without showing what is typed. Without a terminal, standard input has a line NAME=VALUE for ' +
  'each value, and no NAME is an argument.'

export function addCredentialsCommand(program: Command): void {
  const credentials = program
    .command('credentials')
    .description('store, check and delete credentials of quantum providers')
  listCommand(credentials, 'list the credentials of your teams, or of one team; never their values', stored, {
    team: onlyTeamHelp
  })
  accountCommand(credentials, 'set', 'store credentials of a provider (owner and admins)')
    .addArgument(provider())
    .argument('[name...]', 'the names of the values, such as api_key')
    .option('--team <team>', writeTeamHelp)
    .addHelpText('after', valuesHelp)
    .action((of: CredentialProvider, names: string[], options: Options) =>
      withSession(options, async (api) => {
        const body = { team_id: await changedTeam(api, options), provider: of, secrets: await readSecrets(names) }
        const { value, text } = await api.post<{ secrets: Secret[] }>('/api/team/secrets', body)
        printResult(options, text, () => listText(value.secrets, stored))
      })
    )
  accountCommand(
    credentials,
    'test',
    'check the stored credentials at their provider; exit code 1 if they are not valid'
  )
    .addArgument(provider())
    .option('--team <team>', writeTeamHelp)
    .action((of: CredentialProvider, options: Options) => withSession(options, (api) => check(api, of, options)))
  accountCommand(credentials, 'delete', 'delete one value of a provider (owner and admins)')
    .argument('<id>', 'its id or the end of it')
    .action((named: string, options: Options) =>
      withSession(options, async (api) => {
        const secret = await itemNamed(api, stored, named)
        const { text } = await api.delete(`/api/team/secrets/${secret.id}`)
        printResult(options, text, () => `${secret.key_name} of ${secret.provider} is deleted`)
      })
    )
}

const provider = () => new Argument('<provider>', 'the provider').choices(credentialProviders)

interface Check {
  valid: boolean
  message: string
  details: {
    account?: string
    instance?: string
    region?: string
    bucket?: string
    devices?: string[]
    faults?: string[]
  }
}

async function check(api: ApiClient, of: CredentialProvider, options: Options): Promise<void> {
  const body = { team_id: await changedTeam(api, options), provider: of }
  const { value, text } = await api.post<Check>('/api/team/secrets/test', body)
  printResult(options, text, () => checkText(value))
  if (!value.valid) process.exitCode = exitCodes.jobFailed
}

/** What keeps jobs from running stands next to the outcome, above what the provider says that the credentials open. */
function checkText({ message, details: { faults = [], devices, account, instance, region, bucket } }: Check): string {
  const lines = [`${message}${faults.length === 0 ? '' : ', but not every job can run with them:'}`, ...faults]
  const opened = Object.entries({ account, instance, region, bucket, devices: devices?.join(', ') })
  const entries = opened.filter((entry): entry is [string, string] => Boolean(entry[1]))
  return [...lines.map(plainLine), ...(entries.length === 0 ? [] : [listing(entries)])].join('\n')
}
