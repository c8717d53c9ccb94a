// Attacks by programs: what a run does to the executor, and how many of them a team starts.
import type { Attack } from '../attack.js'
import { aborted, type Hostile, repeat } from '../hostile-client.js'
import * as text from './program-texts.js'

const python = (code: string, more: Record<string, unknown> = {}) => ({
  inline_code: code,
  framework: 'qiskit',
  timeout_seconds: 900,
  ...more
})
const marqov = (code: string, more: Record<string, unknown> = {}) => ({ ...python(code, more), framework: 'marqov' })

/** Submits a program in both modes until the abort, as fast as the limits of several keys allow. */
async function submitAgain(hostile: Hostile, until: AbortSignal, body: Record<string, unknown>): Promise<void> {
  await repeat(until, { lanes: 2, perSecond: 2 }, (turn) =>
    hostile.submit({ ...body, execution_mode: turn % 3 === 2 ? 'temporal' : 'direct' })
  )
}

export const programAttacks: Attack[] = [
  {
    name: 'parent-death',
    what: 'a program that clears its parent-death signal, next to runs that die slowly',
    short: true,
    attack: async (hostile, until) => {
      // One only, so that the others get a slot and can take the zygote of both with them.
      await hostile.submit(python(text.outliving))
      await submitAgain(hostile, until, python(text.slowDeath, { timeout_seconds: 3 }))
    }
  },
  {
    name: 'slow-death',
    what: 'runs of 60 processes with 120 mappings each, stopped by a limit of 3 s',
    attack: (hostile, until) => submitAgain(hostile, until, python(text.slowDeath, { timeout_seconds: 3 }))
  },
  {
    name: 'kills',
    what: 'a run signals, slows and limits every process it can name',
    attack: (hostile, until) => submitAgain(hostile, until, python(text.kills))
  },
  {
    name: 'frames',
    what: 'results of 22 MiB of `[],` written by the program itself',
    short: true,
    attack: (hostile, until) => submitAgain(hostile, until, python(text.hostileFrame))
  },
  {
    name: 'forks',
    what: 'fork bombs with thread bombs',
    attack: (hostile, until) => submitAgain(hostile, until, python(text.forkBomb))
  },
  {
    name: 'memory',
    what: 'memory in nine processes, then full socket buffers',
    attack: (hostile, until) => submitAgain(hostile, until, python(text.memoryBomb))
  },
  {
    name: 'disk',
    what: 'files until the disk is full, then empty files until the inodes are used up',
    attack: (hostile, until) => submitAgain(hostile, until, python(text.diskBomb))
  },
  {
    name: 'prints',
    what: 'programs that print without end',
    attack: (hostile, until) => submitAgain(hostile, until, python(text.printing))
  },
  {
    name: 'loops',
    what: '10 endless loops of 900 s at once',
    short: true,
    attack: async (hostile, until) => {
      await Promise.all(
        Array.from({ length: 10 }, (_, turn) =>
          hostile.submit(python(text.loop, { execution_mode: turn % 5 === 4 ? 'temporal' : 'direct' }))
        )
      )
      await aborted(until)
    }
  },
  {
    name: 'wide-graph',
    what: 'one graph of 200 tasks of 4 s',
    attack: async (hostile, until) => {
      await hostile.submit(marqov(text.wideGraph(200, 4), { execution_mode: 'temporal' }))
      await aborted(until)
    }
  },
  {
    name: 'sweeps',
    what: 'sweeps of 1,000 points that crash, sleep or return 1 MiB, in turn',
    attack: (hostile, until) => {
      const points = Array.from({ length: 1_000 }, (_, n) => ({ n }))
      return submitAgain(
        hostile,
        until,
        python(text.hostilePoints, { timeout_seconds: 5, params: { shots: 1, points } })
      )
    }
  },
  {
    name: 'large-values',
    what: '30 tasks with values of 15 MiB into one task',
    attack: async (hostile, until) => {
      await hostile.submit(marqov(text.largeValues(30), { execution_mode: 'temporal' }))
      await aborted(until)
    }
  }
]
