// `qjob compare A B`: whether two jobs sample one distribution.
import { type Command, InvalidArgumentError } from 'commander'
import { type Comparison, comparisonText } from '../jobs/comparison-text.js'
import { isUuid, type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { printResult } from '../terminal/output.js'

interface CompareOptions extends ServiceOptions {
  margin?: number
}

export function addCompareCommand(program: Command): void {
  serviceCommand(program, 'compare', 'compare the counts of two jobs; the exit code is 0 if they agree')
    .argument('<a>', 'the id of a completed job')
    .argument('<b>', 'the id of another one')
    .option('--margin <distance>', 'the total variation distance that is tolerated, up to 1', distance)
    .action((a: string, b: string, { margin, ...options }: CompareOptions) =>
      withService(options, async (api) => {
        const body = { a: jobId(a), b: jobId(b), ...(margin !== undefined && { margin }) }
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

function jobId(text: string): string {
  if (isUuid(text)) return text
  throw new CliError('usage', `"${text}" is not the id of a job: qjob jobs lists them`)
}
