// The workflows that a worker registers. Where workflow code has versions (TEMPORAL_DEPLOYMENT), the job of some minutes that
// `runJob` is stays with workers of its version. The others can last for days, and move to the current version: every change
// of their code needs `patched`.
import { setWorkflowOptions } from '@temporalio/workflow'
import { runJob } from './run-job.js'
import { runJobAtProvider } from './run-job-at-provider.js'
import { verifyCapsule } from './verify-capsule.js'

setWorkflowOptions({ versioningBehavior: 'PINNED' }, runJob)
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, runJobAtProvider)
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, verifyCapsule)

export { runJob, runJobAtProvider, verifyCapsule }
