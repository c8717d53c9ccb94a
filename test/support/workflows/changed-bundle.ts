import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWorkflowCode } from '@temporalio/worker'
import { projectRoot } from '../../../apps/cli/stack/project.js'

const silent = { trace() {}, debug() {}, info() {}, log() {}, warn() {}, error() {} }

/** The workflows of another release: the present ones, changed so that histories of one do not replay with the other. */
export async function changedWorkflowBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(projectRoot, 'workflows/index.ts'),
    workflowInterceptorModules: [join(projectRoot, 'test/support/workflows/sleeps-first.ts')],
    logger: silent
  })
  const folder = join(projectRoot, '.test', 'workflows')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `changed-${process.pid}.js`)
  writeFileSync(file, code)
  return file
}
