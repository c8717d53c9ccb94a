// Run through `npm test`; alone: NODE_OPTIONS=--experimental-vm-modules npx jest.
const typescript = [
  '@swc/jest',
  { jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } }, module: { type: 'es6' } }
]
const commonjs = [
  '@swc/jest',
  { jsc: { target: 'es2022', parser: { syntax: 'ecmascript' } }, module: { type: 'commonjs' } }
]
/** Packages that are ES modules and are required by CommonJS ones, which jest can only do on Node >= 24.9. */
const esmPackages = 'cookie|content-disposition'

/** Fastify looks for each plugin's name among all loaded modules, which takes half a second of each api under jest. */
const pluginNames = 'fastify/lib/plugin-utils'

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/(dist|\\.test|\\.data|\\.demo|\\.venv)/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': typescript,
    [`/node_modules/(${esmPackages})/.+\\.js$`]: commonjs,
    [`/node_modules/${pluginNames}\\.js$`]: '<rootDir>/test/support/stack/plugin-names.cjs'
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages})/|${pluginNames}\\.js)`],
  globalSetup: '<rootDir>/test/support/stack/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/stack/global-teardown.mjs',
  reporters: ['default', '<rootDir>/test/support/stack/plain-reporter.cjs'],
  testSequencer: '<rootDir>/test/support/stack/sequencer.cjs',
  // The machine that the limits are meant for has two cores; a third of the time a test waits for another process.
  maxWorkers: 3,
  testTimeout: 60_000,
  watchman: false
}
