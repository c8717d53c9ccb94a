// The options of the commands that submit a job.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { collect, wholeNumber } from '../session/service-command.js'

export const submissionOptions = (command: Command): Command =>
  command
    .option('--backend <slug>', 'where it runs (qjob backends lists them)', 'local')
    .option('--shots <n>', 'how often it is measured', wholeNumber, 1024)
    .addOption(
      new Option('--mode <mode>', 'direct: one attempt, quick; temporal: retried, survives failures')
        .choices(['direct', 'temporal'])
        .default('direct')
    )
    .option('--framework <name>', 'what the code is written with, such as qiskit (default: told from the code)')
    .option('--param <name=value>', 'a value for the code, as JSON or text, or @FILE; repeatable', collect, [])
    .option('--name <name>', 'a name for the job')
    .option('--label <label>', 'a label for the job; repeatable', collect, [])
    .option('--max-cost <usd>', 'refuse the job if it is estimated to cost more', dollars)
    .option('--timeout <seconds>', 'the longest time one execution may take', wholeNumber)
    .option('--not-before <time>', 'start no earlier, an ISO 8601 time such as 2030-01-31T20:00:00Z')
    .option('--notify', 'be told of the end of the job by e-mail')
    .option('--seed <n>', 'makes the simulation repeatable', wholeNumber)

function dollars(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be an amount of USD, such as 2.50.')
  return value
}
