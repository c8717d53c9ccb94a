// What the submit form holds, and the request that it becomes. The service reads and checks all of it.
import type { components } from '../../api/schema.js'
import { emptySettings, type JobSettings, settingsBody } from './settings.js'

export type CircuitFormat = NonNullable<components['schemas']['JobSource']['format']>

export interface SubmitForm extends JobSettings {
  program: string
  /** '' lets the service detect it. */
  framework: string
  /** Of an earlier job that was submitted as a circuit; '' for a program. */
  format: CircuitFormat | ''
}

export const emptyForm: SubmitForm = {
  ...emptySettings,
  program: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n',
  framework: '',
  format: ''
}

/** @param params besides shots and seed, as JSON values. */
export function submitBody(form: SubmitForm, params: object, team: { team_id?: string }): object {
  const { program, framework, format } = form
  return {
    ...(format ? { circuit: { format, payload: program } } : { inline_code: program, ...(framework && { framework }) }),
    ...settingsBody(form, params, team)
  }
}

/** The fields of a program, by their names in the API. */
export const programFields = {
  inline_code: 'program',
  'circuit.payload': 'program',
  'circuit.format': 'format',
  framework: 'framework'
} as const
