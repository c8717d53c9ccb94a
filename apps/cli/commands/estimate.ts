// `qjob estimate`: what a job would cost, where it would run, and why it would be refused, before it is submitted.
import type { Command } from 'commander'
import { type Estimate, estimateText } from '../jobs/estimate-text.js'
import { estimateBody, type ParamOptions, type WishOptions } from '../jobs/submission-body.js'
import { paramOptions, wishOptions } from '../jobs/submission-options.js'
import { readTeamHelp, type TeamOptions, teamIdOf } from '../session/choice.js'
import { type ServiceOptions, serviceCommand, wholeNumber, withService } from '../session/service-command.js'
import { printResult } from '../terminal/output.js'

interface EstimateOptions extends ServiceOptions, TeamOptions, ParamOptions, WishOptions {
  circuits?: number
  qubits?: number
}

export function addEstimateCommand(program: Command): void {
  const command = serviceCommand(program, 'estimate', 'show what a job would cost, and why it would be refused now')
  wishOptions(paramOptions(command))
    .argument('<backend>', 'the slug of a backend (qjob backends lists them), or auto')
    .option('--circuits <n>', 'the number of circuits (default: 1)', wholeNumber)
    .option('--qubits <n>', 'the number of qubits of the circuit', wholeNumber)
    .option('--team <team>', readTeamHelp)
    .action((backend: string, options: EstimateOptions) =>
      withService(options, async (api) => {
        const body = await estimateBody(backend, options, await teamIdOf(api, options))
        const { value, text } = await api.post<Estimate>('/api/jobs/estimate', body)
        printResult(options, text, () => estimateText(value, JSON.parse(body).params.points !== undefined))
      })
    )
}
