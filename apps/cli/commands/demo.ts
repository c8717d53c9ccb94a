// `qjob demo`: starts a separate stack, runs three jobs through the public API, seals one and verifies it, and stops everything.
import { randomBytes } from 'node:crypto'
import { relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { createAccessCode } from '../../../db/accounts/accounts.js'
import { connect } from '../../../db/client.js'
import { type CapsuleRun, isOver, succeeded } from '../capsules/capsule-record.js'
import { bellQasm, ghzQiskit, shots, slowGhzQiskit } from '../demo/circuits.js'
import { demoEnvironment } from '../demo/demo-folder.js'
import { attemptLine, barChart, budgetLine, money, statusTimes } from '../demo/job-view.js'
import { type DemoAccount, howToLookAgain } from '../demo/look-again.js'
import { type JobRecord, Session } from '../demo/session.js'
import { capsulePage, jobPage } from '../session/console-page.js'
import { logTail } from '../stack/parts/child.js'
import { readSettings } from '../stack/settings.js'
import { onEndSignals } from '../stack/signals.js'
import { type PartName, type Stack, startStack } from '../stack/supervisor.js'

const jobLimitMs = 90_000
const finalStatuses = ['completed', 'failed', 'cancelled', 'dispatch_failed']
/** The parts whose logs show why a job failed. */
const workingParts: PartName[] = ['api', 'worker', 'executor']

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start a separate stack, run three jobs on it, seal one and verify it, and stop it')
    .action(demo)
}

const report = (line: string) => process.stderr.write(`${line}\n`)
const show = (text: string) => process.stdout.write(`${text}\n`)

async function demo(): Promise<void> {
  const began = Date.now()
  const ends = onEndSignals(report)
  let stack: Stack | undefined
  try {
    const settings = readSettings(demoEnvironment(process.env))
    stack = await startStack({ settings, purpose: 'npm run demo', report, signal: ends.signal })
    const { kill } = stack
    ends.onSecond(kill.bind(stack))
    const account = await Promise.race([story(stack), interrupted(ends.first)])
    show(`\nDone in ${((Date.now() - began) / 1000).toFixed(1)} s; everything is stopped. Next: npm start`)
    show(howToLookAgain(stack.callUrl, shortPath(stack.dataDir.path), account))
  } catch (error) {
    process.exitCode = ends.signal.aborted ? 130 : 1
    report(ends.signal.aborted ? 'The demo was interrupted.' : `\nThe demo failed: ${(error as Error).message}`)
    if (stack && !ends.signal.aborted) for (const part of workingParts) sayLog(stack, part)
  } finally {
    await stack?.stop()
  }
}

function shortPath(path: string): string {
  const below = relative('', path)
  return below.startsWith('..') ? path : below
}

async function interrupted(signal: Promise<void>): Promise<never> {
  await signal
  throw new Error('interrupted')
}

function sayLog(stack: Stack, part: PartName): void {
  const file = stack.dataDir.logFile(part)
  report(`The last lines of ${file}:\n${logTail(file)}`)
}

/** @returns the account that owns the jobs and the capsule. */
async function story(stack: Stack): Promise<DemoAccount> {
  const session = new Session(stack.callUrl)
  const email = `demo-${randomBytes(4).toString('hex')}@example.com`
  const password = randomBytes(12).toString('base64url')
  await session.signUp(email, password, await accessCode(stack))
  show(`\nThe service runs at ${stack.url}; signed up as ${email}.`)

  show('\n(a) A Bell pair in OpenQASM 3, mode direct')
  const bell = await runJob(session, {
    inline_code: bellQasm,
    framework: 'openqasm',
    execution_mode: 'direct',
    // So that its second run gives the same counts. Other counts are found different by chance, once in a hundred demos.
    params: { shots, seed: 7 }
  })
  await showJob(session, bell, ['00', '11'])

  show('\n(b) A GHZ state of five qubits in Qiskit, mode temporal')
  const ghz = await runJob(session, { inline_code: ghzQiskit, framework: 'qiskit', execution_mode: 'temporal' })
  await showJob(session, ghz, ['00000', '11111'])

  show('\n(c) A job in mode temporal whose executor is killed during the run')
  const survivor = await runJob(
    session,
    { inline_code: slowGhzQiskit, framework: 'qiskit', execution_mode: 'temporal' },
    (id) => killExecutorMidRun(stack, session, id)
  )
  await showJob(session, survivor, ['000', '111'])
  const attempts = await session.attempts(survivor.id)
  for (const attempt of attempts) show(`    ${attemptLine(attempt)}`)
  if (attempts.length < 2) throw new Error('the job did not run again after its executor was killed')

  show('\n(d) The Bell pair as a sealed capsule, which is verified by running it again')
  await sealAndVerify(session, bell.id)
  return { email, password }
}

