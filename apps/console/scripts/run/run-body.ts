// What the run form holds besides the parameters, and the submission that it becomes. The service reads and checks all of it.
import { numberOf } from '../../text/number-of.js'

export interface RunSettings {
  backend: string
  shots: string
  seed: string
  name: string
  mode: string
  /** The submitter's own cap, in USD. */
  maxCost: string
}

export const emptySettings: RunSettings = { backend: '', shots: '1000', seed: '', name: '', mode: '', maxCost: '' }

export function runBody(settings: RunSettings, params: object, team: { team_id?: string }): object {
  const { backend, shots, seed, name, mode, maxCost } = settings
  return {
    backend,
    params: { ...params, shots: numberOf(shots), ...(seed !== '' && { seed: numberOf(seed) }) },
    ...team,
    ...(name && { name }),
    ...(mode && { execution_mode: mode }),
    ...(maxCost && { max_cost_usd: numberOf(maxCost) })
  }
}
