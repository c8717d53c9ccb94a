// The addresses of pages in the web console, which the api serves.
import { readStackFile } from '../stack/data-dir.js'
import { dataFolder } from '../stack/project.js'
import { isLoopback } from './service-url.js'

export const jobPage = (serviceUrl: string, id: string, env: NodeJS.ProcessEnv = process.env): string =>
  page(serviceUrl, 'jobs', id, env)

export const capsulePage = (serviceUrl: string, id: string, env: NodeJS.ProcessEnv = process.env): string =>
  page(serviceUrl, 'capsules', id, env)

/**
 * Browsers reach the service at the address that `qjob` calls, unless it runs on this machine behind PUBLIC_URL: that of the
 * environment, as in the api's container, or of the stack that runs from DATA_DIR.
 */
function page(serviceUrl: string, list: 'jobs' | 'capsules', id: string, env: NodeJS.ProcessEnv): string {
  const console = isLoopback(serviceUrl) ? publicOrigin(serviceUrl, env) : null
  return `${console ?? serviceUrl}/${list}/${encodeURIComponent(String(id).toWellFormed())}`
}

function publicOrigin(serviceUrl: string, env: NodeJS.ProcessEnv): string | null {
  const stack = readStackFile(dataFolder(env))
  const configured = (stack?.url === serviceUrl && stack.public_url) || env.PUBLIC_URL?.trim()
  if (!configured || !URL.canParse(configured)) return null
  const { protocol, origin } = new URL(configured)
  return protocol === 'http:' || protocol === 'https:' ? origin : null
}
