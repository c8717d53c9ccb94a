// No credential is sealed, honest evidence is never mistaken for one, and no text takes long to scan.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { runsOf64HexDigits, scanForCredentials } from '../../capsule-format/credential-scan.js'
import { fixtures, sealInput, textFile } from './sample.js'

const inSource = (text: string, name = 'source.py') => scanForCredentials([textFile(name, text)], '{}')
const hex = '0123456789abcdef'.repeat(4)
const found: [string, string, string][] = [
  ['an AWS access key id', 'key = "AKIAIOSFODNN7EXAMPLE"', 'an AWS access key id'],
  ['a GitHub token', `t = "ghp_${'a1B2'.repeat(9)}"`, 'a GitHub token'],
  ['a fine-grained GitHub token', `github_pat_${'a'.repeat(82)}`, 'a GitHub token'],
  ['a Google key', `AIza${'b'.repeat(35)}`, 'a Google API key'],
  ['a Stripe key', 'sk_live_0123456789abcdef', 'a Stripe key'],
  ['a Slack token', 'xoxb-123456789012-abcdefghijkl', 'a Slack token'],
  ['a key of this service', `marqey_live_${'x'.repeat(32)}`, 'an API key of this service'],
  ['a JSON Web Token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'a'.repeat(43)}`, 'a JSON Web Token'],
  [
    'a private key',
    `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA'.repeat(4)}\n-----END RSA PRIVATE KEY-----`,
    'a private key'
  ],
  ['an IBM Quantum token', `ibm_token = "${hex}"`, 'a token'],
  ['a name of AWS', 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI', 'a value for a name of credentials'],
  ['a name of IBM in a dictionary', `{"IBM_QUANTUM_TOKEN": "secret-thing"}`, 'a value for a name of credentials'],
  ['a name of Azure', 'azure_quantum_connection_string = "x1"', 'a value for a name of credentials'],
  ['an assignment to the environment', 'os.environ["GITHUB_TOKEN"] = "abc1"', 'a value for a name of credentials'],
  ['a provider class', 'QiskitRuntimeService(channel="ibm_quantum", token="abc-def")', 'a token in the code'],
  [
    'a provider class over lines',
    'QiskitRuntimeService(\n    channel="x",\n    token="abc-def",\n)',
    'a token in the code'
  ]
]

test.each(found)('finds %s', async (_what, text, kind) => {
  const findings = await inSource(`# a line\n${text}\n`)
  expect(findings).toContainEqual({ file: 'source.py', line: expect.any(Number), kind })
  expect(findings[0]!.line).toBeGreaterThanOrEqual(2)
  expect(JSON.stringify(findings)).not.toContain(text.slice(-12))
})

test.each(found)('finds %s within a JSON string', async (_what, text, kind) => {
  const findings = await inSource(JSON.stringify({ text: `import os\n${text}\nrun()` }), 'definition.json')
  expect(findings).toContainEqual({ file: 'definition.json', line: 1, kind })
})

describe('the credential scan ignores', () => {
  test.each([
    ['a value from the environment', 'AWS_SECRET_ACCESS_KEY = os.environ["AWS_SECRET_ACCESS_KEY"]'],
    ['a variable of a shell', 'export GITHUB_TOKEN=$CI_TOKEN'],
    ['a placeholder', 'IBM_QUANTUM_TOKEN = "<your token>"'],
    ['a variable', 'QiskitRuntimeService(token=token)'],
    ['an empty value', '{"GITHUB_TOKEN": ""}'],
    ['a certificate', `-----BEGIN CERTIFICATE-----\n${'MIIE'.repeat(20)}\n-----END CERTIFICATE-----`],
    ['a digest next to the word quantum', `{"engine":"qiskit-quantum","circuit_sha256":"${hex}","token_count":1}`],
    ['digests in lists', `sha256:${hex}  quantum.json`],
    ['the outcomes of 64 qubits', `{"engine":"qiskit","counts":{"${'01'.repeat(32)}":7,"${'0'.repeat(64)}":1}}`],
    ['the id of a calibration', `{"backend":"ibm_quantum","calibration_id":"${hex}"}`],
    ['an identity', `quantum derived_from: mqc:1:${hex}`],
    ['a digest far from any such word', `x = "${hex}"`],
    ['what the author has allowed', 'key = "AKIAIOSFODNN7EXAMPLE"  # capsule:allow']
  ])('%s', async (_what, text) => {
    expect(await inSource(text)).toEqual([])
    expect(await inSource(JSON.stringify({ text: `a\n${text}\nb` }), 'definition.json')).toEqual([])
  })

  test('the evidence of an honest run, in manifest and files', async () => {
    const { files } = sealInput()
    const metadata = `{"counts":{"0":1},"metadata":{"engine":"qiskit-aer","circuit_sha256":"${hex}","calibration_id":null}}`
    expect(await scanForCredentials([...files, textFile('r.json', metadata)], '{"quantum-job-service":{}}')).toEqual([])
  })

  test('no finding for an allow comment before it, after a comma, on another line, or in the manifest', async () => {
    const key = 'AKIAIOSFODNN7EXAMPLE'
    expect(await inSource(`# capsule:allow ${key}`)).toHaveLength(1)
    expect(await inSource(`f("${key}", 1) # capsule:allow`)).toHaveLength(1)
    expect(await inSource(`"${key}"\n# capsule:allow`)).toHaveLength(1)
    expect(await scanForCredentials([], `{"description":"${key} # capsule:allow"}`)).toHaveLength(1)
  })
})

test.each([
  '.env',
  'a/.ENV.local',
  'id_rsa',
  'x/ID_ED25519',
  'k.pem',
  'k.KEY',
  'a.p12',
  'a.pfx',
  'a.jks',
  'a.bak',
  'a.keystore'
])('a file named %s is one of credentials', async (name) => {
  expect(await inSource('', name)).toEqual([{ file: name, line: 0, kind: 'a file of credentials' }])
})

test('finds the credential of the published fixture on its line', async () => {
  const manifest = readFileSync(join(fixtures, 'capsule_with_secrets/capsule.yaml'), 'utf8')
  expect(await scanForCredentials([], manifest)).toEqual([
    { file: 'capsule.yaml', line: 10, kind: 'a value for a name of credentials' }
  ])
})

test('finds a credential across the border of two windows once, on its line', async () => {
  for (let shift = 0; shift < 25; shift++) {
    const text = `${'x\n'.repeat(131_060 + shift)} AKIAIOSFODNN7EXAMPLE\n`
    expect(await inSource(text)).toEqual([{ file: 'source.py', line: 131_061 + shift, kind: 'an AWS access key id' }])
  }
})

test('runs of exactly 64 hex digits are found as a regular expression finds them', () => {
  const piece = fc.oneof(
    fc.integer({ min: 0, max: 200 }).map((length) => 'aF09'.repeat(50).slice(0, length)),
    fc.constant('b'.repeat(64)),
    fc.constantFrom('g', '/', ':', '@', 'G', '`', '\n', 'é')
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const runs = [...text.matchAll(/(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])/g)].map(({ index }) => index)
      expect([...runsOf64HexDigits(text)]).toEqual(runs)
    }),
    { numRuns: 2_000 }
  )
})

const n = 100_000
const of = (text: string): string => text.repeat(Math.ceil(n / text.length))
test.each([
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN A PRIVATE KEY',
  'IBMQ(',
  "IBMQ(token='aaa'",
  "token='",
  'a',
  `${'a'.repeat(64)} `,
  'ey',
  '-ey',
  'eyAAAAAAAAAAA.',
  'eyAAAAAAAAAAA.ey-',
  'AZURE_QUANTUM_',
  'IBM_',
  'IBM_TOKEN=',
  'GITHUB_TOKEN      ',
  'github_pat_',
  'xoxb-1',
  '\\',
  '\\n',
  ' ',
  '\n',
  '# capsule:allow',
  `ghp_${'a'.repeat(36)} #`
])('100,000 characters of %j take no time to speak of', async (text) => {
  const content = of(text)
  for (const name of ['x.py', 'x.json']) {
    const times: number[] = []
    for (let turn = 0; turn < 3; turn++) {
      const began = process.cpuUsage()
      await inSource(content, name)
      times.push(process.cpuUsage(began).user / 1000)
    }
    // A linear scan takes about 10 ms, a quadratic one minutes.
    expect(Math.min(...times)).toBeLessThan(500)
  }
})
