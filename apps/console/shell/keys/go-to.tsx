// Ctrl-K: pages, backends, teams, and jobs by id or by what their name holds.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Autocomplete, Input, Menu, MenuItem, SearchField } from 'react-aria-components'
import { backendsQuery, sessionQuery } from '../../api/queries.js'
import { Modal } from '../../components/modal.js'
import styles from './keys.module.css'

/** More than this would have to scroll, and the keys stay in the field. */
const SHOWN_MAX = 10

interface Place {
  id: string
  text: string
  go: () => unknown
}

export function GoTo({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const { data: catalogue } = useQuery(backendsQuery)
  const { data: session } = useQuery(sessionQuery)
  const [text, setText] = useState('')
  const fixed: Place[] = [
    { id: 'run', text: 'Playground', go: () => navigate({ to: '/run' }) },
    { id: 'jobs', text: 'Jobs', go: () => navigate({ to: '/jobs' }) },
    { id: 'compare', text: 'Compare two jobs', go: () => navigate({ to: '/jobs/compare' }) },
    { id: 'scripts', text: 'Scripts', go: () => navigate({ to: '/scripts' }) },
    { id: 'capsules', text: 'Capsules', go: () => navigate({ to: '/capsules' }) },
    { id: 'public', text: 'Published capsules', go: () => navigate({ to: '/public' }) },
    { id: 'backends', text: 'Backends', go: () => navigate({ to: '/backends' }) },
    { id: 'team', text: 'Team', go: () => navigate({ to: '/team/members' }) },
    { id: 'profile', text: 'Your profile', go: () => navigate({ to: '/profile' }) },
    { id: 'audit', text: 'Audit', go: () => navigate({ to: '/audit' }) },
    ...(session?.user.is_platform_admin
      ? [{ id: 'admin', text: 'Administration', go: () => navigate({ to: '/admin/system' }) }]
      : []),
    ...(session?.teams ?? []).map(({ id, name }) => ({
      id: `team ${id}`,
      text: `Team ${name}`,
      go: () => navigate({ to: '/jobs', search: { team: id } })
    })),
    ...(catalogue?.backends ?? []).map(({ slug, name }) => ({
      id: `backend ${slug}`,
      text: `Jobs on ${name}`,
      go: () => navigate({ to: '/jobs', search: { backend: slug } })
    }))
  ]
  const wanted = text.trim()
  const found = fixed.filter((place) => place.text.toLowerCase().includes(wanted.toLowerCase()))
  const places = wanted === '' ? fixed.slice(0, SHOWN_MAX) : [...found.slice(0, SHOWN_MAX), jobAt(wanted)]

  function jobAt(wish: string): Place {
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(wish)
      ? { id: 'job', text: `Job ${wish}`, go: () => navigate({ to: '/jobs/$id', params: { id: wish } }) }
      : { id: 'search', text: `Jobs that match "${wish}"`, go: () => navigate({ to: '/jobs', search: { q: wish } }) }
  }

  return (
    <Modal title="Go to" onClose={onClose}>
      <Autocomplete inputValue={text} onInputChange={setText}>
        <SearchField aria-label="Page, backend, team or job" autoFocus className={styles.search!}>
          <Input className={styles.input!} placeholder="Page, backend, team, or id or name of a job" />
        </SearchField>
        <Menu
          aria-label="Places"
          className={styles.places!}
          items={places}
          onAction={(key) => {
            onClose()
            places.find(({ id }) => id === key)?.go()
          }}
        >
          {(place) => (
            <MenuItem id={place.id} textValue={place.text} className={styles.place!}>
              {place.text}
            </MenuItem>
          )}
        </Menu>
      </Autocomplete>
    </Modal>
  )
}
