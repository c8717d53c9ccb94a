// The result of a native submission, as the public client reads it: for each task whose result the workflow returns, where
// the value is stored, and the value itself if JSON can express it. Values are passed on as text and never parsed: their
// numbers can be larger than a JavaScript number can hold.
import { createHash } from 'node:crypto'
import type { DbOrTx } from '../../db/client.js'
import { type ReturnedResult, returnedResults } from '../../db/jobs/task-results.js'
import { valueTexts } from '../../db/jobs/task-values.js'
import { displayProtocol, resultProtocol } from '../../domain/jobs/native/native-submission.js'
import { jsonObject } from '../../domain/json/json-text.js'

/** All values shown in one result. With the fields around 2,000 values, it stays below the limit for a result, 16 MiB. */
const SHOWN_BYTES_MAX = 14 * 1024 * 1024

/**
 * JSON text of the result of a job whose last graph is done.
 * @throws Error when that graph is not done.
 */
export async function managedResult(db: DbOrTx, jobId: string, teamId: string): Promise<string> {
  const returned = await returnedResults(db, jobId)
  const shown = fitting(returned)
  const texts = await valueTexts(db, jobId, [...new Set(shown.values())])
  const outputs = returned.map((result) => {
    const digest = shown.get(result.nodeId)
    return output(jobId, teamId, result, digest === undefined ? null : texts.get(digest)!)
  })
  return jsonObject([
    ['protocol_version', JSON.stringify(resultProtocol)],
    ['outputs', `[${outputs.join(',')}]`]
  ])
}

/** The digest of the text of each task whose value is shown: in order, as long as there is room. */
function fitting(returned: ReturnedResult[]): Map<string, string> {
  const shown = new Map<string, string>()
  let bytes = 0
  for (const { nodeId, display } of returned) {
    if (!display || bytes + display.sizeBytes > SHOWN_BYTES_MAX) continue
    bytes += display.sizeBytes
    shown.set(nodeId, display.sha256)
  }
  return shown
}

function output(jobId: string, teamId: string, result: ReturnedResult, value: string | null): string {
  const { nodeId, sha256, sizeBytes, display, displayProblem } = result
  const artifact = {
    artifact_id: artifactId(jobId, sha256),
    team_id: teamId,
    schema: 'python-value/v1',
    sha256,
    size_bytes: sizeBytes
  }
  const reason = display
    ? `the value is too large to be shown with the others; it is the file ${nodeId}.json of the job`
    : (displayProblem ?? 'the value cannot be expressed in JSON')
  const shown = jsonObject([
    ['protocol_version', JSON.stringify(displayProtocol)],
    ['result_sha256', JSON.stringify(sha256)],
    ['state', JSON.stringify(value === null ? 'unavailable' : 'available')],
    ...(value === null ? ([['reason', JSON.stringify(reason)]] as const) : ([['value', value]] as const))
  ])
  return jsonObject([
    ['task_key', JSON.stringify(nodeId)],
    ['port', '"result"'],
    ['artifact', JSON.stringify(artifact)],
    ['display', shown]
  ])
}

/** The same content of the same job has the same id: a UUID of version 8, whose bits are free to choose. */
function artifactId(jobId: string, sha256: string): string {
  const bytes = createHash('sha256').update(`${jobId}/${sha256}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
