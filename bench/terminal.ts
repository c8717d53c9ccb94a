// What a person waits for at the command line: the time of a short command, from its start to its end.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../apps/cli/stack/project.js'
import { submitMany } from './submit.js'
import { BENCH_PASSWORD, type BenchPlatform, type BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const ROUNDS = 20
const JOBS = 30
const GOAL_SECONDS = 0.3

/** The installed program, as the container has it; and `tools/qjob.mjs`, which first looks whether it is built. */
const programs = { 'qjob, installed': 'dist/apps/cli/main.js', 'qjob in the project folder': 'tools/qjob.mjs' }

export async function benchTerminal(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_terminal', stack.executors['no-op'])
  const home = mkdtempSync(join(tmpdir(), 'qjs-bench-home-'))
  try {
    await submitMany(platform, 'direct', 1, JOBS)
    await command(platform, home, programs['qjob, installed'], ['login', platform.user.email])
    const rows: string[][] = []
    for (const [name, program] of Object.entries(programs))
      for (const args of [['jobs'], ['--version']]) {
        const times: number[] = []
        // The first fills the caches of the file system and is not counted.
        for (let round = -1; round < ROUNDS; round++) {
          const seconds = await command(platform, home, program, args)
          if (round >= 0) times.push(seconds)
        }
        const p50 = median(times)
        const goal = `${GOAL_SECONDS} s: ${p50 < GOAL_SECONDS ? 'reached' : 'missed'}`
        const isJobs = args[0] === 'jobs'
        rows.push([name, args[0]!, p50.toFixed(2), quantile(times, 0.95).toFixed(2), isJobs ? goal : ''])
      }
    rows.push(['node alone', '-e 0', (await bareNode(platform, home)).toFixed(2), '', ''])
    printTable('A command, start to end', ['program', 'command', 'p50 s', 'p95 s', 'goal'], rows)
  } finally {
    rmSync(home, { recursive: true, force: true })
    await platform.close()
  }
}

async function bareNode(platform: BenchPlatform, home: string): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) times.push(await command(platform, home, '-e', ['0']))
  return median(times)
}

/** The seconds of one command, whose output nobody sees. @throws Error unless it ends with 0. */
async function command({ base }: BenchPlatform, home: string, program: string, args: string[]): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, [program, ...args], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, HOME: home, QJOB_URL: base, QJOB_PASSWORD: BENCH_PASSWORD },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  if (code !== 0) throw new Error(`qjob ${args.join(' ')} ended with ${code}`)
  return (performance.now() - began) / 1_000
}
