// The text form of a capsule.
import { expect, test } from '@jest/globals'
import type { CapsuleRecord } from '../../../apps/cli/capsules/capsule-record.js'
import { capsuleText } from '../../../apps/cli/capsules/capsule-text.js'

const record = (warnings: string[] | undefined): CapsuleRecord => ({
  id: 'an id',
  name: 'Bell',
  state: 'sealed',
  tags: [],
  created_at: '2026-03-01T10:00:00.000Z',
  description: '',
  workflow: null,
  backends: [],
  max_budget_usd: null,
  retention_years: null,
  regulatory_framework: null,
  source_job_id: null,
  cloned_from: null,
  evidence: { task_executions: 1, artifacts: [] },
  seal: {
    root_digest: 'sha256:0',
    capsule_digest: 'mqc:1:0',
    exit_code: 0,
    exit_message: null,
    margin: 0.05,
    ...(warnings && { warnings }),
    sealed_at: '2026-03-01T10:00:00.000Z',
    signature: { key_id: 'k', algorithm: 'ed25519' }
  },
  publication: null,
  schedule: null,
  updated_at: '2026-03-01T10:00:00.000Z'
})

test("a capsule's text warns if the sealed shots are too few for the margin, and only then", () => {
  const lines = capsuleText(record(['task "one": too few', 'task "two": too few'])).split('\n')
  expect(lines.filter((line) => line.startsWith('warning'))).toEqual([
    'warning    task "one": too few',
    'warning    task "two": too few'
  ])
  for (const none of [[], undefined]) expect(capsuleText(record(none))).not.toContain('warning')
})
