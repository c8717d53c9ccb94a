// The totals alone on a line, which jest's own summary does not print. `npm test` adds pytest's totals and prints the
// sum itself: PLAIN_REPORTER=off keeps this line from being taken for the whole.
module.exports = class {
  onRunComplete(_contexts, results) {
    if (process.env.PLAIN_REPORTER === 'off') return
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`)
  }
}
