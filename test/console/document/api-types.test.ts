import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { projectRoot } from '../../../apps/cli/stack/project.js'

test('apps/console/api/schema.ts is what tools/api-types.mjs writes from the OpenAPI document', () => {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 } as const
  const written = execFileSync(process.execPath, [join(projectRoot, 'tools/api-types.mjs'), '--print'], options)
  // Not toBe: of two documents this long, jest would print the difference for minutes.
  const same = readFileSync(join(projectRoot, 'apps/console/api/schema.ts'), 'utf8') === written
  expect(same ? '' : 'stale: run node tools/api-types.mjs').toBe('')
})
