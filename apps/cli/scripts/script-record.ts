// The fields of the API's responses about saved scripts that commands show, and the lookup of an id by slug.
import { isIdEnd } from '../../../domain/json/short-id.js'
import type { ApiClient } from '../session/api-client.js'
import { isUuid } from '../session/service-command.js'
import { CliError } from '../terminal/cli-error.js'
import type { ListTotal } from '../terminal/output.js'

export interface ScriptItem {
  id: string
  slug: string
  name: string
  description: string
  script_type: string
  category: string
  is_public: boolean
  is_hardcoded: boolean
  created_at: string
  executions_count: number
}

export interface ScriptRecord extends ScriptItem {
  framework: string
  script_content: string
  requirements: string | null
  version: number
  source_sha256: string
  metadata: {
    functions: { name: string; parameters: string[]; is_task: boolean; is_workflow: boolean }[]
    entry_point: string | null
  }
  updated_at: string
  executions: { id: string; status: string; backend: string; created_at: string; completed_at: string | null }[]
}

export interface ScriptPage extends ListTotal {
  scripts: ScriptItem[]
}

const PAGE_SIZE = 100
/** Each page counts against the rate limit of reads. */
const PAGES_MAX = 20

/** Every script that the caller can see and that matches `query`, up to twenty pages. */
export async function allScripts(api: ApiClient, query: Record<string, string> = {}): Promise<ScriptItem[]> {
  const found: ScriptItem[] = []
  for (let page = 0; page < PAGES_MAX; page++) {
    const search = new URLSearchParams({ ...query, limit: String(PAGE_SIZE), offset: String(page * PAGE_SIZE) })
    const { scripts } = (await api.get<ScriptPage>(`/api/scripts?${search}`)).value
    found.push(...scripts)
    if (scripts.length < PAGE_SIZE) break
  }
  return found
}

/**
 * Returns the id of the script that an argument names: by its id, its slug, or the end of its id. A slug names a script of the
 * caller, or else of the team, or else a template.
 * @throws CliError `refused` if there is none, `usage` if there are several.
 */
export async function scriptIdOf(api: ApiClient, argument: string): Promise<string> {
  if (isUuid(argument)) return argument.toLowerCase()
  const named = (scripts: ScriptItem[]) => scripts.filter(({ slug }) => slug === argument)
  const all = await allScripts(api)
  const visible = named(all)
  const ofTeam = visible.filter((script) => !script.is_public)
  const candidates =
    visible.length < 2
      ? visible
      : ([
          named(await allScripts(api, { user_only: 'true' })),
          ofTeam,
          visible.filter((script) => script.is_hardcoded)
        ].find((scripts) => scripts.length > 0) ?? visible)
  if (candidates.length === 0 && isIdEnd(argument))
    candidates.push(...all.filter(({ id }) => id.endsWith(argument.toLowerCase())))
  if (candidates.length === 0)
    throw new CliError('refused', `no script has the slug or id "${argument}": qjob scripts list lists them`)
  if (candidates.length > 1)
    throw new CliError(
      'usage',
      `several scripts have the slug or id "${argument}"; use a whole id: ${candidates.map(({ id }) => id).join(', ')}`
    )
  return candidates[0]!.id
}
