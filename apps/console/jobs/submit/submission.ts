// What the submit form holds, and the request that it becomes. The service reads and checks all of it.
import { numberOf } from '../../text/number-of.js'

export interface SubmitForm {
  program: string
  /** '' lets the service detect it. */
  framework: string
  backend: string
  shots: string
  seed: string
  name: string
  mode: string
  /** The submitter's own cap, in USD. */
  maxCost: string
}

export const emptyForm: SubmitForm = {
  program: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n',
  framework: '',
  backend: '',
  shots: '1000',
  seed: '',
  name: '',
  mode: '',
  maxCost: ''
}

/** @param others parameters of an earlier job, as JSON values, which the form does not show. */
export function submitBody(form: SubmitForm, team: { team_id?: string }, others: object = {}): object {
  const { program, framework, backend, shots, seed, name, mode, maxCost } = form
  return {
    inline_code: program,
    ...(framework && { framework }),
    backend,
    params: { ...others, shots: numberOf(shots), ...(seed !== '' && { seed: numberOf(seed) }) },
    ...team,
    ...(name && { name }),
    ...(mode && { execution_mode: mode }),
    ...(maxCost && { max_cost_usd: numberOf(maxCost) })
  }
}

const fieldNames: Readonly<Record<string, keyof SubmitForm>> = {
  inline_code: 'program',
  framework: 'framework',
  backend: 'backend',
  'params.shots': 'shots',
  shots: 'shots',
  'params.seed': 'seed',
  seed: 'seed',
  name: 'name',
  max_cost_usd: 'maxCost'
}

/** The field that a refusal is about: its message begins with the field's name. */
export const faultOf = (message: string): { field: keyof SubmitForm; text: string } | null => {
  const [, path, text] = /^([\w.]+): (.*)$/s.exec(message) ?? []
  const field = path === undefined ? undefined : fieldNames[path]
  return field === undefined ? null : { field, text: text! }
}
