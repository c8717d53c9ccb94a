import { useSyncExternalStore } from 'react'

/** Whether the page is seen: a browser shows one tab of a window. */
export const isVisible = (): boolean => document.visibilityState === 'visible'

export function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

export const useVisible = (): boolean => useSyncExternalStore(onVisibility, isVisible)
