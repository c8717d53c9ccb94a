// Checks the tokens of a manifest before values are made from them: what YAML readers interpret differently is refused.
import { type CST, Lexer, Parser } from 'yaml'
import { CANONICAL_DEPTH_MAX } from '../../domain/json/canonical-json.js'
import { MANIFEST_NAME, packageFault } from '../payload-file.js'

export const manifestFault = (problem: string, line?: number) =>
  packageFault(`${MANIFEST_NAME}${line === undefined ? '' : `, line ${line}`}: ${problem}`)

type LineAt = (offset: number) => number

/** The line of a position in the text, counted from 1. */
export const lineCounter =
  (text: string): LineAt =>
  (offset) => {
    let line = 1
    for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
    return line
  }

/** @throws ServiceError `validation_error` naming the line. */
export function manifestTokens(text: string): CST.Token[] {
  checkDirectives(text)
  checkAmount(text)
  const tokens = [...new Parser().parse(text)]
  checkTokens(tokens, lineCounter(text))
  return tokens
}

const tagDirective = /^%TAG +(?:!|!!|![0-9A-Za-z-]+!) +[^ ]+(?: +#.*)?$/

function checkDirectives(text: string): void {
  const seen = new Set<string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('%')) {
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue
      return
    }
    const fault = (problem: string) => manifestFault(problem, index + 1)
    if (line.split(' #')[0]!.includes('\t')) throw fault('contains a tab in a directive')
    const [name, first = ''] = line.slice(1).split(/ +/)
    if (name !== 'YAML' && name !== 'TAG') throw fault(`directive %${name} is not known`)
    if (name === 'YAML' && first !== '1.1' && first !== '1.2') throw fault('%YAML must name 1.1 or 1.2')
    if (name === 'TAG' && !tagDirective.test(line)) throw fault('%TAG needs a handle and a prefix')
    const key = name === 'YAML' ? name : `${name} ${first}`
    if (seen.has(key)) throw fault(`directive %${key} occurs twice`)
    seen.add(key)
  }
}

// A manifest of MANIFEST_BYTES_MAX has about 60,000; one of only commas and brackets would block the process.
const LEXEMES_MAX = 80_000

function checkAmount(text: string): void {
  let lexemes = 0
  for (const _ of new Lexer().lex(text))
    if (++lexemes > LEXEMES_MAX) throw manifestFault(`contains more than ${LEXEMES_MAX} tokens`)
}

// A mapping takes two levels of tokens, so a document of CANONICAL_DEPTH_MAX levels stays below this, and a recursive reader
// is safe.
const TOKEN_DEPTH_MAX = 4 * CANONICAL_DEPTH_MAX

interface AnyToken {
  type?: string
  source?: string
  offset?: number
}

function checkTokens(tokens: readonly CST.Token[], lineAt: LineAt): void {
  const stack: { token: unknown; depth: number }[] = tokens.map((token) => ({ token, depth: 1 }))
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { token, depth } = next
    if (depth > TOKEN_DEPTH_MAX) throw manifestFault(`is nested deeper than ${CANONICAL_DEPTH_MAX} levels`)
    if (typeof token !== 'object' || token === null) continue
    const problem = tokenProblem(token)
    if (problem) throw manifestFault(problem, lineAt((token as AnyToken).offset ?? keyOffset(token)))
    for (const child of Object.values(token))
      if (typeof child === 'object') stack.push({ token: child, depth: depth + 1 })
  }
}

function tokenProblem(token: object): string | null {
  const { type, source } = token as AnyToken
  if (isSpreadKey(token as CST.CollectionItem)) return 'a key over several lines'
  if (source === undefined) return null
  if (type === 'space' || type === 'scalar' || type === 'block-scalar-header')
    return source.includes('\t') ? 'a tab outside of quotes, blocks and comments' : null
  if (type === 'anchor') return /^&[0-9A-Za-z_-]+$/.test(source) ? null : 'an anchor with an unusual name'
  // Without the line feed, one reader adds one to the text and another does not.
  if (type === 'block-scalar')
    return source.endsWith('\n') || source === '' ? null : 'a block without a line feed at its end'
  return type === 'double-quoted-scalar' ? quotedProblem(source) : null
}

/** A key without `?` whose colon is on a later line than its beginning. */
function isSpreadKey({ start, key, sep }: CST.CollectionItem): boolean {
  if (!Array.isArray(start) || !Array.isArray(sep) || start.some(({ type }) => type === 'explicit-key-ind'))
    return false
  if (!key) return false
  const behind = sep.slice(
    0,
    Math.max(
      0,
      sep.findIndex(({ type }) => type === 'map-value-ind')
    )
  )
  return ('source' in key && key.source.includes('\n')) || behind.some(({ type }) => type === 'newline')
}

const keyOffset = (token: object): number => (token as { key?: AnyToken }).key?.offset ?? 0

function quotedProblem(source: string): string | null {
  for (let at = 1; at < source.length; at++) {
    if (source[at] === '"') return at === source.length - 1 ? null : 'a quote within quotes'
    if (source[at] !== '\\') continue
    at++
    // One reader keeps the empty line, another does not.
    if (source[at] === '\n' && /^[ \t]*\n/.test(source.slice(at + 1))) return 'an escaped line end before an empty line'
    const digits =
      source[at] === 'u' ? source.slice(at + 1, at + 5) : source[at] === 'U' ? source.slice(at + 1, at + 9) : ''
    const code = Number.parseInt(digits, 16)
    if (code >= 0xd800 && code <= 0xdfff) return 'half of a character as an escape; write the character itself'
  }
  return 'a quote that is never closed'
}
