import { Link, type LinkProps } from '@tanstack/react-router'
import styles from './parts.module.css'

/** Links to pages that belong together, above each of them. */
export const PageNav = ({
  label,
  pages
}: {
  label: string
  pages: readonly { to: LinkProps['to']; text: string }[]
}) => (
  <nav className={styles.nav} aria-label={label}>
    {pages.map(({ to, text }) => (
      <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
        {text}
      </Link>
    ))}
  </nav>
)
