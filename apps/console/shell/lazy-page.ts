import { lazyRouteComponent } from '@tanstack/react-router'
import { loadPart } from './load-part.js'

/** A page with a file of its own, which `loadPart` loads. @param name of the component in it. */
export const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loadPart(load), name)
