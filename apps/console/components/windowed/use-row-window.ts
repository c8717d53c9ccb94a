// Which rows of a long list are on the page. All rows have one height, so the place of each is known without drawing it.
import { type RefObject, useEffect, useRef, useState } from 'react'

/** The rows of a list that are on the page: from the first one to before the last. */
export interface SeenRows {
  from: number
  to: number
}

/** Rows above and below what is seen, so that a fast scroll does not show an empty place. */
const OVERSCAN = 12
/** Before the place of the list is known. */
const FIRST = 40

/** @param place the element that holds the rows. */
export function useRowWindow<Place extends HTMLElement>(
  count: number,
  rowHeight: number
): [place: RefObject<Place | null>, rows: SeenRows] {
  const place = useRef<Place>(null)
  const [rows, setRows] = useState<SeenRows>({ from: 0, to: FIRST })
  useEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      if (!place.current) return
      const above = -place.current.getBoundingClientRect().top
      const from = Math.max(0, Math.floor(above / rowHeight) - OVERSCAN)
      const to = Math.ceil((above + window.innerHeight) / rowHeight) + OVERSCAN
      // In steps, so that not each pixel of a scroll draws the rows anew.
      const step = OVERSCAN / 2
      const next = { from: Math.floor(from / step) * step, to: Math.max(1, Math.ceil(to / step) * step) }
      setRows((known) => (known.from === next.from && known.to === next.to ? known : next))
    }
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    look()
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', soon)
      window.removeEventListener('resize', soon)
    }
  }, [rowHeight])
  const to = Math.min(count, rows.to)
  return [place, { from: Math.min(rows.from, to), to }]
}
