// `qjob capsule run` and `qjob capsule runs`: running what a capsule holds again, and what came of it.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CapsuleRecord, type CapsuleRun, capsuleId, type RunPage, wentWell } from '../capsules/capsule-record.js'
import { runPageText, runText } from '../capsules/capsule-text.js'
import { waitForRun } from '../capsules/capsule-wait.js'
import { paramEntriesJson } from '../jobs/params.js'
import type { ApiClient } from '../session/api-client.js'
import {
  collect,
  isUuid,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { plain, print } from '../terminal/output.js'

interface RunOptions extends ServiceOptions {
  mode?: 'verify' | 'template'
  param: string[]
  backend?: string
  shots?: number
  executionMode?: string
  wait?: boolean
}

interface RunsOptions extends ServiceOptions {
  run?: string
  wait?: boolean
  limit: number
  offset: number
}

export function addCapsuleRunCommands(capsule: Command): void {
  serviceCommand(capsule, 'run', 'run what a capsule holds; verify compares the new results with the sealed ones')
    .argument('<capsule>', 'the id of a capsule')
    .addOption(
      new Option(
        '--mode <mode>',
        'verify: exactly as before (the default for what is sealed and of a job); template: as you say'
      ).choices(['verify', 'template'])
    )
    .option('--param <name=value>', 'template: another value for the code, as qjob submit; repeatable', collect, [])
    .option('--backend <slug>', 'template: where it runs')
    .option('--shots <n>', 'how often it is measured', shots)
    .addOption(new Option('--execution-mode <mode>', 'how it is run').choices(['direct', 'temporal']))
    .option('--wait', 'wait for the end; the exit code is 0 when it is completed and no verdict speaks against it')
    .action((id: string, options: RunOptions) => withService(options, (api) => run(api, capsuleId(id), options)))
  serviceCommand(capsule, 'runs', 'list the runs of a capsule, newest first, or show one')
    .argument('<capsule>', 'the id of a capsule')
    .option('--run <id>', 'show this one')
    .option('--wait', 'with --run: wait for its end; exit code as qjob capsule run --wait')
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 20)
    .option('--offset <n>', 'how many to pass over', wholeNumber, 0)
    .action((id: string, options: RunsOptions) => withService(options, (api) => showRuns(api, capsuleId(id), options)))
}

async function run(api: ApiClient, id: string, options: RunOptions): Promise<void> {
  const { value, text } = await api.post<{ job_id: string; capsule_run_id: string }>(
    `/api/capsules/${id}/run`,
    await runBody(options, options.mode ?? (await usualMode(api, id, options)))
  )
  if (options.wait) return showEnd(api, id, value.capsule_run_id, options)
  const runId = plain(value.capsule_run_id)
  print(options.json ? text : `run ${runId}\nLook at it with: qjob capsule runs ${id} --run ${runId} --wait`)
}

/** What is sealed and of a job is there to be verified. @throws CliError `usage`, saying which mode is possible. */
async function usualMode(api: ApiClient, id: string, { param, backend }: RunOptions): Promise<'verify'> {
  const { value } = await api.get<CapsuleRecord>(`/api/capsules/${id}`)
  const needed =
    value.source_job_id === null
      ? 'needs template: the capsule is not of a job, so there is no result to compare with'
      : param.length > 0 || backend !== undefined
        ? 'needs template: other parameters and backends are no repetition'
        : value.seal === null
          ? 'the capsule is not sealed; say verify or template'
          : null
  if (needed !== null) throw new CliError('usage', `--mode: ${needed}`)
  return 'verify'
}

/** JSON text: an integer beyond 2^53 goes out as it was typed. */
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
    if (options.wait) throw new CliError('usage', '--wait: needs --run, which names what to wait for')
    const { value, text } = await api.get<RunPage>(
      `/api/capsules/${id}/runs?limit=${options.limit}&offset=${options.offset}`
    )
    return print(options.json ? text : runPageText(value, options.offset))
  }
  if (!isUuid(options.run)) throw new CliError('usage', `--run "${options.run}": is not the id of a run`)
  if (options.wait) return showEnd(api, id, options.run, options)
  const { value, text } = await api.get<CapsuleRun>(`/api/capsules/${id}/runs/${options.run}`)
  print(options.json ? text : runText(value))
}

async function showEnd(api: ApiClient, id: string, runId: string, { json }: ServiceOptions): Promise<void> {
  const { value, text } = await waitForRun(api, id, runId)
  print(json ? text : runText(value))
  if (!wentWell(value)) process.exitCode = exitCodes.jobFailed
}

function shots(text: string): number {
  const value = wholeNumber(text)
  if (value < 1) throw new InvalidArgumentError('It must be at least 1.')
  return value
}
