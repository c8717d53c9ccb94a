// `qjob admin audit`: what platform administrators changed.
import type { Command } from 'commander'
import { type ListView, listText } from '../../session/list.js'
import { idArgument, type ServiceOptions, wholeNumberWithin } from '../../session/service-command.js'
import { printResult } from '../../terminal/output.js'
import { clockTime } from '../../terminal/readable-time.js'
import { administratorCommand, withAdministrator } from './administrator.js'

interface Action {
  at: string
  actor: { email: string }
  action: string
  target: string
  details: Record<string, unknown>
}

const actions: ListView<Action> = {
  columns: [
    { heading: 'AT', yields: 2 },
    { heading: 'BY', least: 12, yields: 1 },
    'ACTION',
    { heading: 'TARGET', least: 12 },
    { heading: 'DETAILS', least: 16, yields: 3 }
  ],
  cells: ({ at, actor, action, target, details }) => [
    clockTime(at),
    actor.email,
    action,
    target,
    JSON.stringify(details)
  ],
  none: 'No changes by administrators.'
}

export function addAdminAuditCommand(admin: Command): void {
  administratorCommand(admin, 'audit', 'list the changes by platform administrators, newest first')
    .option('--limit <n>', 'how many, 1 to 100', wholeNumberWithin(1, 100), 50)
    .option('--cursor <cursor>', 'continue after the previous page', idArgument('change', 'the page before'))
    .action(({ limit, cursor, ...options }: ServiceOptions & { limit: number; cursor?: string }) =>
      withAdministrator(options, async (api) => {
        const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) })
        const { value, text } = await api.get<{ entries: Action[]; next_cursor: string | null }>(
          `/api/admin/audit?${query}`
        )
        const more = value.next_cursor === null ? '' : `\n\nmore: --cursor ${value.next_cursor}`
        printResult(options, text, () => listText(value.entries, actions) + more)
      })
    )
}
