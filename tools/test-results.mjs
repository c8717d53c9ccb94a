// Reads what pytest and jest leave in .test/: totals, and seconds for each file.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './bootstrap.mjs'

export const resultsFolder = join(root, '.test')
export const pytestFile = join(resultsFolder, 'pytest.xml')
export const jestFile = join(resultsFolder, 'jest.json')

/** `seconds` maps a file to the time its tests took. */
export function pytestResults() {
  const text = read(pytestFile)
  const suite = /<testsuite [^>]*>/.exec(text)?.[0] ?? ''
  const count = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  const seconds = new Map()
  for (const [, name, time] of text.matchAll(/<testcase classname="([^"]*)"[^>]* time="([\d.]+)"/g)) {
    // `tests.service.test_limits.TestSlots` is a class in tests/service/test_limits.py.
    const file = `apps/executor/${name.replace(/\.[A-Z].*$/, '').replaceAll('.', '/')}.py`
    seconds.set(file, (seconds.get(file) ?? 0) + Number(time))
  }
  return { passed: Math.max(0, count('tests') - failed - count('skipped')), failed, skipped: count('skipped'), seconds }
}

export function jestResults() {
  const text = read(jestFile)
  if (!text) return { passed: 0, failed: 0, skipped: 0, seconds: new Map() }
  const results = JSON.parse(text)
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests + results.numTodoTests,
    seconds: new Map(
      results.testResults.map(({ name, startTime, endTime }) => [relative(root, name), (endTime - startTime) / 1000])
    )
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
