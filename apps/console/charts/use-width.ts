import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** Before the place of a chart is known. */
const WIDTH_BEFORE = 640

/** The width of an element in pixels. A chart is laid out for it, so its texts keep their size. */
export function useWidth<Place extends HTMLElement>(): [place: RefObject<Place | null>, width: number] {
  const place = useRef<Place>(null)
  const [width, setWidth] = useState(WIDTH_BEFORE)
  useLayoutEffect(() => {
    const element = place.current
    if (!element) return
    const measure = () => {
      // A place that is not shown has no width, and keeps the one that it had.
      if (element.clientWidth > 0) setWidth(element.clientWidth)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [place, width]
}
