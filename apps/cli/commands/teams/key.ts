// `qjob key`: the API keys with which programs call the service for a team.
import { type Command, Option } from 'commander'
import { type KeyKind, type KeyTier, keyKinds, keyTiers } from '../../../../domain/teams/api-key.js'
import { changedTeam, readTeamHelp, type TeamOptions, writeTeamHelp } from '../../session/choice.js'
import { itemNamed, type List, listCommand } from '../../session/list.js'
import {
  accountCommand,
  dollars,
  type ServiceOptions,
  timeInFuture,
  withSession
} from '../../session/service-command.js'
import { money, printNotice, printResult } from '../../terminal/output.js'
import { ago, clockTime } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'

interface ApiKey {
  id: string
  name: string
  prefix: string
  tier: KeyTier
  kind: KeyKind
  daily_limit_usd: number | null
  expires_at: string | null
  last_used_at: string | null
}

type Options = ServiceOptions & TeamOptions
type NewKeyOptions = Options & { tier: KeyTier; kind: KeyKind; dailyLimit?: number; expires?: Date }

const keys: List<ApiKey> = {
  path: '/api/team/api-keys',
  field: 'api_keys',
  noun: 'key',
  listedBy: 'qjob key list',
  idOf: ({ id }) => id,
  namesOf: ({ name, prefix }) => [name, prefix],
  columns: [
    { heading: 'ID', id: true },
    { heading: 'KEY', yields: 5 },
    { heading: 'TIER', yields: 1 },
    { heading: 'DAILY LIMIT', right: true, yields: 4 },
    { heading: 'EXPIRES', yields: 3 },
    { heading: 'LAST USED', yields: 2 },
    { heading: 'NAME', least: 12 }
  ],
  cells: (key) => [
    key.id,
    `${key.prefix}…`,
    key.tier,
    key.daily_limit_usd === null ? '' : money(key.daily_limit_usd),
    key.expires_at ? clockTime(key.expires_at) : 'never',
    key.last_used_at ? ago(key.last_used_at) : 'never',
    key.name
  ],
  none: 'No keys.'
}

export function addKeyCommand(program: Command): void {
  const key = program.command('key').description('create, list and revoke API keys, with which programs sign in')
  listCommand(key, "list a team's API keys, never the keys themselves (owner and admins)", keys, {
    team: readTeamHelp,
    sessionOnly: true
  })
  accountCommand(key, 'create <name>', 'create an API key, and print it this once (owner and admins)')
    .addOption(new Option('--tier <tier>', 'what the key can do').choices(keyTiers).default('simulate'))
    .addOption(
      new Option('--kind <kind>', 'live, or test: a key that never runs on a paid backend')
        .choices(keyKinds)
        .default('live')
    )
    .option('--daily-limit <usd>', 'the most that jobs of the key can cost in a day', dollars)
    .option('--expires <time>', 'ISO 8601 time at which it expires', timeInFuture)
    .option('--team <team>', writeTeamHelp)
    .action((name: string, { tier, kind, dailyLimit, expires, ...options }: NewKeyOptions) =>
      withSession(options, async (api) => {
        const { value, text } = await api.post<ApiKey & { key: string | null }>('/api/team/api-keys', {
          team_id: await changedTeam(api, options),
          name,
          tier,
          kind,
          daily_limit_usd: dailyLimit,
          expires_at: expires?.toISOString()
        })
        printResult(options, text, () => plainLine(value.key ?? ''))
        if (value.key === null) printNotice(lostSecret(`the key ${value.id}`, `qjob key revoke ${value.id}`))
        else if (!options.json) printNotice('The key is not shown again. Programs pass it in QJOB_KEY or --key.')
      })
    )
  accountCommand(key, 'revoke', 'revoke an API key at once (owner and admins)')
    .argument('<key>', 'the name of the key, its id, the end of its id, or its first 18 characters')
    .option('--team <team>', writeTeamHelp)
    .action((named: string, options: Options) =>
      withSession(options, async (api) => {
        const { id, name } = await itemNamed(api, keys, named, await changedTeam(api, options))
        const { text } = await api.delete(`/api/team/api-keys/${id}`)
        printResult(options, text, () => `the key ${plainLine(name)} is revoked`)
      })
    )
}

/** A secret is sent once. A request that was sent again, because its first response was lost, gets none. */
export const lostSecret = (what: string, remedy: string): string =>
  `${what} was created, but the response with the secret was lost: delete it with ${remedy}, and create another`
