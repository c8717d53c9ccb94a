// The code blocks of the pages, each with the kind of thing that it is.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'

const kinds = ['shell', 'request', 'json', 'yaml', 'python', 'js', 'ts', 'text'] as const
export type Kind = (typeof kinds)[number]

export interface Block {
  page: string
  /** Of its first fence. */
  line: number
  /** `null`: none that the tests know. */
  kind: Kind | null
  text: string
}

export const pages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'clients/python/README.md',
  ...readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort()
]

const fence = /^( *)(```+|~~~+)([^\n]*)\n([\s\S]*?)^\1\2$/gm

export const blocks: readonly Block[] = pages.flatMap((page) => {
  const source = readFileSync(join(projectRoot, page), 'utf8')
  return [...source.matchAll(fence)].map((match) => {
    const [, indentation = '', , language = '', body = ''] = match
    const text = body.replaceAll(new RegExp(`^${indentation}`, 'gm'), '')
    return { page, line: source.slice(0, match.index).split('\n').length, kind: kindOf(language.trim(), text), text }
  })
})

/** A block without a language is a request, or else lines for a shell. */
function kindOf(language: string, text: string): Kind | null {
  if (language === '') return /^[A-Z]+ +\//.test(text) ? 'request' : 'shell'
  return kinds.find((kind) => kind === language) ?? null
}

/** The commands of a shell block: continued lines joined, comments left out. */
export const commandsOf = ({ text }: Block): string[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)# .*$/, '').trim())
    .filter(Boolean)

export const at = ({ page, line }: Block): string => `${page}:${line}`
