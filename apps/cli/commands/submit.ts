// `qjob submit FILE`: submits a circuit, or code that builds one, as a job.
import type { Command } from 'commander'
import { resultJson } from '../jobs/job-record.js'
import { jobText } from '../jobs/job-text.js'
import { exitCodeOf, waitForJob } from '../jobs/job-wait.js'
import { type SubmitOptions, submissionBody } from '../jobs/submission-body.js'
import { submissionOptions } from '../jobs/submission-options.js'
import { teamIdOf } from '../session/choice.js'
import { jobPage } from '../session/console-page.js'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { printNotice, printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'
import { plain } from '../terminal/untrusted-text.js'

export function addSubmitCommand(program: Command): void {
  submissionOptions(serviceCommand(program, 'submit <file...>', 'submit a circuit as a job; - reads standard input'))
    .option('--wait', 'wait for the job and show its result; the exit code follows its status')
    .addHelpText(
      'after',
      '\n.qasm files are OpenQASM 2 or 3; .py files are Python that builds a circuit.\nSeveral .qasm files become the points of one job.'
    )
    .action((files: string[], options: ServiceOptions & SubmitOptions & { wait?: boolean }) =>
      withService(options, async (api) => {
        const { value, text } = await api.post<{ job_id: string }>(
          '/api/jobs/submit',
          await submissionBody({ files }, options, { teamId: await teamIdOf(api, options) })
        )
        printNotice(`page: ${jobPage(api.url, value.job_id)}`)
        if (!options.wait)
          return printResult(
            options,
            text,
            () => `job ${plain(value.job_id)}\nShow it with: qjob job ${idFor(plain(value.job_id), outScreen())} --wait`
          )
        const job = await waitForJob(api, value.job_id)
        printResult(options, job.text, () => jobText(job.value, resultJson(job.text)))
        process.exitCode = exitCodeOf(job.value.status)
      })
    )
}
