// The options shared by commands that submit a job, or say what it would cost.
import { type Command, Option } from 'commander'
import { ownTeamHelp } from '../session/choice.js'
import { collect, dollars, wholeNumber } from '../session/service-command.js'

export const submissionOptions = (command: Command): Command => {
  command.option('--backend <slug>', 'the backend to run on (qjob backends lists them), or auto', 'local')
  return wishOptions(paramOptions(command))
    .option('--team <team>', ownTeamHelp)
    .addOption(
      new Option('--mode <mode>', 'direct: fast, a single attempt; temporal: durable, with retries')
        .choices(['direct', 'temporal'])
        .default('direct')
    )
    .option('--framework <name>', 'the framework of the code, such as qiskit (default: detected)')
    .option('--name <name>', 'a name for the job')
    .option('--label <label>', 'a label for the job; repeatable', collect, [])
    .option('--timeout <seconds>', 'the time limit of one execution', wholeNumber)
    .option('--not-before <time>', 'do not start before this ISO 8601 time, such as 2030-01-31T20:00:00Z')
    .option('--notify', 'send an email when the job has finished')
}

/** What the job runs with. */
export const paramOptions = (command: Command): Command =>
  command
    .option('--shots <n>', 'the number of shots', wholeNumber, 1024)
    .option('--param <name=value>', 'a value for the code, as JSON or text, or @FILE; repeatable', collect, [])
    .option('--points <file>', 'run it once for each of these parameters: a file with a JSON array of objects')
    .option('--seed <n>', 'a seed that makes the simulation repeatable', wholeNumber)

/** What the job can cost, and the wishes of the backend auto. */
export const wishOptions = (command: Command): Command =>
  command
    .option('--max-cost <usd>', 'refuse the job if its estimated cost is higher', dollars)
    .option('--max-wait <seconds>', 'for the backend auto: only backends with a shorter queue', wholeNumber)
    .option('--min-qubits <n>', 'for the backend auto: only backends with as many qubits', wholeNumber)
    .option('--hardware', 'for the backend auto: only quantum computers')
    .addOption(new Option('--simulator', 'for the backend auto: only simulators').conflicts('hardware'))
