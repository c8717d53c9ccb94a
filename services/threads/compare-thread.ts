// What a comparing thread runs (compare-pool.ts). Bundled as a program of its own, since a thread starts from a file.
import { compareJobs } from './compare-jobs.js'
import { threadProgram } from './thread-program.js'

export default threadProgram(compareJobs)
