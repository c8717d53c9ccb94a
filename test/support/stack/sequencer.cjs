// The order of the test files: files that mostly wait for processes alternate with files that mostly compute, so that both
// run at the same time. Long files come first: those of the last run, or else the ones named here.
const { default: Sequencer } = require('@jest/test-sequencer')

const waits = /\/test\/(e2e|marqov|workflows|cli)\//
const long =
  /\/(console|client|provider-matrix|run-job|graphs|sweeps|walks|stack|schemathesis|limits|templates|access-matrix|connection-loss)\.test\.ts$/

module.exports = class extends Sequencer {
  sort(tests) {
    const byTime = super.sort(tests)
    const isFirst = ({ duration, path }) => duration === undefined && long.test(path)
    const sorted = [...byTime.filter(isFirst), ...byTime.filter((test) => !isFirst(test))]
    const waiting = sorted.filter(({ path }) => waits.test(path))
    const computing = sorted.filter(({ path }) => !waits.test(path))
    return Array.from({ length: Math.max(waiting.length, computing.length) }, (_, at) => [waiting[at], computing[at]])
      .flat()
      .filter((test) => test !== undefined)
  }
}
