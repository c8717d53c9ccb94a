// Health over HTTP: the answer has to be 200.

/** Rejects unless GET answers 200. */
export async function probeHttp(url: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(url, { signal, headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`GET ${url} answers ${response.status}`)
}
