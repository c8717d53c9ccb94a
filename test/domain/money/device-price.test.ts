import { expect, test } from '@jest/globals'
import { dearerThanCatalogue, secondsWithoutPrice } from '../../../domain/money/device-price.js'

const prices = { perShot: 1_450n, byTime: null }
const timed = { ...prices, byTime: { perSecond: 1_600_000n, secondsMax: 60 } }

test.each([
  ['costs what the catalogue says', { amount: 0.00145, unit: 'shot' }, prices],
  ['is cheaper than the catalogue', { amount: 0.0009, unit: 'shot' }, prices],
  ['is billed by the minute, without such a price in the catalogue', { amount: 0.275, unit: 'minute' }, prices],
  ['costs as much per second as the catalogue says', { amount: 1.6, unit: 'second' }, timed],
  ['costs as much per minute as sixty seconds of the catalogue', { amount: 96, unit: 'minute' }, timed],
  ['is billed in a unit of its own', { amount: 12, unit: 'HQC' }, timed],
  ['has no stated price', null, prices]
])('a device that %s takes jobs', (_title, stated, catalogue) => {
  expect(dearerThanCatalogue('iqm-garnet', stated, catalogue)).toBeNull()
})

test.each([0.00146, 0.08, Number.NaN, Number.POSITIVE_INFINITY, 1e30])(
  'a device of %p USD per shot takes none until the catalogue says so, and both prices are named',
  (amount) => {
    expect(dearerThanCatalogue('iqm-garnet', { amount, unit: 'shot' }, prices)).toBe(
      `iqm-garnet costs ${amount} USD per shot according to its provider, and 0.00145 USD in the catalogue: ` +
        'an administrator sets its prices there (qjob admin backend iqm-garnet)'
    )
  }
)

test.each([
  [1.7, 'second', '1.6 USD'],
  [96.01, 'minute', '96 USD']
])('a device of %p USD per %s takes none either', (amount, unit, known) => {
  expect(dearerThanCatalogue('ibm-fez', { amount, unit }, timed)).toMatch(
    new RegExp(`^ibm-fez costs ${amount} USD per ${unit} according to its provider, and ${known} in the catalogue`)
  )
})

const free = { taskFee: 0n, perShot: 0n, minimumCost: 0n, byTime: null }

test.each([
  ['costs something, and has no price per second', { ...free, perShot: 1_600n }],
  ['is not in the catalogue any more', null]
])('a device that is billed by the second and %s takes no jobs, and what to set is named', (_title, pricing) => {
  expect(secondsWithoutPrice('ibm-fez', pricing)).toBe(
    'ibm-fez is billed by the second, and the catalogue has no price for that: ' +
      'an administrator sets perSecond and secondsMax there (qjob admin backend ibm-fez)'
  )
})

test.each([
  ['has a price per second', { ...free, byTime: timed.byTime }],
  ['costs nothing', free]
])('a device that is billed by the second and %s takes jobs', (_title, pricing) => {
  expect(secondsWithoutPrice('ibm-fez', pricing)).toBeNull()
})
