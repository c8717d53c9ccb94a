import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** Of the chart that was measured last: the next one most often is as wide, and is laid out once instead of twice. */
let lastWidth = 640

/** The width of an element in pixels. A chart is laid out for it, so its texts keep their size. */
export function useWidth<Place extends HTMLElement>(): [place: RefObject<Place | null>, width: number] {
  const place = useRef<Place>(null)
  const [width, setWidth] = useState(lastWidth)
  useLayoutEffect(() => {
    const element = place.current
    if (!element) return
    const measure = () => {
      // A place that is not shown has no width, and keeps the one that it had.
      if (element.clientWidth === 0) return
      lastWidth = element.clientWidth
      setWidth(lastWidth)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [place, width]
}
