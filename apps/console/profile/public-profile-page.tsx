// A profile as everyone sees it. Nothing foreign is requested: initials stand in the place of a picture.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Loading, Refusal } from '../components/notice.js'
import { usePageTitle } from '../shell/page-title.js'
import parts from '../team/parts/parts.module.css'
import { shownText } from '../text/shown-text.js'
import { initialsOf } from './initials.js'
import styles from './profile.module.css'
import { publicProfileQuery } from './profile-queries.js'

export function PublicProfilePage() {
  const { username } = useParams({ strict: false }) as { username: string }
  const { data: profile, error } = useQuery(publicProfileQuery(username))
  const name = profile ? shownText(profile.display_name || profile.username) : username
  usePageTitle(name)
  if (!profile) return error ? <Refusal error={error} /> : <Loading />
  const { github_username: github, twitter_username: twitter } = profile
  return (
    <>
      <div className={styles.head}>
        <span className={styles.initials} aria-hidden="true">
          {initialsOf(profile.display_name || profile.username)}
        </span>
        <div>
          <h1>{name}</h1>
          <p className={parts.quiet}>{profile.username}</p>
        </div>
      </div>
      {profile.bio ? <p className={styles.bio}>{profile.bio}</p> : null}
      <dl className={parts.facts}>
        <Fact title="Place">{profile.location ? shownText(profile.location) : null}</Fact>
        <Fact title="Web page">{profile.website ? <Foreign href={profile.website} /> : null}</Fact>
        <Fact title="GitHub">{github ? <Foreign href={`https://github.com/${github}`} /> : null}</Fact>
        <Fact title="X">{twitter ? <Foreign href={`https://x.com/${twitter}`} /> : null}</Fact>
        <Fact title="LinkedIn">{profile.linkedin_url ? <Foreign href={profile.linkedin_url} /> : null}</Fact>
      </dl>
    </>
  )
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  if (children === null) return null
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The service stores web addresses alone; the scheme is looked at again, since this becomes a link. */
function Foreign({ href }: { href: string }) {
  return /^https?:\/\//i.test(href) ? (
    <a href={href} rel="nofollow noopener noreferrer ugc" target="_blank">
      {shownText(href)}
    </a>
  ) : (
    shownText(href)
  )
}
