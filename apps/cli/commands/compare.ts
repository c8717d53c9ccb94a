// `qjob compare A B`: whether two jobs sample one distribution.
import { type Command, InvalidArgumentError } from 'commander'
import { type Comparison, comparisonText } from '../jobs/comparison-text.js'
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
    .option('--margin <distance>', 'the total variation distance that is tolerated, up to 1', distance)
    .action((a: string, b: string, { margin, ...options }: CompareOptions) =>
      withService(options, async (api) => {
        const body = { a: await jobIdOf(api, a), b: await jobIdOf(api, b), ...(margin !== undefined && { margin }) }
        const { value, text } = await api.post<Comparison>('/api/jobs/compare', body)
        printResult(options, text, () => comparisonText(value))
        if (value.verdict !== 'exact' && value.verdict !== 'consistent') process.exitCode = exitCodes.jobFailed
      })
    )
}

function distance(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value > 0 && value <= 1)) throw new InvalidArgumentError('It must be above 0, up to 1.')
  return value
}
