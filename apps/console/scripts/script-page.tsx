// One script: what it is, its source, its versions, the jobs that ran it, and what can be done with it.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { sessionQuery } from '../api/queries.js'
import { Button } from '../components/button.js'
import { Fact, Facts } from '../components/facts.js'
import layout from '../components/layout.module.css'
import { Loading, Refusal } from '../components/notice.js'
import { Parts } from '../components/parts.js'
import { Time } from '../components/text.js'
import { usePageTitle } from '../shell/page-title.js'
import { groupedDigits } from '../text/exact-numbers.js'
import { DeleteDialog, PublishDialog } from './final-dialogs.js'
import { JobsPanel } from './jobs-panel.js'
import { ofText } from './list/script-table.js'
import { personText } from './person-text.js'
import { type Script, scriptQuery } from './script-queries.js'
import { type ScriptTab, scriptTabs } from './script-tabs.js'
import styles from './scripts.module.css'
import { type Drafting, useScriptDraft } from './source/draft.js'
import { SourcePanel } from './source/source-panel.js'
import { VersionsPanel } from './versions/versions-panel.js'

const RunDialog = lazy(() => import('./run/run-dialog.js').then(({ RunDialog }) => ({ default: RunDialog })))
const route = getRouteApi('/signed-in/scripts/$id')

export function ScriptPage() {
  const { id } = route.useParams()
  const script = useQuery(scriptQuery(id))
  if (script.isPending) return <Loading />
  if (!script.data) return <Refusal error={script.error} />
  // A script that was deleted elsewhere: what is on the page, typed text too, stays.
  return (
    <>
      <Refusal error={script.error} />
      <ScriptView key={id} script={script.data} />
    </>
  )
}

function ScriptView({ script }: { script: Script }) {
  usePageTitle(script.name)
  const { data: session } = useQuery(sessionQuery)
  const drafting = useScriptDraft(script.id)
  const hasDraft = drafting.draft !== null
  return (
    <>
      <div className={layout.bar}>
        <h1>{script.name}</h1>
      </div>
      {script.description ? <p className={styles.description}>{script.description}</p> : null}
      <Actions script={script} hasDraft={hasDraft} />
      <Facts>
        <Fact name="Of">{ofText(script, session?.teams ?? [])}</Fact>
        <Fact name="Owner">{personText(script.user_id, session?.user.id)}</Fact>
        <Fact name="Slug">{script.slug}</Fact>
        <Fact name="Type">{script.script_type}</Fact>
        <Fact name="Framework">{script.framework}</Fact>
        <Fact name="Version">{script.version}</Fact>
        <Fact name="Runs from">{script.metadata.entry_point ?? 'the whole file'}</Fact>
        <Fact name="Jobs of your teams">{groupedDigits(script.executions_count)}</Fact>
        <Fact name="Changed">
          <Time at={script.updated_at} />
        </Fact>
        {script.published_at && !script.is_hardcoded ? (
          <Fact name="Published">
            <Time at={script.published_at} />
          </Fact>
        ) : null}
      </Facts>
      <Panels script={script} drafting={drafting} />
    </>
  )
}

/** What the service would refuse now is not pressed, and says why; one reason for several buttons stands there once. */
function Actions({ script, hasDraft }: { script: Script; hasDraft: boolean }) {
  const [open, setOpen] = useState<'run' | 'publish' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const { can } = script
  const shown = script.is_public ? (['delete'] as const) : (['publish', 'delete'] as const)
  const reasons = [...new Set(shown.map((action) => can[action]).filter((verdict) => verdict !== true))]
  return (
    <>
      <div className={layout.bar}>
        <Button kind="main" onPress={() => setOpen('run')}>
          Run
        </Button>
        {shown.map((action) => (
          <Button key={action} onPress={() => setOpen(action)} isDisabled={can[action] !== true}>
            {action === 'publish' ? 'Publish' : 'Delete'}
          </Button>
        ))}
        <span className={layout.quiet}>{reasons.join(' ')}</span>
      </div>
      {open === 'run' ? (
        <Suspense fallback={<Loading />}>
          <RunDialog script={script} hasDraft={hasDraft} onClose={close} />
        </Suspense>
      ) : null}
      {open === 'publish' ? <PublishDialog script={script} hasDraft={hasDraft} onClose={close} /> : null}
      {open === 'delete' ? <DeleteDialog script={script} onClose={close} /> : null}
    </>
  )
}

function Panels({ script, drafting }: { script: Script; drafting: Drafting }) {
  const { tab = 'source' } = route.useSearch()
  const navigate = route.useNavigate()
  const panels = {
    source: <SourcePanel script={script} drafting={drafting} />,
    versions: <VersionsPanel script={script} />,
    jobs: <JobsPanel id={script.id} />
  }
  const select = (part: ScriptTab) =>
    void navigate({ search: (search) => ({ ...search, tab: part }), replace: true, resetScroll: false })
  return <Parts label="Parts of the script" texts={scriptTabs} panels={panels} shown={tab} onShow={select} />
}
