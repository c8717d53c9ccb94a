// Servers that the operator runs, as npm start looks for them.
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { checkRedisReachable } from '../../../apps/cli/stack/parts/operator-parts.js'
import { deadAddress } from '../../support/api/api.js'

const server = createServer((socket) => socket.destroy())
let [alive, dead] = ['', '']
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  alive = `127.0.0.1:${(server.address() as AddressInfo).port}`
  dead = await deadAddress()
})
afterAll(() => void server.close())

test('one of several Sentinels, or nodes of a cluster, is enough', async () => {
  for (const url of [
    `redis://:secret@${alive}`,
    `redis-sentinel://${dead},${alive}/main`,
    `redis-cluster://${dead},${alive}`
  ])
    expect(await checkRedisReachable(url)).toBe(url)
})

test('a Redis of which nothing responds is named without its password', async () => {
  const refusal = expect.objectContaining({
    message: expect.stringMatching(/^REDIS_URL names 127\.0\.0\.1:\d+, which/)
  })
  for (const url of [`redis://:secret@${dead}`, `redis-sentinel://:secret@${dead},${dead}/main`])
    await expect(checkRedisReachable(url)).rejects.toEqual(refusal)
  await expect(checkRedisReachable(`redis-cluster://:secret@${dead}/1`)).rejects.toThrow('REDIS_URL cannot name')
})
