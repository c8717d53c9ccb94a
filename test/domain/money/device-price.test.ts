import { expect, test } from '@jest/globals'
import { dearerThanCatalogue } from '../../../domain/money/device-price.js'

const perShot = 1_450n

test.each([
  ['costs what the catalogue says', { amount: 0.00145, unit: 'shot' }],
  ['is cheaper than the catalogue', { amount: 0.0009, unit: 'shot' }],
  ['is billed by the minute', { amount: 0.275, unit: 'minute' }],
  ['has no stated price', null]
])('a device that %s takes jobs', (_title, stated) => {
  expect(dearerThanCatalogue('iqm-garnet', stated, { perShot })).toBeNull()
})

test.each([0.00146, 0.08, Number.NaN, Number.POSITIVE_INFINITY, 1e30])(
  'a device of %p USD per shot takes none until the catalogue says so, and both prices are named',
  (amount) => {
    expect(dearerThanCatalogue('iqm-garnet', { amount, unit: 'shot' }, { perShot })).toBe(
      `iqm-garnet costs ${amount} USD per shot according to its provider, and 0.00145 USD in the catalogue: ` +
        'an administrator sets its prices with PATCH /api/admin/backends/iqm-garnet'
    )
  }
)
