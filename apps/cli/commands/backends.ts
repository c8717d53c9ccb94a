// `qjob backends`: where jobs can run.
import type { Command } from 'commander'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { money, print, table } from '../terminal/output.js'

interface Backend {
  slug: string
  name: string
  provider: string
  deviceType: string
  maxQubits: number | null
  maxShots: number | null
  isAvailable: boolean
  unavailableReason: string | null
  pricing: { taskFee: number; perShot: number; minimumCost: number }
}

export function addBackendsCommand(program: Command): void {
  serviceCommand(program, 'backends', 'list the backends that can be used')
    .option('--all', 'also those that this installation cannot use at present')
    .action((options: ServiceOptions & { all?: boolean }) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<{ backends: Backend[] }>('/api/backends')
        if (options.json) return print(text)
        const shown = value.backends.filter((backend) => options.all || backend.isAvailable)
        print(backendsText(shown, value.backends.length - shown.length))
      })
    )
}

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
  const list = table(['BACKEND', 'PROVIDER', 'KIND', 'QUBITS', 'SHOTS', 'STATE', 'PRICE'], rows, ['QUBITS', 'SHOTS'])
  return hidden > 0 ? `${list}\n\n${hidden} more cannot be used at present (--all shows them)` : list
}

function priceText({ taskFee, perShot, minimumCost }: Backend['pricing']): string {
  if (taskFee === 0 && perShot === 0 && minimumCost === 0) return 'free'
  const parts = [
    ...(taskFee > 0 ? [`${money(taskFee)} a task`] : []),
    ...(perShot > 0 ? [`${money(perShot)} a shot`] : []),
    ...(minimumCost > taskFee ? [`at least ${money(minimumCost)}`] : [])
  ]
  return parts.join(', ')
}
