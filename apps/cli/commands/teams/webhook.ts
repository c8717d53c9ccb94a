// `qjob webhook`: where the service sends a team's events.
import { type Command, Option } from 'commander'
import { webhookEvents } from '../../../../domain/teams/webhook.js'
import type { ApiClient } from '../../session/api-client.js'
import { changedTeam, readTeamHelp, type TeamOptions, writeTeamHelp } from '../../session/choice.js'
import { itemNamed, type List, type ListView, listCommand, listText } from '../../session/list.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { printNotice, printResult } from '../../terminal/output.js'
import { ago } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'
import { lostSecret } from './key.js'

interface Webhook {
  id: string
  url: string
  events: string[]
  created_at: string
}

interface Delivery {
  event: string
  state: string
  tries: number
  last_status: number | null
  last_error: string | null
  created_at: string
}

type Options = ServiceOptions & TeamOptions

const WEBHOOK = "the webhook's address, its id or the end of it"

const webhooks: List<Webhook> = {
  path: '/api/team/webhooks',
  field: 'webhooks',
  noun: 'webhook',
  listedBy: 'qjob webhook list',
  idOf: ({ id }) => id,
  namesOf: ({ url }) => [url],
  columns: [
    { heading: 'ID', id: true },
    { heading: 'CREATED', yields: 1 },
    { heading: 'EVENTS', least: 13 },
    { heading: 'URL', least: 20 }
  ],
  cells: ({ id, created_at, events, url }) => [id, ago(created_at), events.join(' '), url],
  none: 'No webhooks.'
}

const deliveries: ListView<Delivery> = {
  columns: [
    'EVENT',
    'STATE',
    { heading: 'TRIES', right: true, yields: 2 },
    { heading: 'HTTP', right: true, yields: 1 },
    { heading: 'CREATED', yields: 3 },
    { heading: 'LAST ERROR', least: 12, yields: 4 }
  ],
  cells: ({ event, state, tries, last_status, created_at, last_error }) => [
    event,
    state,
    String(tries),
    String(last_status ?? ''),
    ago(created_at),
    last_error ?? ''
  ],
  none: 'No deliveries.'
}

export function addWebhookCommand(program: Command): void {
  const webhook = program.command('webhook').description("send a team's events to an address")
  listCommand(webhook, "list a team's webhooks, never their secrets (owner and admins)", webhooks, {
    team: readTeamHelp,
    sessionOnly: true
  })
  accountCommand(webhook, 'create <url>', 'create a webhook, and print its secret this once (owner and admins)')
    .addOption(new Option('--event <event...>', 'the events to send').choices(webhookEvents).makeOptionMandatory())
    .option('--team <team>', writeTeamHelp)
    .action((url: string, { event, ...options }: Options & { event: string[] }) =>
      withSession(options, async (api) => {
        const body = { team_id: await changedTeam(api, options), url, events: event }
        const { value, text } = await api.post<Webhook & { secret: string | null }>('/api/team/webhooks', body)
        printResult(options, text, () => plainLine(value.secret ?? ''))
        if (value.secret === null) printNotice(lostSecret(`the webhook ${value.id}`, `qjob webhook delete ${value.id}`))
        else if (!options.json) printNotice('The secret is not shown again. It proves who sent a message.')
      })
    )
  accountCommand(webhook, 'deliveries', 'list the newest 100 deliveries of a webhook, newest first (owner and admins)')
    .argument('<webhook>', WEBHOOK)
    .option('--team <team>', writeTeamHelp)
    .action((named: string, options: Options) =>
      withSession(options, async (api) => {
        const { id } = await webhookNamed(api, named, options)
        const { value, text } = await api.get<{ deliveries: Delivery[] }>(`/api/team/webhooks/${id}/deliveries`)
        printResult(options, text, () => listText(value.deliveries, deliveries))
      })
    )
  accountCommand(webhook, 'delete', 'delete a webhook with its log (owner and admins)')
    .argument('<webhook>', WEBHOOK)
    .option('--team <team>', writeTeamHelp)
    .action((named: string, options: Options) =>
      withSession(options, async (api) => {
        const { id, url } = await webhookNamed(api, named, options)
        const { text } = await api.delete(`/api/team/webhooks/${id}`)
        printResult(options, text, () => `the webhook to ${plainLine(url)} is deleted`)
      })
    )
}

const webhookNamed = async (api: ApiClient, text: string, options: Options): Promise<Webhook> =>
  itemNamed(api, webhooks, text, await changedTeam(api, options))
