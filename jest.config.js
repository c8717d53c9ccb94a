// Run through `npm test`; alone: npx jest.
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: process.env.TEST_LANE === 'short' ? ['\\.long\\.test\\.ts$'] : [],
  modulePathIgnorePatterns: ['<rootDir>/(dist|\\.test|\\.data|\\.demo|\\.venv)/'],
  // Each test file is bundled beforehand and runs in Node itself: see test/support/stack/native-runner.mjs.
  transform: {},
  testEnvironment: '<rootDir>/test/support/stack/native-environment.mjs',
  testRunner: '<rootDir>/test/support/stack/native-runner.mjs',
  globalSetup: '<rootDir>/test/support/stack/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/stack/global-teardown.mjs',
  reporters: ['default', '<rootDir>/test/support/stack/plain-reporter.cjs'],
  testSequencer: '<rootDir>/test/support/stack/sequencer.cjs',
  // The machine that the limits are meant for has two cores. A third of the time a test waits for another process, those of
  // the long lane half of it.
  maxWorkers: process.env.TEST_LANE === 'short' ? 3 : 4,
  // For what hangs: a test that waits for a state has a deadline of its own.
  testTimeout: 180_000,
  // With the times of the last run, by which test/support/stack/sequencer.cjs sorts.
  cacheDirectory: '<rootDir>/.test/jest',
  // Of a worker between two files: what Node has imported stays in memory.
  workerIdleMemoryLimit: '1500MB',
  watchman: false
}
