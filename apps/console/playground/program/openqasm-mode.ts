// How OpenQASM is coloured, word by word. Faults come from the reader, so this knows no grammar.
import type { StreamParser, StringStream } from '@codemirror/language'

const keywords = new Set(
  (
    'OPENQASM include gate opaque if else for while in switch case default break continue end return def cal defcal ' +
    'ctrl negctrl inv pow measure reset barrier delay box let const input output extern'
  ).split(' ')
)
const types = new Set(
  'qubit bit int uint float angle bool complex array duration stretch void qreg creg true false pi tau euler'.split(' ')
)

interface State {
  inComment: boolean
}

export const openqasm: StreamParser<State> = {
  name: 'openqasm',
  startState: () => ({ inComment: false }),
  token(stream, state) {
    if (state.inComment) return restOfComment(stream, state)
    if (stream.eatSpace()) return null
    if (stream.match('//')) {
      stream.skipToEnd()
      return 'comment'
    }
    if (stream.match('/*')) {
      state.inComment = true
      return restOfComment(stream, state)
    }
    if (stream.match(/^"[^"]*"?/)) return 'string'
    if (stream.match(/^(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/)) return 'number'
    if (stream.match(/^@\w*|^#\w*/)) return 'meta'
    if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) {
      const word = stream.current()
      return keywords.has(word) ? 'keyword' : types.has(word) ? 'atom' : 'variableName'
    }
    stream.next()
    return null
  },
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } } }
}

function restOfComment(stream: StringStream, state: State): string {
  if (stream.match(/^.*?\*\//)) state.inComment = false
  else stream.skipToEnd()
  return 'comment'
}
