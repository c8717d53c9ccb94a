// Reads lists in the text of SQL statements that tests look at. None of them has parentheses or commas in a literal.

/** What commas outside of parentheses separate. */
export function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of list) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts.map((part) => part.trim())
}

/** The rows of a VALUES list that begins at `start`, each with its parentheses, and where the list ends. */
export function rowsAt(text: string, start: number): { rows: string[]; end: number } {
  const rows: string[] = []
  for (let end = start; ; ) {
    const [gap] = (rows.length === 0 ? /^\s*(?=\()/ : /^\s*,\s*(?=\()/).exec(text.slice(end)) ?? []
    if (gap === undefined) return { rows, end }
    const from = end + gap.length
    let depth = 0
    end = from
    do {
      if (text[end] === '(') depth++
      if (text[end] === ')') depth--
      end++
    } while (depth > 0 && end < text.length)
    rows.push(text.slice(from, end))
  }
}
