// Looks for credentials in the files that are about to be sealed: capsules are passed on, and a sealed one never changes.
// Only known forms are found, so a clean scan proves nothing. Every pattern is bounded, so the time is linear in the text.
import { setImmediate as turn } from 'node:timers/promises'
import { MANIFEST_NAME, type PackageFile } from './payload-file.js'

export interface CredentialFinding {
  file: string
  /** Counted from 1; 0 is the file itself, because of its name. */
  line: number
  kind: string
}

const FINDINGS_MAX = 100
const WINDOW = 256 * 1024
// How many characters a pattern may read before and after a match.
const BEFORE = 512
const AFTER = 8 * 1024
const SNIFFED = 8 * 1024

/**
 * Returns where credentials are, never their values. Yields to other work in between.
 * `# capsule:allow` after a finding on its line, before any comma, allows it in a file; in the manifest it has no effect.
 */
export async function scanForCredentials(
  files: readonly PackageFile[],
  manifestText: string
): Promise<CredentialFinding[]> {
  const findings: CredentialFinding[] = []
  for (const file of [{ name: MANIFEST_NAME, content: Buffer.from(manifestText) }, ...files]) {
    if (isCredentialFile(file.name)) findings.push({ file: file.name, line: 0, kind: 'a file of credentials' })
    else if (!isBinary(file.content)) await scanFile(file, findings)
    if (findings.length >= FINDINGS_MAX) break
  }
  return findings.slice(0, FINDINGS_MAX)
}

const isCredentialFile = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return /^(\.env(\..*)?|id_(rsa|ed25519|ecdsa|dsa))$/.test(name) || /\.(pem|key|p12|pfx|bak|keystore|jks)$/.test(name)
}

const isBinary = (content: Buffer): boolean => content.subarray(0, SNIFFED).includes(0)

async function scanFile({ name, content }: PackageFile, findings: CredentialFinding[]): Promise<void> {
  const manifest = name === MANIFEST_NAME
  const escaped = manifest || /\.(json|ipynb)$/i.test(name)
  const lines = new LineCount(content)
  for (let start = 0; start < content.length; start += WINDOW) {
    if (start > 0) await turn()
    const from = Math.max(0, start - BEFORE)
    // Decoded byte by byte: all patterns are ASCII, and the positions stay those of the bytes.
    const raw = content.toString('latin1', from, Math.min(content.length, start + WINDOW + AFTER))
    const text = escaped && raw.includes('\\') ? unescaped(raw) : raw
    const found = placesIn(text)
      .filter(({ at }) => at + from >= start && at + from < start + WINDOW)
      .filter(({ end }) => manifest || !isAllowed(text, end))
      .sort((one, other) => one.at - other.at)
    for (const { at, kind } of found) {
      const line = lines.of(at + from)
      if (!findings.some((known) => known.file === name && known.line === line && known.kind === kind))
        findings.push({ file: name, line, kind })
      if (findings.length >= FINDINGS_MAX) return
    }
  }
}

/** The text within a JSON string at unchanged positions: an escaped line end becomes one, an escaped quote a blank and a quote. */
const unescaped = (json: string): string =>
  json.replace(/\\[nrt"'\\/]/g, (pair) =>
    pair === '\\n' || pair === '\\r' ? ' \n' : pair === '\\t' ? '  ' : ` ${pair[1]}`
  )

/** Counts lines on the way, so positions must be requested in ascending order. */
class LineCount {
  private line = 1
  private next: number
  constructor(private readonly content: Buffer) {
    this.next = content.indexOf(10)
  }

  of(at: number): number {
    while (this.next !== -1 && this.next < at) {
      this.line++
      this.next = this.content.indexOf(10, this.next + 1)
    }
    return this.line
  }
}

/** Whether the author has allowed the finding that ends here. */
function isAllowed(text: string, end: number): boolean {
  const rest = /^[^,\n]{0,1000}/.exec(text.slice(end, end + 1000))![0]
  return /#[ \t]{0,20}capsule:allow/i.test(rest)
}

interface Place {
  at: number
  end: number
  kind: string
}

const shapes: readonly (readonly [string, RegExp])[] = [
  ['an AWS access key id', /\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g],
  ['a GitHub token', /\bgh[pousr]_[0-9A-Za-z]{36}\b/g],
  ['a GitHub token', /\bgithub_pat_\w{82}\b/g],
  ['a Google API key', /\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])/g],
  ['a Stripe key', /\b[sr]k_(?:test|live|prod)_[0-9A-Za-z]{10,99}\b/g],
  ['a Slack token', /xox[baprs]-[0-9]{10,13}-[0-9A-Za-z-]{10}/g],
  ['an API key of this service', /\bmarqey_(?:live|test)_[0-9A-Za-z_-]{32}/g],
  ['a JSON Web Token', /(?<![0-9A-Za-z_-])ey[0-9A-Za-z_-]{10,2000}\.ey[0-9A-Za-z_-]{10,4000}\.[0-9A-Za-z_-]{5}/g]
]

