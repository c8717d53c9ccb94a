// What two compared runs are to each other. It decides which differences rule a comparison out, and how messages name
// the runs.

export interface Relation {
  /** The names of the two runs in messages. */
  one: string
  other: string
  /** The same after a fact of one run: `0.17 sealed, 0.18 now`. */
  ofOne: string
  ofOther: string
  /**
   * Whether the second run repeats the first: the same program on the same backend. Then a different circuit or
   * register is a fault, and the shots of the first run are fixed.
   */
  repeats: boolean
  /** Whether both ran on one backend: only then can a difference be drift. */
  sameBackend: boolean
}

/** A capsule's sealed run and its re-run. */
export const sealAndRerun: Relation = {
  one: 'the sealed run',
  other: 'the re-run',
  ofOne: 'sealed',
  ofOther: 'now',
  repeats: true,
  sameBackend: true
}

/** Any two jobs, of the same circuit or not. */
export const twoJobs = (sameBackend: boolean): Relation => ({
  one: 'job a',
  other: 'job b',
  ofOne: 'in a',
  ofOther: 'in b',
  repeats: false,
  sameBackend
})

/** A run of a simulator in the reader's browser, and a job. */
export const browserAndJob: Relation = {
  one: 'the run in the browser',
  other: 'the job',
  ofOne: 'in the browser',
  ofOther: 'in the job',
  repeats: false,
  sameBackend: false
}
