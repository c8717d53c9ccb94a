// Whether two stored results are equal except for what differs between any two runs: times, and the ids that the
// service and a provider assign. Values are compared as text: a number can be larger than a JavaScript number can hold.
import { jsonFields, jsonItems } from '../json/json-text.js'

/** Fields that differ in every run: its time, and the times of its tasks. */
const differsInEveryRun = ['execution_time_ms', '_workflow_metadata']

/** @param one JSON text of a result, as is `other`. */
export const isSameResult = (one: string, other: string): boolean => comparable(one) === comparable(other)

function comparable(text: string): string {
  const fields = jsonFields(text)
  for (const name of differsInEveryRun) fields.delete(name)
  const metadata = fields.get('metadata')
  if (metadata?.startsWith('{')) fields.set('metadata', without(metadata, 'provider_job_id'))
  const outputs = fields.get('outputs')
  // In a native submission, an artifact is named after its job and its content. The digest of the content is compared.
  if (fields.has('protocol_version') && outputs?.startsWith('['))
    fields.set('outputs', jsonItems(outputs).map(withoutArtifactId).join())
  return shown(fields)
}

function withoutArtifactId(output: string): string {
  if (!output.startsWith('{')) return output
  const fields = jsonFields(output)
  const artifact = fields.get('artifact')
  if (artifact?.startsWith('{')) fields.set('artifact', without(artifact, 'artifact_id'))
  return shown(fields)
}

function without(object: string, name: string): string {
  const fields = jsonFields(object)
  fields.delete(name)
  return shown(fields)
}

const shown = (fields: Map<string, string>): string => JSON.stringify([...fields].sort(([a], [b]) => (a < b ? -1 : 1)))
