// The logs of a running stack stay below a limit.
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DataDir } from '../../apps/cli/stack/data-dir.js'
import { eventually } from '../support/eventually.js'

const LIMIT = 20_000

test('a process that logs without end keeps two files of about the limit, with whole lines up to the latest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qjs-logs-'))
  const dataDir = await DataDir.hold(folder, 'a test')
  const file = dataDir.logFile('part')
  const out = openSync(file, 'a')
  // 500 lines of 100 bytes a second.
  const program = `let n = 0; setInterval(() => process.stdout.write(JSON.stringify({ n: n++, x: 'x'.repeat(80) }) + '\\n'), 2)`
  const writer = spawn(process.execPath, ['-e', program], { stdio: ['ignore', out, 'ignore'] })
  try {
    const last = () => (JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) || '{}') as { n?: number }).n
    let rotations = 0
    await eventually(() => {
      const before = statSync(file).size
      dataDir.rotateLogs(LIMIT)
      if (statSync(file).size < before) rotations++
      const kept = statSync(file).size + (statSync(`${file}.1`, { throwIfNoEntry: false })?.size ?? 0)
      expect(kept).toBeLessThan(3 * LIMIT)
      return rotations >= 4
    })
    const lines = [`${file}.1`, file].flatMap((name) => readFileSync(name, 'utf8').split('\n').slice(0, -1))
    const numbers = lines.map((line) => (JSON.parse(line) as { n: number }).n)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    expect(statSync(`${file}.1`).mode & 0o077).toBe(0)
    // It goes on in the emptied file.
    await eventually(() => (last() ?? 0) > numbers.at(-1)!)
  } finally {
    writer.kill()
    dataDir.release()
    rmSync(folder, { recursive: true })
  }
})
