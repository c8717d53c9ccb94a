import { expect, test } from '@jest/globals'
import { isReservedUsername } from '../../../domain/accounts/username.js'

test.each(['admin', 'Admin', 'AD-MIN', '_root_', 'no-reply', 'Sys_Admin'])('%s is reserved', (name) => {
  expect(isReservedUsername(name)).toBe(true)
})

test.each(['ada', 'administrators', 'admin2', 'teapot', 'user-ada'])('%s can be chosen', (name) => {
  expect(isReservedUsername(name)).toBe(false)
})
