// Completion scripts for shells. They contain the whole tree of commands, so that a key press starts no program.
import type { Command, Option } from 'commander'

interface Level {
  /** The words of the command after `qjob`; empty for qjob itself. */
  path: string
  commands: readonly Command[]
  options: readonly Option[]
  /** What its first argument can be, where that is known. */
  choices: readonly string[]
}

function levels(command: Command, path = ''): Level[] {
  const commands = command.createHelp().visibleCommands(command)
  return [
    {
      path,
      commands,
      options: command.createHelp().visibleOptions(command),
      choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    },
    // The help command that commander adds has the names of the others as its argument.
    ...command.commands.flatMap((below) => levels(below, `${path} ${below.name()}`.trim()))
  ]
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const flagsOf = ({ long, short }: Option): string[] =>
  [long, short].filter((flag) => flag !== undefined && flag !== null)

/** Whether a word is a value of the option before it. */
const takesValue = ({ required, optional }: Option): boolean => required || optional

export function bashCompletion(program: Command): string {
  const all = levels(program)
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  const values = all.flatMap(({ path, options }) =>
    options.filter(takesValue).map((option) => {
      const patterns = flagsOf(option).map((flag) => quoted(`${path} ${flag}`))
      return `    ${patterns.join('|')}) words=${quoted((option.argChoices ?? []).join(' '))}; value=1 ;;`
    })
  )
  const words = all.map(({ path, commands, options, choices }) => {
    const names = [
      ...commands.map((command) => command.name()),
      ...choices,
      ...options.flatMap(({ long }) => long ?? [])
    ]
    return `    ${quoted(path)}) words=${quoted(names.join(' '))} ;;`
  })
  return `# Completion of qjob for bash.
_qjob() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' words='' value='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${paths.join('|')}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $previous" in
${values.join('\n')}
  esac
  [ -n "$value" ] || case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _qjob qjob
`
}

export const zshCompletion = (program: Command): string => `#compdef qjob
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(program)}`

export function fishCompletion(program: Command): string {
  const all = levels(program)
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  const lines = all.flatMap(({ path, commands, options, choices }) => {
    const at = `complete -c qjob -n ${quoted(`__qjob_at ${quoted(path)}`)}`
    return [
      ...commands.map((command) => `${at} -f -a ${command.name()} -d ${quoted(command.description())}`),
      ...choices.map((choice) => `${at} -f -a ${choice}`),
      ...options.flatMap((option) => {
        const { long, short, argChoices, description } = option
        if (!long) return []
        const flags = `-l ${long.slice(2)}${short ? ` -s ${short.slice(1)}` : ''}`
        const value = !takesValue(option) ? '' : argChoices ? ` -x -a ${quoted(argChoices.join(' '))}` : ' -r'
        return [`${at} ${flags}${value} -d ${quoted(description)}`]
      })
    ]
  })
  return `# Completion of qjob for fish.
function __qjob_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- $longer ${paths.join(' ')}; and set path $longer
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`
}
