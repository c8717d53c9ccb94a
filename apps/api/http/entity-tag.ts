/**
 * Whether the client has what it asks for: its If-None-Match header names the tag, weak or strong, or is `*`.
 * @param tag with its quotes.
 */
export const isKnown = (header: string | undefined, tag: string): boolean =>
  (header ?? '').split(',').some((known) => ['*', tag, `W/${tag}`].includes(known.trim()))
