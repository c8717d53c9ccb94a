// The frame of the pages for people who are not signed in.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ConnectionBanners } from '../shell/banners.js'
import { usePageTitle } from '../shell/page-title.js'
import styles from './account-page.module.css'

export function AccountPage({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <main className={styles.page}>
      <p className={styles.name}>
        Quantum Job Service <Link to="/run">Playground</Link>
      </p>
      <h1>{title}</h1>
      <ConnectionBanners />
      {children}
    </main>
  )
}
