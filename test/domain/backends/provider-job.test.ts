import { expect, test } from '@jest/globals'
import { idWithoutAccount } from '../../../domain/backends/provider-job.js'

test.each([
  ['arn:aws:braket:us-east-1:123456789012:quantum-task/7c5a', 'arn:aws:braket:us-east-1::quantum-task/7c5a'],
  [
    'arn:aws-us-gov:braket:us-gov-west-1:123456789012:quantum-task/7:5',
    'arn:aws-us-gov:braket:us-gov-west-1::quantum-task/7:5'
  ],
  ['0192f3a4-5b6c-7d8e-9f01-23456789abcd', '0192f3a4-5b6c-7d8e-9f01-23456789abcd']
])('%s is published as %s', (id, published) => {
  expect(idWithoutAccount(id)).toBe(published)
})
