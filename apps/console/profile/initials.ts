import { shownText } from '../text/shown-text.js'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The first characters of the first and the last word; `?` for a name without any. */
export function initialsOf(name: string): string {
  const words = shownText(name.slice(0, 200))
    .split(/[\s_-]+/)
    .filter(Boolean)
  const ends = words.length > 1 ? [words[0]!, words.at(-1)!] : words
  const first = (word: string) => [...graphemes.segment(word)][0]?.segment ?? ''
  return ends.map(first).join('').toUpperCase() || '?'
}
