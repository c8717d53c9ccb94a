// The order of the test files: files that mostly wait for processes alternate with files that mostly compute, so that both
// run at the same time. Long files come first.
const { default: Sequencer } = require('@jest/test-sequencer')

const waits = /\/test\/(e2e|marqov|workflows|cli)\//

module.exports = class extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    const waiting = sorted.filter(({ path }) => waits.test(path))
    const computing = sorted.filter(({ path }) => !waits.test(path))
    return Array.from({ length: Math.max(waiting.length, computing.length) }, (_, at) => [waiting[at], computing[at]])
      .flat()
      .filter((test) => test !== undefined)
  }
}
