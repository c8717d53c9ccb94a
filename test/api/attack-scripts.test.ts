import { afterAll, test } from '@jest/globals'
import { startApi } from '../support/api.js'

const api = await startApi('attack_scripts')
afterAll(() => api.close())
test('attack', async () => {
  const user = await api.signUpWithTeam()
  const N = 1_048_000
  const half = Math.floor(N / 2) - 60
  const cases: Record<string, string> = {
    qasmnest: `OPENQASM 3.0;qubit q;rx(${'('.repeat(half)}1${')'.repeat(half)}) q;`,
    qasmnest2: `OPENQASM 3.0;qubit q;rx(${'('.repeat(5000)}1${')'.repeat(5000)}) q;`,
    lines: 'a=1\n'.repeat(N / 4),
    fstr: `x=f"${'{1}'.repeat(N / 3 - 10)}"`,
    qasmgates: `OPENQASM 3.0;\nqubit[2] q;\n${'U(0,0,0) q[0];\n'.repeat(N / 16)}`,
    real: `from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(2)\n${'circuit.cx(0, 1)\ncircuit.h(0)\n'.repeat(Math.floor(N / 31))}`,
    hugeint: `x = ${'9'.repeat(5000)}\n`,
    bom: '\ufeffx = 1\n',
    crlf: 'OPENQASM 3.0;\r\nqubit q;\r\n',
    comment: '# only a comment\n',
    formfeed: '\fx = 1\n'
  }
  for (const [name, script_content] of Object.entries(cases)) {
    const start = performance.now()
    const { status, text } = await user.post('/api/scripts/upload', { name, script_content })
    console.log(name, status, Math.round(performance.now() - start), text.slice(0, 300))
  }
}, 200_000)
