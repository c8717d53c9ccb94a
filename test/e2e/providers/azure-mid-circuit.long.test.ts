// Circuits that branch and reset, which Quantinuum's machines run: the counts are those of a local run.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ProviderPlatform, paidBackends, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('azure-mid-circuit', { providers: ['azure-quantum'] })
}, 240_000)
afterAll(() => platform.close())

test('branches on a bit and on a register, resets, and uses a qubit again', async () => {
  const payload = `OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[2] c;
bit[2] d;
bit[1] e;
x q[0];
c[0] = measure q[0];
if (c[0]) x q[1];
c[1] = measure q[1];
d[0] = measure q[1];
reset q[0];
d[1] = measure q[0];
if (d == 1) x q[2];
e[0] = measure q[2];
`
  const circuit = { format: 'qasm3', payload }
  const [local, paid] = await Promise.all([
    platform.submitPaid({ backend: 'aer-statevector', circuit }),
    platform.submitPaid({ backend: paidBackends['azure-quantum'], circuit })
  ])
  for (const id of [local!, paid!]) {
    const { status, error, result } = await platform.ended(id)
    expect({ status, error, counts: result?.counts }).toEqual({
      status: 'completed',
      error: null,
      counts: { '11101': 100 }
    })
  }
}, 240_000)
