// What a migration may not do, because the release before it runs and writes while the database is upgraded, and after it.
// docs/extending/adding-a-migration.md has the rules, and the marks that allow more. SQL that a block of code puts together
// is not read.

import { partsOf } from '../../support/sql-text.js'

type Mark = 'contract' | 'old writes' | 'replaced' | 'short' | 'repeatable'
type Breach = [neededMark: Mark, what: string]

/** @returns one line for each breach; none for a migration that only expands the schema, or says why it may do more. */
export function breachesOf(text: string): string[] {
  const [comments] = /^(?:[ \t]*--(?!>).*\n|[ \t]*\n)*/.exec(text)!
  const has = (mark: string): boolean => new RegExp(`^\\s*-- ${mark}: \\S`, 'm').test(comments)
  const isContract = has('contract \\d+')
  const isAllowed = (mark: Mark): boolean =>
    mark === 'contract' ? isContract : mark === 'old writes' ? isContract || has(mark) : has(mark)
  return breaches(text, has('concurrently'))
    .filter(([mark]) => !isAllowed(mark))
    .map(([, what]) => what)
}

function breaches(text: string, isConcurrent: boolean): Breach[] {
  const statements = statementsOf(text)
  const made = new Set(statements.flatMap((one) => /^create table (?:if not exists )?(\w+)/.exec(one)?.[1] ?? []))
  return statements.flatMap((statement, at) => {
    if (isRebuilt(statement, statements[at + 1])) return []
    const outside: Breach[] =
      isConcurrent && !isRebuilt(statements[at - 1], statement)
        ? [
            [
              'repeatable',
              `"${short(statement)}" cannot be repeated after a stop: outside a transaction goes only an index, after "drop index concurrently if exists" of the same name`
            ]
          ]
        : []
    const table = tableOf(statement)
    if (table !== null && made.has(table)) return outside
    return [...outside, ...actionsOf(statement).flatMap((action) => breachesOfAction(action))]
  })
}

/** Whether an index is dropped only to be built again: a build that was stopped leaves an index that is not valid. */
function isRebuilt(drop: string | undefined, build: string | undefined): boolean {
  const name = /^drop index concurrently if exists (\w+)$/.exec(drop ?? '')?.[1]
  return name !== undefined && new RegExp(`^create (unique )?index concurrently ${name} on `).test(build ?? '')
}

const rules: [pattern: RegExp, neededMark: Mark, effect: string][] = [
  [/^(alter column \w+ )?drop (?!not null|index)|^truncate /, 'contract', 'takes away what the release before uses'],
  [/^drop index /, 'replaced', 'takes away what makes queries of the release before fast'],
  [/^(alter .*)?rename /, 'contract', 'renames what the release before uses'],
  [/^alter column \w+ set not null/, 'contract', 'refuses rows that the release before writes'],
  [/^alter column \w+ (set data )?type |^alter type /, 'contract', 'changes a type that the release before uses'],
  [
    /^add (?!constraint)(?!.*\b(default|generated)\b).*\b(not null|primary key)\b/,
    'contract',
    'needs a default: the release before writes rows without it'
  ],
  [
    /^add (?=.*\b(check|unique|references|foreign key|exclude|primary key)\b)/,
    'old writes',
    'can refuse what the release before writes'
  ],
  [
    /^create unique index |^create (or replace )?(constraint )?trigger |^create or replace (function|procedure|view|rule) /,
    'old writes',
    'can refuse or change what the release before writes'
  ],
  [/^create (unique )?index (?!concurrently )/, 'short', 'blocks writes while it is built: build it concurrently'],
  [
    /^add (constraint )?.*\b(unique|primary key|exclude)\b/,
    'short',
    'blocks reads and writes while its index is built'
  ],
  [
    /^add .*\bdefault (clock_timestamp|timeofday|gen_random_uuid|uuidv\d|random|nextval)\b/,
    'short',
    'writes the whole table, which blocks reads and writes'
  ],
  [
    /^(with .* )?(update|delete from) |^insert into .* select /,
    'short',
    'locks the rows that it changes until all are changed'
  ]
]

const breachesOfAction = (action: string): Breach[] =>
  rules.flatMap(([pattern, mark, effect]): Breach[] =>
    pattern.test(action) ? [[mark, `"${short(action)}" ${effect}`]] : []
  )

const short = (text: string): string => (text.length > 90 ? `${text.slice(0, 90)}...` : text)

/** The statements in lower case, without comments, quotes of names and contents of literals; those of DO blocks by themselves. */
function statementsOf(text: string): string[] {
  return text
    .replace(/\bdo\s+(\$\w*\$)([\s\S]*?)\1/gi, (_block, _tag, body: string) => `;${body};`)
    .replace(/(\$\w*\$)[\s\S]*?\1/g, "''")
    .replace(/--.*$/gm, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/'(?:[^']|'')*'/g, "''")
    .replaceAll('"', '')
    .replace(/\bpublic\./gi, '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase())
    .map((statement) => statement.replace(/^((declare .*|begin|if .* then|else|(for|while) .* loop|loop) )+/, ''))
    .filter((statement) => statement !== '' && !/^end( if| loop)?$/.test(statement))
}

/** The table that a statement changes. */
const tableOf = (statement: string): string | null =>
  /^alter table (?:if exists )?(?:only )?(\w+)/.exec(statement)?.[1] ??
  /^create (?:unique )?index .*? on (?:only )?(\w+)/.exec(statement)?.[1] ??
  /^create (?:or replace )?(?:constraint )?trigger .*? on (\w+)/.exec(statement)?.[1] ??
  /^(?:insert into|update|delete from) (?:only )?(\w+)/.exec(statement)?.[1] ??
  null

/** The actions of an ALTER TABLE; of another statement, itself. */
function actionsOf(statement: string): string[] {
  const actions = /^alter table (?:if exists )?(?:only )?\w+ (.*)$/.exec(statement)?.[1]
  return actions === undefined
    ? [statement]
    : partsOf(actions).map((part) => part.replace(/^alter (?!column )/, 'alter column '))
}
