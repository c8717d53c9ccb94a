// `qjob submit FILE`: sends a circuit, or code that makes one, as a job.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { jobText } from '../job-text.js'
import { exitCodeOf, waitForJob } from '../job-wait.js'
import { plain, print } from '../output.js'
import { collect, type ServiceOptions, serviceCommand, wholeNumber, withService } from '../service-command.js'
import { type SubmitOptions, submissionBody } from '../submission-body.js'

export function addSubmitCommand(program: Command): void {
  serviceCommand(program, 'submit <file>', 'submit a circuit as a job; - reads standard input')
    .option('--backend <slug>', 'where it runs (qjob backends lists them)', 'local')
    .option('--shots <n>', 'how often it is measured', wholeNumber, 1024)
    .addOption(
      new Option('--mode <mode>', 'direct: one attempt, quick; temporal: retried, survives failures')
        .choices(['direct', 'temporal'])
        .default('direct')
    )
    .option('--framework <name>', 'what the code is written with, such as qiskit (default: told from the code)')
    .option('--param <name=value>', 'a value for the code, as JSON or text; repeatable', collect, [])
    .option('--name <name>', 'a name for the job')
    .option('--label <label>', 'a label for the job; repeatable', collect, [])
    .option('--max-cost <usd>', 'refuse the job if it is estimated to cost more', dollars)
    .option('--timeout <seconds>', 'the longest time one execution may take', wholeNumber)
    .option('--not-before <time>', 'start no earlier, an ISO 8601 time such as 2030-01-31T20:00:00Z')
    .option('--notify', 'be told of the end of the job by e-mail')
    .option('--seed <n>', 'makes the simulation repeatable', wholeNumber)
    .option('--wait', 'wait for the end of the job and show its result; the exit code follows the job')
    .addHelpText('after', '\n.qasm files are OpenQASM 2 or 3; .py files are Python that makes a circuit.')
    .action((file: string, options: ServiceOptions & SubmitOptions & { wait?: boolean }) =>
      withService(options, async (api) => {
        const { value, text } = await api.post<{ job_id: string }>(
          '/api/jobs/submit',
          await submissionBody(file, options)
        )
        if (!options.wait)
          return print(
            options.json ? text : `job ${value.job_id}\nLook at it with: qjob job ${plain(value.job_id)} --wait`
          )
        const job = await waitForJob(api, value.job_id)
        print(options.json ? job.text : jobText(job.value))
        process.exitCode = exitCodeOf(job.value.status)
      })
    )
}

function dollars(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be an amount of USD, such as 2.50.')
  return value
}
