import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { freePort } from '../../../apps/cli/stack/parts/free-port.js'

test('no outgoing connection of this system can take the port of a part while the part is restarted', async () => {
  const [first] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()))
  expect(new Set(ports).size).toBe(50)
  for (const port of ports) expect(port).toBeLessThan(Number(first))
})
