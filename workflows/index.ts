// The workflows that a worker registers.
export { runJob } from './run-job.js'
