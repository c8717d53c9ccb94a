// Runs the program of a job in this browser and compares both, from the page of the job.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { jsonFields } from '../../../../../domain/json/json-text.js'
import { metaQuery } from '../../../api/queries.js'
import { Button } from '../../../components/button.js'
import { Refusal } from '../../../components/notice.js'
import { Running } from '../../../playground/outcome/running.js'
import { useRun } from '../../../playground/run/use-run.js'
import { loadPart } from '../../../shell/load-part.js'
import { useTeam } from '../../../shell/team.js'
import { defaultSimulator } from '../../../simulators/simulation.js'
import { sourceQuery } from '../../record/job-queries.js'
import type { ReadJob } from '../../record/job-record.js'
import { BROWSER } from '../compare-search.js'
import { keepBrowserRun } from './browser-side.js'

/** What a job has that states none. */
const DEFAULT_SHOTS = '1000'

/** Whether a job has one program that this browser can read. Its width is known once it has been read. */
export const runsHere = ({ record: { status, framework, source } }: ReadJob): boolean =>
  status === 'completed' && framework === 'openqasm' && source.kind !== 'circuits' && source.kind !== 'capsule'

export function RunHere({ job: { record, params } }: { job: ReadJob }) {
  const { id } = record
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { team } = useTeam()
  const { state, start, cancel } = useRun()
  const isRunning = state.kind === 'running'
  const press = () =>
    start(async (signal, onProgress) => {
      // The reader of OpenQASM is as large as the page, and most readers of a job's page do not need it.
      const [{ readCircuit }, { beforeRun }, { runInBrowser }] = await loadPart(() =>
        Promise.all([
          import('../../../openqasm/read-circuit.js'),
          import('../../../playground/run/before-run.js'),
          import('../../../playground/run/browser-run.js')
        ])
      )
      const program = await queryClient.ensureQueryData(sourceQuery(id))
      const { features } = await queryClient.ensureQueryData(metaQuery)
      signal.throwIfAborted()
      const read = readCircuit(program)
      if ('faults' in read) {
        const { line, message } = read.faults[0]!
        throw new Error(`The program cannot run in this browser. Line ${line}: ${message}`)
      }
      const shots = jsonFields(params === 'null' ? '{}' : params).get('shots') ?? DEFAULT_SHOTS
      const { circuit } = read
      const before = beforeRun(circuit, defaultSimulator, Number(shots), features.browser_simulator)
      if (before.kind === 'refused') throw new Error(before.message)
      // Another seed than that of the job: the tests take two runs for independent.
      const asked = { circuit, program, converted: null, simulator: defaultSimulator, shots, seed: '' } as const
      const run = await runInBrowser(asked, team ? { team_id: team.id } : null, signal, onProgress)
      signal.throwIfAborted()
      keepBrowserRun(queryClient, run)
      await navigate({ to: '/jobs/compare', search: { a: BROWSER, b: id } })
      return run
    })
  return (
    <>
      <Button onPress={press} isDisabled={isRunning}>
        Run in this browser and compare
      </Button>
      {isRunning ? <Running key={state.since} since={state.since} share={state.share} cancel={cancel} /> : null}
      {state.kind === 'failed' ? <Refusal error={state.error} /> : null}
    </>
  )
}
