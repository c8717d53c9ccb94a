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

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/(dist|\\.test|\\.data|\\.demo|\\.venv)/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': typescript, [`/node_modules/(${esmPackages})/.+\\.js$`]: commonjs },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages})/)`],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  reporters: ['default', '<rootDir>/test/support/plain-reporter.cjs'],
  // The machine that the limits are meant for has two cores, and every test talks to servers that need some of them.
  maxWorkers: 2,
  testTimeout: 30_000,
  watchman: false
}
