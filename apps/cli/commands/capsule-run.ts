// `qjob capsule run` and `qjob capsule runs`: run a capsule again, and show its runs.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CapsuleRecord, type CapsuleRun, type RunPage, succeeded } from '../capsules/capsule-record.js'
import { runPageText, runText } from '../capsules/capsule-text.js'
import { waitForRun } from '../capsules/capsule-wait.js'
import { paramEntriesJson } from '../jobs/params.js'
import type { ApiClient } from '../session/api-client.js'
import { capsuleArgument, capsuleIdOf, runIdOf } from '../session/named-ids.js'
import {
  collect,
  type PageOptions,
  pageOptions,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'
import { plain } from '../terminal/untrusted-text.js'

interface RunOptions extends ServiceOptions {
  mode?: 'verify' | 'template'
  param: string[]
  backend?: string
  shots?: number
  executionMode?: string
  wait?: boolean
}

interface RunsOptions extends ServiceOptions, PageOptions {
  run?: string
  wait?: boolean
}

export function addCapsuleRunCommands(capsule: Command): void {
  serviceCommand(capsule, 'run', 'run a capsule again; mode verify compares the new results with the sealed ones')
    .argument('<capsule>', capsuleArgument)
    .addOption(
      new Option(
        '--mode <mode>',
        'verify: exactly as before (default for sealed capsules made from a job); template: with your own values'
      ).choices(['verify', 'template'])
    )
    .option('--param <name=value>', 'template: a value for the code, as in qjob submit; repeatable', collect, [])
    .option('--backend <slug>', 'template: the backend to run on')
    .option('--shots <n>', 'the number of shots', shots)
    .addOption(new Option('--execution-mode <mode>', 'direct or temporal').choices(['direct', 'temporal']))
    .option(
      '--wait',
      'wait until the run is over; the exit code is 0 if it completed and the verdict, if any, is exact or consistent'
    )
    .action((id: string, options: RunOptions) =>
      withService(options, async (api) => run(api, await capsuleIdOf(api, id), options))
    )
  pageOptions(
    serviceCommand(capsule, 'runs', 'list the runs of a capsule, newest first, or show one')
      .argument('<capsule>', capsuleArgument)
      .option('--run <id>', 'show this run: its id, the end of its id, or latest')
      .option('--wait', 'with --run: wait until it is over; exit code as in qjob capsule run --wait'),
    20
  ).action((id: string, options: RunsOptions) =>
    withService(options, async (api) => showRuns(api, await capsuleIdOf(api, id), options))
  )
}

async function run(api: ApiClient, id: string, options: RunOptions): Promise<void> {
  const { value, text } = await api.post<{ job_id: string; capsule_run_id: string }>(
    `/api/capsules/${id}/run`,
    await runBody(options, options.mode ?? (await usualMode(api, id, options)))
  )
  if (options.wait) return showEnd(api, id, value.capsule_run_id, options)
  const runId = plain(value.capsule_run_id)
  printResult(
    options,
    text,
    () =>
      `run ${runId}\nShow it with: qjob capsule runs ${idFor(id, outScreen())} --run ${idFor(runId, outScreen())} --wait`
  )
}

/** The default mode: a sealed capsule made from a job is verified. @throws CliError `usage` naming the possible mode. */
async function usualMode(api: ApiClient, id: string, { param, backend }: RunOptions): Promise<'verify'> {
  const { value } = await api.get<CapsuleRecord>(`/api/capsules/${id}`)
  const needed =
    value.source_job_id === null
      ? 'must be template: the capsule was not made from a job, so there is no result to compare with'
      : param.length > 0 || backend !== undefined
        ? 'must be template: a verification cannot use other parameters or backends'
        : value.seal === null
          ? 'must be verify or template, because the capsule is not sealed'
          : null
  if (needed !== null) throw new CliError('usage', `--mode: ${needed}`)
  return 'verify'
}

/** JSON text, so that an integer beyond 2^53 is sent exactly as typed. */
async function runBody({ param, backend, shots, executionMode }: RunOptions, mode: string): Promise<string> {
  const fields = [
    `"mode":${JSON.stringify(mode)}`,
    ...(param.length > 0 ? [`"params":${await paramEntriesJson(param)}`] : []),
    ...(backend === undefined ? [] : [`"backend":${JSON.stringify(backend)}`]),
    ...(shots === undefined ? [] : [`"shots":${shots}`]),
    ...(executionMode === undefined ? [] : [`"execution_mode":${JSON.stringify(executionMode)}`])
  ]
  return `{${fields.join(',')}}`
}

async function showRuns(api: ApiClient, id: string, options: RunsOptions): Promise<void> {
  if (options.run === undefined) {
    if (options.wait) throw new CliError('usage', '--wait: needs --run')
    const { value, text } = await api.get<RunPage>(
      `/api/capsules/${id}/runs?limit=${options.limit}&offset=${options.offset}`
    )
    return printResult(options, text, () => runPageText(value, options.offset))
  }
  const runId = await runIdOf(api, id, options.run)
  if (options.wait) return showEnd(api, id, runId, options)
  const { value, text } = await api.get<CapsuleRun>(`/api/capsules/${id}/runs/${runId}`)
  printResult(options, text, () => runText(value))
}

async function showEnd(api: ApiClient, id: string, runId: string, { json }: ServiceOptions): Promise<void> {
  const { value, text } = await waitForRun(api, id, runId)
  printResult({ json }, text, () => runText(value))
  if (!succeeded(value)) process.exitCode = exitCodes.jobFailed
}

function shots(text: string): number {
  const value = wholeNumber(text)
  if (value < 1) throw new InvalidArgumentError('It must be at least 1.')
  return value
}
