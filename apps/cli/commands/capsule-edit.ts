// `qjob capsule edit` and `qjob capsule verifications`: the facts of a draft, and the past verdicts of one
// that is.
import { type Command, InvalidArgumentError } from 'commander'
import type { CapsuleRecord } from '../capsules/capsule-record.js'
import { capsuleText } from '../capsules/capsule-text.js'
import { capsuleArgument, capsuleIdOf } from '../session/named-ids.js'
import {
  collect,
  dollars,
  type PageOptions,
  pageOptions,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError } from '../terminal/cli-error.js'
import { table } from '../terminal/layout.js'
import { type ListTotal, pageFooter, printResult } from '../terminal/output.js'
import { ago } from '../terminal/readable-time.js'

interface EditOptions extends ServiceOptions {
  name?: string
  description?: string
  tag: string[]
  budget?: number
  retentionYears?: number
  regulation?: string
}

interface VerificationPage extends ListTotal {
  verifications: {
    capsule_run_id: string
    trigger: string
    completed_at: string
    verdict: string
    tvd: number | null
    margin: number | null
  }[]
  drift: { per_30_days: number | null } | null
}

export function addCapsuleEditCommands(capsule: Command): void {
  serviceCommand(capsule, 'edit', 'change the facts of a draft')
    .argument('<capsule>', capsuleArgument)
    .option('--name <name>', 'its name')
    .option('--description <text>', 'a description')
    .option('--tag <tag>', 'a tag, in place of the present ones; repeatable', collect, [])
    .option('--budget <usd>', 'the most that its runs can cost', dollars)
    .option('--retention-years <n>', 'how long it is kept', years)
    .option('--regulation <name>', 'the regulatory framework')
    .action((text: string, options: EditOptions) =>
      withService(options, async (api) => {
        const changes = {
          name: options.name,
          description: options.description,
          ...(options.tag.length > 0 && { tags: options.tag }),
          max_budget_usd: options.budget,
          retention_years: options.retentionYears,
          regulatory_framework: options.regulation
        }
        if (Object.values(changes).every((change) => change === undefined))
          throw new CliError('usage', 'nothing to change: pass --name, --description, --tag or another option')
        const path = `/api/capsules/${await capsuleIdOf(api, text)}`
        const answer = await api.patch<CapsuleRecord>(path, changes)
        printResult(options, answer.text, () => capsuleText(answer.value))
      })
    )
  pageOptions(
    serviceCommand(capsule, 'verifications', 'list the past verdicts of a capsule, newest first').argument(
      '<capsule>',
      capsuleArgument
    ),
    50
  ).action((named: string, options: ServiceOptions & PageOptions) =>
    withService(options, async (api) => {
      const { limit, offset } = options
      const path = `/api/capsules/${await capsuleIdOf(api, named)}/verifications?limit=${limit}&offset=${offset}`
      const { value, text } = await api.get<VerificationPage>(path)
      printResult(options, text, () => verificationsText(value, offset))
    })
  )
}

function verificationsText(page: VerificationPage, offset: number): string {
  const { verifications, drift } = page
  if (verifications.length === 0) return 'No verifications.'
  const list = table(
    [
      { heading: 'RUN', id: true },
      { heading: 'VERDICT', status: true },
      { heading: 'ENDED', yields: 2 },
      { heading: 'DISTANCE', right: true },
      { heading: 'MARGIN', right: true, yields: 1 },
      { heading: 'TRIGGER', yields: 3 }
    ],
    verifications.map((one) => [
      one.capsule_run_id,
      one.verdict,
      ago(one.completed_at),
      one.tvd?.toFixed(4) ?? '',
      one.margin === null ? '' : String(one.margin),
      one.trigger
    ])
  )
  const trend =
    drift?.per_30_days == null ? '' : `\n\nThe distance changes by ${drift.per_30_days.toFixed(4)} in 30 days.`
  return list + trend + pageFooter(offset + verifications.length, page)
}

function years(text: string): number {
  const value = wholeNumber(text)
  if (value < 1) throw new InvalidArgumentError('It must be at least 1.')
  return value
}
