// The options shared by commands that submit a job.
import { type Command, Option } from 'commander'
import { ownTeamHelp } from '../session/choice.js'
import { collect, dollars, wholeNumber } from '../session/service-command.js'

export const submissionOptions = (command: Command): Command =>
  command
    .option('--backend <slug>', 'the backend to run on (qjob backends lists them), or auto', 'local')
    .option('--team <team>', ownTeamHelp)
    .option('--shots <n>', 'the number of shots', wholeNumber, 1024)
    .addOption(
      new Option('--mode <mode>', 'direct: fast, a single attempt; temporal: durable, with retries')
        .choices(['direct', 'temporal'])
        .default('direct')
    )
    .option('--framework <name>', 'the framework of the code, such as qiskit (default: detected)')
    .option('--param <name=value>', 'a value for the code, as JSON or text, or @FILE; repeatable', collect, [])
    .option('--points <file>', 'run it once for each of these parameters: a file with a JSON array of objects')
    .option('--name <name>', 'a name for the job')
    .option('--label <label>', 'a label for the job; repeatable', collect, [])
    .option('--max-cost <usd>', 'refuse the job if its estimated cost is higher', dollars)
    .option('--max-wait <seconds>', 'with --backend auto: only backends with a shorter queue', wholeNumber)
    .option('--min-qubits <n>', 'with --backend auto: only backends with as many qubits', wholeNumber)
    .option('--hardware', 'with --backend auto: only quantum computers')
    .option('--timeout <seconds>', 'the time limit of one execution', wholeNumber)
    .option('--not-before <time>', 'do not start before this ISO 8601 time, such as 2030-01-31T20:00:00Z')
    .option('--notify', 'send an email when the job has finished')
    .option('--seed <n>', 'a seed that makes the simulation repeatable', wholeNumber)
