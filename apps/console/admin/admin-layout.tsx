import { Outlet } from '@tanstack/react-router'
import { PageNav } from '../components/page-nav.js'

const pages = [
  { to: '/admin/system', text: 'System' },
  { to: '/admin/money', text: 'Money' },
  { to: '/admin/teams', text: 'Teams' },
  { to: '/admin/users', text: 'Users' },
  { to: '/admin/jobs', text: 'Jobs' },
  { to: '/admin/access-codes', text: 'Access codes' },
  { to: '/admin/backends', text: 'Backends' },
  { to: '/admin/capsules', text: 'Public capsules' },
  { to: '/admin/audit', text: 'Actions' }
] as const

export function AdminLayout() {
  return (
    <>
      <PageNav label="Administration" pages={pages} />
      <Outlet />
    </>
  )
}
