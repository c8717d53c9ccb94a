// When the service calls a disk full.
import { tmpdir } from 'node:os'
import { expect, test } from '@jest/globals'
import { createDiskSpace } from '../../../services/disk/disk-space.js'

const failed = (code: string) => new Error('Failed query', { cause: Object.assign(new Error('x'), { code }) })

function disk(folders: string[] = []) {
  let now = 0
  const logged: string[] = []
  const log = { error: (_facts: object, message: string) => void logged.push(message) }
  return { space: createDiskSpace({ folders, log, clock: () => now }), logged, later: (ms: number) => (now += ms) }
}

test.each(['53100', 'ENOSPC', 'EDQUOT'])('a write that fails with %s is a full disk for half a minute', (code) => {
  const { space, later } = disk()
  expect(space.causes(failed(code))).toBe(true)
  later(29_999)
  expect(space.problem()).toContain('the disk of the database is full')
  later(2)
  expect(space.problem()).toBeNull()
})

test.each(['23505', '53300', 'ECONNREFUSED'])('an error %s is none while there is room', (code) => {
  const { space } = disk([tmpdir()])
  expect([space.causes(failed(code)), space.problem()]).toEqual([false, null])
})

test('a database that stopped after a full disk is the same fault', () => {
  const { space } = disk()
  space.causes(failed('53100'))
  expect(space.causes(failed('ECONNREFUSED'))).toBe(true)
  expect(space.causes(failed('23505'))).toBe(false)
})

test('a folder without a free byte is a full disk, and an absent one is none', () => {
  // Linux gives this file system no blocks.
  expect(disk(['/proc']).space.problem()).toContain('less than 64 MiB left')
  expect(disk(['/no/such/folder']).space.problem()).toBeNull()
})

test('a full disk is logged once while it lasts', () => {
  const { space, logged, later } = disk()
  for (let failure = 0; failure < 5; failure++) space.causes(failed('53100'))
  expect(logged).toHaveLength(1)
  later(60_000)
  space.causes(failed('53100'))
  expect(logged).toHaveLength(2)
})
