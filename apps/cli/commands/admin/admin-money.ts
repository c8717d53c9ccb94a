// `qjob admin money` and `qjob admin settle`: lists and settles held money, directly in the database.
import { type Command, InvalidArgumentError } from 'commander'
import { loadMoney, settleByAdministrator } from '../../../../db/admin/held-money.js'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import { moneyView, SETTLEMENT_NOTE_MAX } from '../../../../domain/money/held-money.js'
import { formatUsd, type MicroUsd, microFromUsd, usdFromMicro } from '../../../../domain/money/money.js'
import { isUuid, jsonOption, reportingFailures } from '../../session/service-command.js'
import { type Column, table } from '../../terminal/layout.js'
import { money as dollars, print, printJson, printResult } from '../../terminal/output.js'
import { ago } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'
import { databaseHelp, inDatabase } from './admin-database.js'

const LISTED = 100

const heldColumns: Column[] = [
  { heading: 'JOB' },
  { heading: 'TEAM', least: 10, yields: 2 },
  { heading: 'HELD', right: true },
  { heading: 'ENDED', yields: 3 },
  { heading: 'AT PROVIDER', least: 12, yields: 1 },
  { heading: 'STATE', least: 10, yields: 4 }
]
const overColumns: Column[] = [
  { heading: 'JOB' },
  { heading: 'TEAM', least: 10, yields: 1 },
  { heading: 'RESERVED', right: true, yields: 2 },
  { heading: 'COST', right: true },
  { heading: 'SETTLED', yields: 3 }
]

export function addMoneyCommands(admin: Command): void {
  jsonOption(
    admin.command('money').description('list held money, costs above their reservation, and errors in the ledger')
  )
    .addHelpText('after', databaseHelp)
    .action((options: { json?: boolean }) => reportingFailures(options, () => show(options)))
  jsonOption(
    admin
      .command('settle')
      .argument('<job-id>', '', jobId)
      .argument('<usd>', '', amount)
      .description("settle a job's held money with what its provider billed")
  )
    .requiredOption('--note <text>', 'the reason, for the audit log', note)
    .addHelpText('after', databaseHelp)
    .action((id: string, cost: MicroUsd, options: { json?: boolean; note: string }) =>
      reportingFailures(options, () => settle(id, cost, options))
    )
}

async function show({ json }: { json?: boolean }): Promise<void> {
  const view = moneyView(await inDatabase(({ db }) => loadMoney(db, LISTED)))
  if (json) return printJson(JSON.stringify(view))
  const held = view.held.map((job) => [
    job.job_id,
    job.team_name,
    dollars(job.held_usd),
    ago(job.since),
    job.provider_job_id ?? '',
    job.asks_provider_at ? 'checked at the provider' : 'needs qjob admin settle'
  ])
  const over = view.over_reservation.map((job) => [
    job.job_id,
    job.team_name,
    dollars(job.reserved_usd),
    dollars(job.settled_usd),
    ago(job.settled_at)
  ])
  const found = Object.values(view.proofs).flatMap(({ findings }) => findings)
  const parts = [
    held.length === 0
      ? 'No money is held.'
      : `${dollars(view.held_usd)} is held for ${view.held_jobs} ${view.held_jobs === 1 ? 'job' : 'jobs'}.\n` +
        table(heldColumns, held),
    ...(over.length > 0 ? [`Actual cost above the reservation:\n${table(overColumns, over)}`] : []),
    found.length === 0
      ? 'The ledger checks found no errors.'
      : `Errors found by the ledger checks:\n${found.map(({ message }) => plainLine(message)).join('\n')}`
  ]
  print(parts.join('\n\n'))
}

async function settle(id: string, cost: MicroUsd, options: { json?: boolean; note: string }): Promise<void> {
  await inDatabase(({ db }) =>
    db.transaction((tx) => settleByAdministrator(tx, commandLine, id, { cost, note: options.note }))
  )
  printResult(
    options,
    JSON.stringify({ job_id: id, actual_cost_usd: usdFromMicro(cost) }),
    () => `${id} is settled at ${formatUsd(cost)}.`
  )
}

function jobId(text: string): string {
  if (!isUuid(text))
    throw new InvalidArgumentError('It must be the id of a job; qjob admin money lists those with held money.')
  return text
}

function amount(text: string): MicroUsd {
  const micro = /^\d+(\.\d+)?$/.test(text) ? microFromUsd(Number(text)) : null
  if (micro === null)
    throw new InvalidArgumentError('It must be an amount in USD with at most 6 decimals, such as 12.50.')
  return micro
}

function note(text: string): string {
  if (text.trim() === '' || text.length > SETTLEMENT_NOTE_MAX)
    throw new InvalidArgumentError(`It must have 1 to ${SETTLEMENT_NOTE_MAX} characters.`)
  return text.trim()
}
