// The versions of a script, and what differs between any two.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { sessionQuery } from '../../api/queries.js'
import { Button } from '../../components/button.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { TextBlock } from '../../components/text-block.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { personText } from '../person-text.js'
import { type Script, versionQuery, versionsQuery } from '../script-queries.js'
import { comparedVersions } from './compared-versions.js'

const SourceDiff = lazy(() => import('./source-diff.js').then(({ SourceDiff }) => ({ default: SourceDiff })))
const route = getRouteApi('/signed-in/scripts/$id')

export function VersionsPanel({ script }: { script: Script }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(versionsQuery(script.id))
  const { data: session } = useQuery(sessionQuery)
  if (!list.data) return list.error ? <Refusal error={list.error} /> : <Loading />
  const versions = list.data.pages.flatMap((page) => page.versions)
  const compared = comparedVersions(
    versions.map(({ version }) => version),
    search
  )
  const choose = (changes: { from?: number; to?: number }) =>
    void navigate({ search: (known) => ({ ...known, ...compared, ...changes }), replace: true, resetScroll: false })
  const options = versions.map(({ version }) => ({ value: String(version), text: `Version ${version}` }))
  return (
    <>
      <Table label="Versions" heads={['Version', 'Saved', 'By', 'Framework', 'Size', 'SHA-256']}>
        {versions.map((row) => (
          <tr key={row.version}>
            <td>
              {row.version}
              {row.version === script.version ? ' (present)' : ''}
            </td>
            <td>
              <Time at={row.created_at} />
            </td>
            <td>{personText(row.created_by, session?.user.id)}</td>
            <td>{row.framework}</td>
            <td>{groupedDigits(row.source_bytes)} bytes</td>
            <Wide>
              <code>{row.source_sha256}</code>
            </Wide>
          </tr>
        ))}
      </Table>
      {list.hasNextPage ? (
        <p>
          <Button onPress={() => void list.fetchNextPage()} isDisabled={list.isFetchingNextPage}>
            Show older versions
          </Button>
        </p>
      ) : null}
      {versions.length > 1 ? (
        <>
          <h2>What differs</h2>
          <div className={layout.filters}>
            <Choice
              label="From"
              value={String(compared.from)}
              options={options}
              onChange={(from) => choose({ from: Number(from) })}
            />
            <Choice
              label="To"
              value={String(compared.to)}
              options={options}
              onChange={(to) => choose({ to: Number(to) })}
            />
          </div>
          <Difference id={script.id} {...compared} />
        </>
      ) : null}
    </>
  )
}

function Difference({ id, from, to }: { id: string; from: number; to: number }) {
  const [before, after] = [useQuery(versionQuery(id, from)), useQuery(versionQuery(id, to))]
  if (!before.data || !after.data) {
    const error = before.error ?? after.error
    return error ? <Refusal error={error} /> : <Loading />
  }
  const requirements = [before.data.requirements ?? '', after.data.requirements ?? ''] as const
  return (
    <>
      <Suspense fallback={<Loading />}>
        <SourceDiff
          label={`From version ${from} to version ${to}`}
          before={before.data.script_content}
          after={after.data.script_content}
        />
      </Suspense>
      {requirements[0] === requirements[1] ? null : (
        <>
          <h3>Requirements of version {from}</h3>
          <TextBlock label={`Requirements of version ${from}`} text={requirements[0] || 'none'} />
          <h3>Requirements of version {to}</h3>
          <TextBlock label={`Requirements of version ${to}`} text={requirements[1] || 'none'} />
        </>
      )}
    </>
  )
}
