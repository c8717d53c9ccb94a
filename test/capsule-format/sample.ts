// A capsule to seal, and the public verifier to check it with.
import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { writeCapsuleArchive } from '../../capsule-format/archive/capsule-archive.js'
import { dsseEnvelope, statement } from '../../capsule-format/attestation.js'
import type { SealInput } from '../../capsule-format/manifest/manifest.js'
import { type SealedPackage, sealPackage } from '../../capsule-format/package.js'
import type { PackageFile } from '../../capsule-format/payload-file.js'

const root = join(import.meta.dirname, '..', '..')
export const fixtures = join(import.meta.dirname, 'fixtures')
export const python = join(root, '.venv/bin/python')
const verifier = join(root, '.venv/bin/marqov-capsule')

const JOB = '0196b6a4-3f5e-7d2a-9d0b-5d6f1c2e3a4b'
export const textFile = (name: string, text: string): PackageFile => ({ name, content: Buffer.from(text) })

/** It contains names and texts that formats often handle wrongly. */
export const sealInput = (changes: Partial<SealInput> = {}): SealInput => ({
  name: 'Bell \u2728 \u2028 50% \\ e\u0301tat',
  description: 'two qubits,\u0085 one pair \u007f',
  tags: ['bell', '\u{1F600}'],
  createdAt: new Date('2026-03-01T10:00:00.000Z'),
  createdBy: 'user:0196b6a4-0000-7000-8000-000000000001',
  derivedFrom: null,
  definition: '{"tasks":[{"name":"main","parameters":{"big":123456789012345678901234567890}}]}',
  backends: ['aer'],
  maxBudgetUsd: 1.5,
  retentionYears: 10,
  regulatoryFramework: null,
  tasks: [
    {
      taskId: JOB,
      name: 'main',
      provider: 'local',
      backend: 'aer',
      shots: 1000,
      startedAt: new Date('2026-03-01T10:00:01.000Z'),
      endedAt: new Date('2026-03-01T10:00:02.500Z'),
      wallSeconds: 1.5,
      costUsd: 0.000001,
      jobId: JOB,
      sampled: true
    }
  ],
  files: [
    textFile('tasks/main/source.qasm', 'OPENQASM 3.0;\nqubit[2] q;\n'),
    textFile(
      'tasks/main/result.json',
      '{"counts":{"00":501,"11":499},"circuit_info":{"num_qubits":2,"gate_counts":{"h":1,"cx":1}}}'
    ),
    textFile('tasks/main/job.json', JSON.stringify({ id: JOB })),
    textFile('tasks/main/\u00e9t\u00e9 \u{1F600}\u2028 100% \\ b.txt', 'a name of its own\n'),
    textFile(`tasks/${'deep'.repeat(20)}/${'long'.repeat(30)}.txt`, 'a long one\n'),
    { name: 'tasks/main/artifacts/state.npy', content: Buffer.alloc(5_000, 7) }
  ],
  sealedAt: new Date('2026-03-02T00:00:00.000Z'),
  sealedBy: 'user:0196b6a4-0000-7000-8000-000000000001',
  exitCode: 0,
  exitMessage: null,
  margin: 0.05,
  ...changes
})

const key = generateKeyPairSync('ed25519')
export const publicKeyPem = key.publicKey.export({ type: 'spki', format: 'pem' }) as string

export async function sealedSample(changes: Partial<SealInput> = {}) {
  const input = sealInput(changes)
  const sealed = await sealPackage(input)
  const archive = await buffer(writeCapsuleArchive(input.name, sealed))
  return { input, sealed, archive, envelope: signedEnvelope(input, sealed) }
}

export const signedEnvelope = (input: SealInput, sealed: SealedPackage): string =>
  dsseEnvelope(statement({ ...input, ...sealed }), {
    keyId: 'key-1',
    sign: (bytes) => sign(null, bytes, key.privateKey)
  })

/** Runs with a temporary folder of its own, which is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'capsule-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the public command line tool: exit status and output. */
export function publicTool(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(verifier, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Runs a Python program of this folder and parses its output as JSON. */
export const pythonAnswer = (program: string, ...args: string[]): unknown =>
  JSON.parse(execFileSync(python, [join(import.meta.dirname, program), ...args], { encoding: 'utf8', maxBuffer: 1e8 }))
