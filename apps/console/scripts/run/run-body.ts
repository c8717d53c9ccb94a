// What the run form holds besides the parameters, and the submission that it becomes. The service reads and checks all of it.
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

/** A number as it was typed; what is no number is sent as text, for the service to refuse in its words. */
export const numberOf = (text: string): number | string => {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}

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
