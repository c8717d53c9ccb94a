// `qjob admin backend`: changes a backend of the catalogue.
import { type Command, Option } from 'commander'
import { backendStatuses } from '../../../../domain/backends/backend.js'
import { SECONDS_MAX } from '../../../../domain/money/cost.js'
import { dollars, type ServiceOptions, wholeNumberWithin } from '../../session/service-command.js'
import { CliError } from '../../terminal/cli-error.js'
import { listing } from '../../terminal/layout.js'
import { printResult } from '../../terminal/output.js'
import { type Backend, priceText } from '../backends.js'
import { administratorCommand, withAdministrator } from './administrator.js'

interface BackendOptions extends ServiceOptions {
  status?: string
  available?: boolean
  taskFee?: number
  perShot?: number
  minimumCost?: number
  /** `false`: not billed by time. */
  perSecond?: number | false
  secondsMax?: number
  description?: string
  recommended?: boolean
  order?: number
}

export function addBackendCommand(admin: Command): void {
  administratorCommand(admin, 'backend', 'change a backend; prices hold for jobs submitted from now on')
    .argument('<backend>', 'its name, as qjob backends --all lists it')
    .addOption(new Option('--status <status>', 'the status that it has').choices(backendStatuses))
    .option('--available', 'let jobs run there')
    .option('--no-available', 'refuse new jobs')
    .option('--task-fee <usd>', 'the price of a task', dollars)
    .option('--per-shot <usd>', 'the price of a shot', dollars)
    .option('--minimum-cost <usd>', 'the least that a task costs', dollars)
    .option('--per-second <usd>', 'the price of a second of the machine; needs a cap', dollars)
    .option('--no-per-second', 'bill it by time no longer')
    .option('--seconds-max <n>', 'the cap of a circuit, in seconds', wholeNumberWithin(1, SECONDS_MAX))
    .option('--description <text>', 'the description; an empty text removes it')
    .option('--recommended', 'recommend it')
    .option('--no-recommended', 'recommend it no longer')
    .option('--order <n>', 'its place in lists, lowest first', wholeNumberWithin(0, 1_000_000))
    .action((slug: string, options: BackendOptions) =>
      withAdministrator(options, async (api) => {
        const change = changeOf(options)
        if (Object.keys(change).length === 0)
          throw new CliError('usage', 'name what to change, such as --status offline (--help shows all options)')
        const { value, text } = await api.patch<Backend>(`/api/admin/backends/${encodeURIComponent(slug)}`, change)
        printResult(options, text, () => backendText(value))
      })
    )
}

function changeOf(options: BackendOptions): Record<string, unknown> {
  const { taskFee, perShot, minimumCost, perSecond, secondsMax, description } = options
  const byTime = perSecond === false ? { perSecond: null, secondsMax: null } : { perSecond, secondsMax }
  const pricing = given({ taskFee, perShot, minimumCost, ...byTime })
  return given({
    status: options.status,
    isAvailable: options.available,
    pricing: Object.keys(pricing).length > 0 ? pricing : undefined,
    description: description === '' ? null : description,
    isRecommended: options.recommended,
    displayOrder: options.order
  })
}

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const backendText = (backend: Backend): string =>
  listing([
    ['backend', backend.slug],
    ['name', backend.name],
    ['provider', backend.provider],
    ['state', backend.unavailableReason ?? 'available'],
    ['price', priceText(backend.pricing)],
    ['recommended', backend.isRecommended ? 'yes' : 'no'],
    ['order', String(backend.displayOrder)],
    ['description', backend.description]
  ])
