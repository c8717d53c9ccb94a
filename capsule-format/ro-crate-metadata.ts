// The JSON-LD of an RO-Crate: what each file is, what was run, and where. It is made from the manifest alone, so publishing
// a capsule later does not change its crate.
import { sha256 } from './checksums.js'
import { EXTENSION, type Extension, type Manifest } from './manifest/manifest.js'
import { MANIFEST_NAME, type PackageFile } from './payload-file.js'

const SPECIFICATION = 'https://w3id.org/ro/crate/1.1'
const PROCESS_PROFILE = 'https://w3id.org/ro/wfrun/process/0.5'
const FORMAT = 'https://marqov.ai/schemas/capsule/v1/capsule-schema.json'

type Entity = Record<string, unknown>
const link = (id: string): Entity => ({ '@id': id })
/** JSON-LD's compact form, where a single value is not in a list. */
const single = (values: Entity[]): unknown => (values.length === 1 ? values[0] : values)

/** JSON text of ro-crate-metadata.json. @param files the names of all other files of the crate. */
export function crateMetadata(manifestText: string, files: readonly PackageFile[]): string {
  const manifest = JSON.parse(manifestText) as Manifest
  const date = manifest.sealed_at ?? manifest.created_at ?? '1970-01-01T00:00:00.000Z'
  const { actions, agents } = executions(manifest, files)
  const graph: Entity[] = [
    {
      '@id': 'ro-crate-metadata.json',
      '@type': 'CreativeWork',
      about: link('./'),
      conformsTo: link(SPECIFICATION)
    },
    {
      '@id': './',
      '@type': 'Dataset',
      name: manifest.name,
      description: manifest.description || `The capsule "${manifest.name}": what was run, where, and what came of it.`,
      datePublished: date,
      license: link('#license'),
      ...(manifest.created_by && { author: link('#creator') }),
      ...(manifest.tags?.length && { keywords: manifest.tags.join(', ') }),
      ...(actions.length > 0 && {
        conformsTo: link(PROCESS_PROFILE),
        mentions: single(actions.map((action) => link(action['@id'] as string)))
      }),
      hasPart: files.map(({ name }) => link(fileId(name)))
    },
    {
      '@id': '#license',
      '@type': 'CreativeWork',
      name: 'No license is stated',
      description: 'Ask whoever handed this capsule on what may be done with it.'
    },
    ...files.map(fileEntity),
    ...(actions.length > 0
      ? [{ '@id': PROCESS_PROFILE, '@type': 'CreativeWork', name: 'Process Run Crate', version: '0.5' }]
      : []),
    ...actions,
    ...agents
  ]
  const context = [`${SPECIFICATION}/context`, { sha256: 'http://schema.org/sha256' }]
  return `${JSON.stringify({ '@context': context, '@graph': graph }, null, 2)}\n`
}

/** A relative URI; special characters are percent-encoded. */
const fileId = (name: string): string => name.split('/').map(encodeURIComponent).join('/')

function fileEntity({ name, content }: PackageFile): Entity {
  const capsuleManifest = name.endsWith(`/${MANIFEST_NAME}`) && name.split('/').length === 2
  return {
    '@id': fileId(name),
    '@type': 'File',
    name,
    contentSize: String(content.length),
    encodingFormat: mediaType(name),
    sha256: sha256(content),
    ...(capsuleManifest && { conformsTo: link(FORMAT) })
  }
}

const mediaTypes: Record<string, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  py: 'text/x-python',
  qasm: 'text/plain',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  pub: 'application/x-pem-file',
  checksums: 'text/plain'
}
const mediaType = (name: string): string => {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(mediaTypes, extension) ? mediaTypes[extension]! : 'application/octet-stream'
}

/** The profile's checkers accept an offset, but not its short form. */
const withOffset = (time: string): string => time.replace(/Z$/, '+00:00')

interface Execution {
  task_id: string
  status: string
  start_time?: string
  end_time?: string
  backend: { provider: string; name: string; shots: number }
}

/** One CreateAction for each execution in the manifest, with the people, programs and backends involved. */
function executions(manifest: Manifest, files: readonly PackageFile[]): { actions: Entity[]; agents: Entity[] } {
  const records = (manifest.task_executions ?? []) as unknown as Execution[]
  const extension = manifest.extensions?.[EXTENSION] as Extension | undefined
  const folders = taskFolders(files)
  const agents = new Map<string, Entity>()
  const actions = records.map(({ task_id, backend, start_time, end_time }): Entity => {
    const instrument = `#backend-${encodeURIComponent(backend.name)}`
    agents.set(instrument, {
      '@id': instrument,
      '@type': 'SoftwareApplication',
      name: backend.name,
      description: `Backend of provider ${backend.provider}`
    })
    const folder = folders.get(task_id)
    const parts = folder === undefined ? [] : files.filter(({ name }) => name.startsWith(folder))
    const isResult = ({ name }: PackageFile) => /\/(result\.json|artifacts\/.+|compiled\.[^/]+)$/.test(name)
    return {
      '@id': `#run-${task_id}`,
      '@type': 'CreateAction',
      name: extension?.task_names[task_id] ?? task_id,
      description: `${backend.shots} shots on ${backend.name}`,
      actionStatus: link('http://schema.org/CompletedActionStatus'),
      instrument: link(instrument),
      ...(manifest.created_by && { agent: link('#creator') }),
      ...(start_time && { startTime: withOffset(start_time) }),
      ...(end_time && { endTime: withOffset(end_time) }),
      ...(parts.length > 0 && {
        object: single(parts.filter((file) => !isResult(file)).map(({ name }) => link(fileId(name)))),
        result: single(parts.filter(isResult).map(({ name }) => link(fileId(name))))
      })
    }
  })
  if (manifest.created_by) agents.set('#creator', { '@id': '#creator', '@type': 'Person', name: manifest.created_by })
  return { actions, agents: [...agents.values()] }
}

/** The folder of a task's evidence by the id of its job, read from its job.json. */
function taskFolders(files: readonly PackageFile[]): Map<string, string> {
  const folders = new Map<string, string>()
  for (const { name, content } of files) {
    if (!/\/tasks\/[^/]+\/job\.json$/.test(name)) continue
    try {
      const { id } = JSON.parse(content.toString('utf8')) as { id?: unknown }
      if (typeof id === 'string') folders.set(id, name.slice(0, -'job.json'.length))
    } catch {
      // Its run is described without the files.
    }
  }
  return folders
}
