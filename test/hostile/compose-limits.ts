// The memory limits of docker-compose.yml.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { type Memory, parts } from './processes.js'

const MIB_PER_UNIT: Readonly<Record<string, number>> = { m: 1, g: 1024 }

/** The `mem_limit` of each part, in MiB. */
export function composeLimits(): Memory {
  const file = readFileSync(join(projectRoot, 'docker-compose.yml'), 'utf8')
  const { services } = parse(file, { merge: true }) as { services: Record<string, { mem_limit?: string }> }
  const entries = parts.map((part) => {
    const text = services[part]?.mem_limit ?? ''
    const [, digits, unit] = /^(\d+)([mg])$/.exec(text) ?? []
    if (!digits || !unit) throw new Error(`docker-compose.yml: ${part} has mem_limit "${text}"; write it as 512m or 1g`)
    return [part, Number(digits) * MIB_PER_UNIT[unit]!] as const
  })
  return Object.fromEntries(entries) as Memory
}
