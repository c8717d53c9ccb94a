import { expect, test } from '@jest/globals'
import { executorProblem } from '../../../domain/backends/executor-health.js'

const isolated = { level: 'L2', problem: '', warning: '' }
const refusing = { level: 'none', problem: 'no namespaces', warning: '' }
const allowed = { level: 'none', problem: 'no namespaces', warning: 'without isolation' }

test.each([
  ['ok', isolated, null],
  ['degraded', isolated, 'it is degraded'],
  ['draining', isolated, 'it is draining'],
  ['insecure', refusing, 'it refuses to run code: no namespaces'],
  ['insecure', allowed, null]
] as const)('an executor that is %s has the problem that its health shows', (status, sandbox, problem) => {
  expect(executorProblem({ status, sandbox })).toBe(problem)
})
