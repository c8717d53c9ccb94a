// `qjob backends`: lists where jobs can run.
import type { Command } from 'commander'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { type Column, table } from '../terminal/layout.js'
import { money, print, printJson } from '../terminal/output.js'

export interface Backend {
  slug: string
  name: string
  provider: string
  deviceType: string
  maxQubits: number | null
  maxShots: number | null
  isAvailable: boolean
  unavailableReason: string | null
  pricing: { taskFee: number; perShot: number; minimumCost: number; perSecond?: number; secondsMax?: number }
  description: string | null
  isRecommended: boolean
  displayOrder: number
}

export function addBackendsCommand(program: Command): void {
  serviceCommand(program, 'backends', 'list the available backends')
    .option('--all', 'also list backends that are unavailable')
    .action((options: ServiceOptions & { all?: boolean }) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<{ backends: Backend[] }>('/api/backends')
        if (options.json) return printJson(text)
        const shown = value.backends.filter((backend) => options.all || backend.isAvailable)
        print(backendsText(shown, value.backends.length - shown.length))
      })
    )
}

const columns: Column[] = [
  { heading: 'BACKEND', least: 16 },
  { heading: 'PROVIDER', yields: 4 },
  { heading: 'KIND', yields: 2 },
  { heading: 'QUBITS', right: true },
  { heading: 'SHOTS', right: true, yields: 3 },
  { heading: 'STATE', least: 9 },
  { heading: 'PRICE', least: 12, yields: 1 }
]

function backendsText(backends: Backend[], hidden: number): string {
  const rows = backends.map((backend) => [
    backend.slug,
    backend.provider,
    backend.deviceType,
    String(backend.maxQubits ?? ''),
    String(backend.maxShots ?? ''),
    backend.unavailableReason ?? 'available',
    priceText(backend.pricing)
  ])
  const list = table(columns, rows)
  return hidden > 0 ? `${list}\n\n${hidden} more are unavailable (--all lists them)` : list
}

export function priceText({ taskFee, perShot, minimumCost, perSecond = 0, secondsMax }: Backend['pricing']): string {
  if (taskFee === 0 && perShot === 0 && minimumCost === 0 && perSecond === 0) return 'free'
  const parts = [
    ...(taskFee > 0 ? [`${money(taskFee)} per task`] : []),
    ...(perShot > 0 ? [`${money(perShot)} per shot`] : []),
    ...(perSecond > 0 ? [`${money(perSecond)} per second, at most ${secondsMax} s`] : []),
    ...(minimumCost > taskFee ? [`at least ${money(minimumCost)}`] : [])
  ]
  return parts.join(', ')
}
