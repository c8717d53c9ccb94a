// Reads what pytest and jest leave in .test/: totals, seconds for each file, and what failed.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './bootstrap.mjs'

export const resultsFolder = join(root, '.test')
export const pytestFile = join(resultsFolder, 'pytest.xml')
export const jestFile = join(resultsFolder, 'jest.json')

/** `seconds` maps a file to the time its tests took; `failures` names each failed test, `failedFiles` their files. */
export function pytestResults() {
  const text = read(pytestFile)
  const suite = /<testsuite [^>]*>/.exec(text)?.[0] ?? ''
  const count = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  const seconds = new Map()
  const failures = []
  const failedFiles = new Set()
  const cases = /<testcase classname="([^"]*)" name="([^"]*)" time="([\d.]+)"(?: \/>|>(<failure|<error)?)/g
  for (const [, folder, name, time, fault] of text.matchAll(cases)) {
    // `tests.service.test_limits.TestSlots` is a class in tests/service/test_limits.py.
    const file = `apps/executor/${folder.replace(/\.[A-Z].*$/, '').replaceAll('.', '/')}.py`
    seconds.set(file, (seconds.get(file) ?? 0) + Number(time))
    if (!fault) continue
    failures.push(`${file} › ${name}`)
    failedFiles.add(file)
  }
  const passed = Math.max(0, count('tests') - failed - count('skipped'))
  return { passed, failed, skipped: count('skipped'), seconds, failures, failedFiles: [...failedFiles] }
}

export function jestResults() {
  const text = read(jestFile)
  if (!text) return { passed: 0, failed: 0, skipped: 0, seconds: new Map(), failures: [], failedFiles: [] }
  const results = JSON.parse(text)
  const failed = results.testResults.filter(({ status }) => status === 'failed')
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests + results.numTodoTests,
    seconds: new Map(
      results.testResults.map(({ name, startTime, endTime }) => [relative(root, name), (endTime - startTime) / 1000])
    ),
    failures: failed.flatMap(({ name, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === 'failed')
      // A file that could not begin has no failed test.
      return tests.length > 0
        ? tests.map(({ fullName }) => `${relative(root, name)} › ${fullName}`)
        : [relative(root, name)]
    }),
    failedFiles: failed.map(({ name }) => relative(root, name))
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
