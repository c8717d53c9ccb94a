// Where the executors are: addresses, and names whose addresses come and go.

export interface ExecutorAddresses {
  /** Addresses such as `http://host:8800`, without a slash at the end. */
  fixed: string[]
  /** Names of DNS that stand for all their addresses, each an executor on this port. */
  names: { host: string; port: number }[]
}

const EVERY_ADDRESS = 'dns+http:'

/**
 * @param text the value of EXECUTOR_URL.
 * @throws Error naming the setting and its part that is wrong.
 */
export function readExecutorAddresses(text: string): ExecutorAddresses {
  const addresses: ExecutorAddresses = { fixed: [], names: [] }
  for (const part of text.split(',').map((one) => one.trim())) {
    const url = URL.canParse(part) ? new URL(part) : null
    const bare = url?.hostname && url.search === '' && url.hash === '' && url.username === '' && url.password === ''
    if (!bare || !['http:', 'https:', EVERY_ADDRESS].includes(url.protocol))
      throw new Error(
        `EXECUTOR_URL: must be addresses such as http://host:8800, or dns+http://name:8800 for all addresses of a name, separated by commas (got '${part}')`
      )
    if (url.protocol !== EVERY_ADDRESS) addresses.fixed.push(part.replace(/\/+$/, ''))
    else if (url.pathname === '' || url.pathname === '/')
      addresses.names.push({ host: url.hostname, port: Number(url.port || 80) })
    else throw new Error(`EXECUTOR_URL: a name of DNS has no path (got '${part}')`)
  }
  return { fixed: [...new Set(addresses.fixed)], names: addresses.names }
}

/** The address of one executor behind a name. */
export const addressOf = (ip: string, port: number): string => `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`
