// The workflows that a worker registers. Where workflow code has versions (TEMPORAL_DEPLOYMENT), the job of some minutes that
// `runJob` is stays with workers of its version. The others can last for days, and move to the current version, as the worker
// asks for all that do not say otherwise: every change of their code needs `patched`.
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow'
import { runJob } from './run-job.js'
import { runJobAtProvider } from './run-job-at-provider.js'
import { verifyCapsule } from './verify-capsule.js'

// The server refuses the answers of a worker without versions that asks for one.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
  runJob
)

export { runJob, runJobAtProvider, verifyCapsule }
