// `qjob webhook`: where the service sends a team's events.
import { type Command, Option } from 'commander'
import { webhookEvents } from '../../../../domain/teams/webhook.js'
import type { ApiClient } from '../../session/api-client.js'
import { changedTeam, chosen, readTeamHelp, type TeamOptions, teamQuery, writeTeamHelp } from '../../session/choice.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { table } from '../../terminal/layout.js'
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

export function addWebhookCommand(program: Command): void {
  const webhook = program.command('webhook').description("send a team's events to an address")
  accountCommand(webhook, 'list', "list a team's webhooks, never their secrets (owner and admins)")
    .option('--team <team>', readTeamHelp)
    .action((options: Options) =>
      withSession(options, async (api) => {
        const { value, text } = await api.get<{ webhooks: Webhook[] }>(
          `/api/team/webhooks${await teamQuery(api, options)}`
        )
        printResult(options, text, () => webhooksText(value.webhooks))
      })
    )
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
        printResult(options, text, () => deliveriesText(value.deliveries))
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

async function webhookNamed(api: ApiClient, text: string, options: Options): Promise<Webhook> {
  const team = await changedTeam(api, options)
  const { webhooks } = (await api.get<{ webhooks: Webhook[] }>(`/api/team/webhooks?team_id=${team}`)).value
  return chosen(webhooks, text, {
    noun: 'webhook',
    listedBy: 'qjob webhook list',
    idOf: ({ id }) => id,
    namesOf: ({ url }) => [url]
  })
}

const webhooksText = (webhooks: Webhook[]): string =>
  webhooks.length === 0
    ? 'No webhooks.'
    : table(
        [
          { heading: 'ID', id: true },
          { heading: 'CREATED', yields: 1 },
          { heading: 'EVENTS', least: 13 },
          { heading: 'URL', least: 20 }
        ],
        webhooks.map(({ id, created_at, events, url }) => [id, ago(created_at), events.join(' '), url])
      )

const deliveriesText = (deliveries: Delivery[]): string =>
  deliveries.length === 0
    ? 'No deliveries.'
    : table(
        [
          'EVENT',
          'STATE',
          { heading: 'TRIES', right: true, yields: 2 },
          { heading: 'HTTP', right: true, yields: 1 },
          { heading: 'CREATED', yields: 3 },
          { heading: 'LAST ERROR', least: 12, yields: 4 }
        ],
        deliveries.map(({ event, state, tries, last_status, created_at, last_error }) => [
          event,
          state,
          String(tries),
          String(last_status ?? ''),
          ago(created_at),
          last_error ?? ''
        ])
      )