async function accessCode(stack: Stack): Promise<string> {
  const connection = connect(stack.databaseUrl, { max: 1 })
  try {
    return await createAccessCode(connection.db, { uses: 1 })
  } finally {
    await connection.close()
  }
}

/** Submits a job, calls `whileRunning`, and waits until the job has finished. */
async function runJob(
  session: Session,
  source: Record<string, unknown>,
  whileRunning?: (id: string) => Promise<void>
): Promise<JobRecord> {
  const id = await session.submit({ backend: 'aer-statevector', params: { shots }, ...source })
  show(`    job ${id}`)
  show(`    page: ${jobPage(session.url, id)}`)
  await whileRunning?.(id)
  const deadline = Date.now() + jobLimitMs
  while (!finalStatuses.includes(await session.status(id, 10))) {
    if (Date.now() > deadline) throw new Error(`job ${id} has not finished after ${jobLimitMs / 1000} s`)
  }
  return session.job(id)
}

/** Throws unless the second run gives what was sealed. */
async function sealAndVerify(session: Session, jobId: string): Promise<void> {
  const id = await session.sealJob(jobId)
  show(`    capsule ${id}`)
  show(`    page: ${capsulePage(session.url, id)}`)
  const { state, seal } = await session.capsule(id)
  if (!seal) throw new Error(`capsule ${id} is ${state} instead of sealed`)
  show(`    sealed as ${seal.capsule_digest}`)
  const run = await ended(session, id, await session.verify(id))
  if (!succeeded(run))
    throw new Error(
      `the verification of capsule ${id} is ${run.status}: ${run.verdict ?? run.reason ?? 'no reason given'}`
    )
  show(`    verdict ${run.verdict}: ${run.verification?.reason}`)
}

async function ended(session: Session, capsuleId: string, runId: string): Promise<CapsuleRun> {
  const deadline = Date.now() + jobLimitMs
  for (;;) {
    const run = await session.capsuleRun(capsuleId, runId)
    if (isOver(run)) return run
    if (Date.now() > deadline)
      throw new Error(`the verification of capsule ${capsuleId} has not ended after ${jobLimitMs / 1000} s`)
    await delay(100)
  }
}

async function killExecutorMidRun(stack: Stack, session: Session, id: string): Promise<void> {
  const deadline = Date.now() + jobLimitMs
  while ((await session.attempts(id))[0]?.state !== 'running') {
    if (Date.now() > deadline)
      throw new Error(`the first attempt of job ${id} has not started after ${jobLimitMs / 1000} s`)
    await delay(50)
  }
  // The run is then in progress: the attempt starts with a second of loading, and the program pauses for two more.
  await delay(500)
  const pid = stack.pid('executor')
  if (pid === null) throw new Error('this stack does not run the executor')
  process.kill(pid, 'SIGKILL')
  show(`    attempt 1 is running: executor (process ${pid}) killed with SIGKILL`)
}

/** Prints the job; throws unless it completed with only the outcomes that physics allows. */
async function showJob(session: Session, job: JobRecord, possible: string[]): Promise<void> {
  show(`    ${statusTimes(job)}`)
  if (job.status !== 'completed' || !job.result) {
    throw new Error(`job ${job.id} is ${job.status}: ${job.error?.message ?? job.status_reason ?? 'no reason given'}`)
  }
  const { counts } = job.result
  show(barChart(counts))
  show(`    cost: ${money(job.actual_cost_usd ?? job.estimated_cost_usd)}, ${budgetLine(await session.budget())}`)
  if (job.workflow?.url) show(`    Temporal UI: ${job.workflow.url}`)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const impossible = Object.keys(counts).filter((outcome) => !possible.includes(outcome))
  if (total !== shots) throw new Error(`job ${job.id} has counts of ${total} shots instead of ${shots}`)
  if (impossible.length > 0) throw new Error(`job ${job.id} has impossible outcomes: ${impossible.join(', ')}`)
}
