import { type RefObject, useEffect, useRef, useState } from 'react'

/** Before the place of a chart is known. */
const WIDTH_BEFORE = 640

/** The width of an element in pixels. A chart is laid out for it, so its texts keep their size. */
export function useWidth<Place extends HTMLElement>(): [place: RefObject<Place | null>, width: number] {
  const place = useRef<Place>(null)
  const [width, setWidth] = useState(WIDTH_BEFORE)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) => {
      const measured = Math.floor(entry?.contentRect.width ?? 0)
      if (measured > 0) setWidth(measured)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [place, width]
}
