// `qjob compare A B`: whether two jobs sample one distribution.
import { type Command, InvalidArgumentError } from 'commander'
import { type Comparison, comparisonText } from '../jobs/comparison-text.js'
import type { ApiClient } from '../session/api-client.js'
import { jobArgument, jobIdOf } from '../session/named-ids.js'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { exitCodes } from '../terminal/cli-error.js'
import { printResult } from '../terminal/output.js'

interface CompareOptions extends ServiceOptions {
  margin?: number
}

export function addCompareCommand(program: Command): void {
  serviceCommand(program, 'compare', 'compare the counts of two jobs; the exit code is 0 if they agree')
    .argument('<a>', jobArgument)
    .argument('<b>', 'the other job, named like the first')
    .addHelpText('after', '\nJOB:3 is point 3 of a sweep; the first is 0.')
    .option('--margin <distance>', 'the total variation distance that is tolerated, up to 1', distance)
    .action((a: string, b: string, { margin, ...options }: CompareOptions) =>
      withService(options, async (api) => {
        const body = { a: await selected(api, a), b: await selected(api, b), ...(margin !== undefined && { margin }) }
        const { value, text } = await api.post<Comparison>('/api/jobs/compare', body)
        printResult(options, text, () => comparisonText(value))
        if (value.verdict !== 'exact' && value.verdict !== 'consistent') process.exitCode = exitCodes.jobFailed
      })
    )
}

/** A job, or one point of a sweep. */
async function selected(api: ApiClient, text: string): Promise<string | { job_id: string; point: number }> {
  const [, job, point] = /^(.*):(\d{1,4})$/.exec(text) ?? []
  return job === undefined ? jobIdOf(api, text) : { job_id: await jobIdOf(api, job), point: Number(point) }
}

function distance(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value > 0 && value <= 1)) throw new InvalidArgumentError('It must be above 0, up to 1.')
  return value
}