function placesIn(text: string): Place[] {
  const found: Place[] = []
  const every = (pattern: RegExp, kind: string, holds: (match: RegExpExecArray) => boolean = () => true) => {
    for (const match of text.matchAll(pattern))
      if (holds(match)) found.push({ at: match.index, end: match.index + match[0].length, kind })
  }
  for (const [kind, pattern] of shapes) every(pattern, kind)
  every(privateKey, 'a private key', ({ index }) => /[A-Za-z0-9+/]{16}/.test(text.slice(index + 20, index + 500)))
  for (const at of runsOf64HexDigits(text)) if (isToken(text, at)) found.push({ at, end: at + 64, kind: 'a token' })
  every(knownName, 'a value for a name of credentials', ([, value]) => isLiteral(value!))
  every(quotedArgument, 'a token in the code', ({ index }) => isInConstructor(text, index))
  return found
}

const privateKey = /-----BEGIN[ A-Z0-9]{0,40} ?PRIVATE KEY(?: BLOCK)?-----/g

// A token of IBM Quantum is 64 hex digits, like a digest; the words around it distinguish them.
const aboutTokens = /ibmq?|qiskit|quantum|token|api[_.-]?key/i
const labelOfDigest =
  /(?:(?:sha-?[0-9]{1,3}|blake2[bs]|md5|digest|hash|checksum|fingerprint|calibration|calibration_id|reference|revision|commit)[ \t]?["']?[ \t]{0,9}[:=][ \t]{0,9}["']?(?:sha[0-9]{1,3}:)?|sha[0-9]{1,3}[:-]|mqc:[0-9]{1,3}:)$/i
const NEAR = 40

const isHexDigit = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)

/**
 * Where runs of exactly 64 hex digits begin. Each has one of the characters 63, 127, 191, ..., so no others are read until one
 * of these is a digit: that is ten times faster than a regular expression, which reads them all.
 */
export function* runsOf64HexDigits(text: string): Generator<number> {
  for (let at = 63; at < text.length; at += 64) {
    if (!isHexDigit(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isHexDigit(text.charCodeAt(start - 1))) start--
    let end = at + 1
    while (end < text.length && isHexDigit(text.charCodeAt(end))) end++
    if (end - start === 64) yield start
    // The other characters of this run say nothing new.
    while (at + 64 < end) at += 64
  }
}

// The outcomes of 64 qubits consist of only two of the digits.
const DISTINCT_DIGITS_MIN = 8

function isToken(text: string, at: number): boolean {
  if (new Set(text.slice(at, at + 64)).size < DISTINCT_DIGITS_MIN) return false
  const before = text.slice(Math.max(0, at - 80), at)
  if (labelOfDigest.test(before)) return false
  const line = before.slice(-NEAR).slice(before.slice(-NEAR).lastIndexOf('\n') + 1)
  const behind = /^[^\n]*/.exec(text.slice(at + 64, at + 64 + NEAR))![0]
  return aboutTokens.test(line) || aboutTokens.test(behind)
}

const knownName =
  /\b(?:IBM[A-Z0-9_]{0,40}_TOKEN|IBMQ?_TOKEN|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|GITHUB_TOKEN|AZURE_QUANTUM_[A-Z0-9_]{1,60})\b[ \t]?["']?\]?[ \t]{0,20}[:=][ \t]{0,20}["']?([^"'\n]{1,200})/gi
const reference = /os\.environ|getenv|process\.env|environ\[|\$\{|\$[A-Za-z_]|%[A-Za-z_]{1,60}%|<[^>]{0,200}>/i

/** Whether it is a literal value: not a reference to one, and not the JSON or code around an empty one. */
const isLiteral = (value: string): boolean =>
  /[0-9A-Za-z]/.test(value) && !reference.test(value) && !/^(?:null|none|undefined|true|false)\b/i.test(value.trim())

const quotedArgument = /\b(?:token|credentials?|api_?key|secret)[ \t]{0,9}=[ \t]{0,9}["'][^"'\n]{3,200}["']/gi
const providerCall = /(?:QiskitRuntimeService|IBMProvider|IBMQ|AWSSession)[ \t]{0,9}$/i

/** Whether the argument is in an open call of a provider's class. */
function isInConstructor(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 300), at)
  const open = before.lastIndexOf('(')
  return open !== -1 && !before.includes(')', open) && providerCall.test(before.slice(0, open))
}
