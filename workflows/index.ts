// The workflows that a worker registers.
export { runJob } from './run-job.js'
export { runJobAtProvider } from './run-job-at-provider.js'
export { verifyCapsule } from './verify-capsule.js'
