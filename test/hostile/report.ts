// The report of a run as Markdown.
import { seconds, type Times } from './figures.js'
import type { HostileReport } from './hostile.js'
import type { AttackReport } from './one-attack.js'
import { type Memory, parts } from './processes.js'

/** A table with a line for each attack, one of the memory, and the broken promises. */
export function reportText({ alone, alonePeaks, limits, attacks }: HostileReport): string {
  const kept = attacks.filter(({ broken }) => broken.length === 0).length
  return [
    `Alone: direct ${figure(alone.direct)}, temporal ${figure(alone.temporal)} (p50 / p95 in seconds).`,
    '',
    ...table(
      [
        'Attack',
        'Responses',
        'Database, MiB',
        'Direct, s',
        'Temporal, s',
        'Times slower',
        'Failed',
        'Recovered after, s',
        ''
      ],
      attacks.map((attack) => [
        `**${attack.name}**: ${attack.what}`,
        responses(attack),
        `+${attack.grownMib.toFixed(0)}`,
        figure(attack.direct),
        figure(attack.temporal),
        slower(attack),
        String(attack.failures.length),
        attack.recoverySeconds === null ? 'restart' : attack.recoverySeconds.toFixed(1),
        attack.broken.length === 0 ? 'kept' : '**broken**'
      ])
    ),
    '',
    'Memory peaks in MiB, with the limits of docker-compose.yml:',
    '',
    ...table(
      ['', ...parts],
      [
        ['limit', ...memory(limits)],
        ['alone', ...memory(alonePeaks)],
        ...attacks.map(({ name, peaks }) => [name, ...memory(peaks, limits)])
      ]
    ),
    '',
    `${kept} of ${attacks.length} attacks kept every promise.`,
    ...attacks
      .filter(({ broken }) => broken.length > 0)
      .map(({ name, broken }) => `- ${name}: ${broken.join('; ').slice(0, 600)}`)
  ].join('\n')
}

const table = (head: string[], rows: string[][]): string[] =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)

const figure = ({ p50Ms, p95Ms }: Times): string =>
  p50Ms === null || p95Ms === null ? 'none' : `${seconds(p50Ms)} / ${seconds(p95Ms)}`

const slower = ({ slowdown, runs }: AttackReport): string =>
  slowdown === null ? 'none' : `${slowdown.toFixed(1)}${runs > 1 ? ` in ${runs} runs` : ''}`

const memory = (peaks: Memory, limits?: Memory): string[] =>
  parts.map((part) => {
    const text = peaks[part].toFixed(0)
    return limits && peaks[part] > limits[part] ? `**${text}**` : text
  })

function responses({ result }: AttackReport): string {
  const jobs = Object.keys(result.outcomes).length > 0 ? `; jobs ${counts(result.outcomes)}` : ''
  return `${counts(result.replies) || 'connections only'}${jobs}`
}

const counts = (some: Record<string, number>): string =>
  Object.entries(some)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ')
