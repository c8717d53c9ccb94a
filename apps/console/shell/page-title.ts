import { useEffect } from 'react'

const SERVICE = 'Quantum Job Service'

/** Names the page in the browser's tab and history. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${SERVICE}`
    return () => {
      document.title = SERVICE
    }
  }, [title])
}
