// A published capsule, for everyone: what was run, what came out, whether it still holds, and whether its signature does.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { sessionQuery } from '../../api/queries.js'
import { Button } from '../../components/button.js'
import { Fact, Facts } from '../../components/facts.js'
import layout from '../../components/layout.module.css'
import { Loading, Refusal } from '../../components/notice.js'
import { Pager } from '../../components/pager.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import own from '../capsules.module.css'
import { CloneDialog } from '../create/clone-dialog.js'
import { EvidenceFiles } from '../panels/evidence.js'
import { Readme } from '../publish/readme.js'
import { History } from '../verification/history.js'
import { SignatureCheck } from './check/signature-check.js'
import { Programs } from './programs.js'
import { type PublishedCapsule, pathOf, publicCapsuleQuery, publicVerificationsQuery } from './public-queries.js'
import { SealedResult } from './sealed-result.js'

const route = getRouteApi('/open/public/$slug')

export function PublicPage() {
  const { slug } = route.useParams()
  const capsule = useQuery(publicCapsuleQuery(slug))
  if (capsule.isPending) return <Loading />
  if (!capsule.data) return <Refusal error={capsule.error} />
  return <PublicView key={slug} slug={slug} capsule={capsule.data} />
}

function PublicView({ slug, capsule }: { slug: string; capsule: PublishedCapsule }) {
  const { record, tasks } = capsule
  usePageTitle(record.title)
  return (
    <>
      <div className={layout.bar}>
        <h1>{record.title}</h1>
        <Clone id={record.id} name={record.name} />
      </div>
      <p className={own.text}>{record.description}</p>
      <Facts>
        <Fact name="Identity">
          <span className={own.digest}>{record.capsule_digest}</span>
        </Fact>
        <Fact name="Sealed">
          <Time at={record.sealed_at} />, exit code {record.seal.exit_code}
        </Fact>
        <Fact name="Published">
          <Time at={record.published_at} />
        </Fact>
        <Fact name="Margin">{record.seal.margin}</Fact>
        <Fact name="Backends">{record.backends.join(', ') || '–'}</Fact>
        {record.license === null ? null : <Fact name="License">{record.license}</Fact>}
        {record.category === null ? null : <Fact name="Category">{record.category}</Fact>}
        {record.tags.length > 0 ? <Fact name="Tags">{record.tags.join(', ')}</Fact> : null}
      </Facts>
      <SignatureCheck slug={slug} digest={record.capsule_digest} />
      <p>
        Download <a href={`${pathOf(slug)}/export?format=capsule`}>the capsule package</a>,{' '}
        <a href={`${pathOf(slug)}/export?format=rocrate`}>an RO-Crate</a> or{' '}
        <a href={`${pathOf(slug)}/attestation`} download={`${slug}.attestation.json`}>
          the signed attestation
        </a>
        .
      </p>
      {record.readme === null ? null : (
        <section aria-label="Readme">
          <Readme text={record.readme} />
        </section>
      )}
      <Verdicts slug={slug} />
      <section aria-label="Results">
        <h2>Results</h2>
        <SealedResult path={`${pathOf(slug)}/files`} files={record.evidence.artifacts} />
      </section>
      <section aria-label="Programs">
        <h2>Programs</h2>
        <Programs tasks={tasks} />
      </section>
      <section aria-label="Evidence">
        <h2>Evidence</h2>
        <EvidenceFiles files={record.evidence.artifacts} path={`${pathOf(slug)}/files`} />
      </section>
    </>
  )
}

/** Who is not signed in comes back here afterwards. */
function Clone({ id, name }: { id: string; name: string }) {
  const { data: session } = useQuery(sessionQuery)
  const { href } = useLocation()
  const [open, setOpen] = useState(false)
  if (!session)
    return (
      <Link to="/sign-in" search={{ return_to: href }}>
        Sign in to clone it into a team of yours
      </Link>
    )
  return (
    <>
      <Button kind="main" onPress={() => setOpen(true)}>
        Clone into my team
      </Button>
      {open ? <CloneDialog capsule={{ id, name, teamId: null }} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function Verdicts({ slug }: { slug: string }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const past = useQuery({ ...publicVerificationsQuery(slug, page), placeholderData: keepPreviousData })
  if (past.error) return <Refusal error={past.error} />
  if (!past.data) return <Loading />
  const { verifications, drift, total } = past.data
  return (
    <section aria-label="Verifications">
      <h2>Verifications</h2>
      {total === 0 ? (
        <p>It has not been verified since it was sealed.</p>
      ) : (
        <>
          <History past={verifications} drift={drift} />
          <Pager
            end={past.data}
            rows={verifications.length}
            noun="verification"
            onPage={(next) => void navigate({ search: (search) => ({ ...search, page: next }), resetScroll: false })}
          />
        </>
      )}
    </section>
  )
}
