// Health checks over HTTP.

/** Rejects unless GET returns 200. */
export async function probeHttp(url: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(url, { signal, headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`GET ${url} returned ${response.status}`)
}
