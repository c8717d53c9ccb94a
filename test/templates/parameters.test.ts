// The parameters that the manifest of the templates names, from which the console makes a form.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { readTemplates } from '../../db/scripts/script-templates.js'
import { JobParams } from '../../domain/jobs/params/params.js'
import type { TemplateParameter } from '../../domain/scripts/template-parameter.js'

// Stops at the first circuit or task, which no value out of range reaches.
const program = `
import inspect, json, sys, types
class Reached(Exception): pass
def reached(*_, **__): raise Reached()
marqov = types.ModuleType('marqov')
marqov.Circuit, marqov.get_device, marqov.workflow = object, None, lambda f: f
marqov.task = lambda f=None, **_: reached if callable(f) else (lambda g: reached)
marqov.__getattr__ = lambda name: reached
sys.modules['marqov'] = marqov
import qiskit
qiskit.QuantumCircuit.__init__ = reached
def outcome(main, given):
    try: main(**given)
    except Reached: return 'taken'
    except Exception as error: return 'refused' if list(given)[-1] in str(error) else repr(error)
    return 'taken'
answers = []
for source, entry, tries in json.load(sys.stdin):
    space = {'device': types.SimpleNamespace(run=reached)}
    exec(source, space)
    main = space[entry]
    defaults = {n: p.default for n, p in inspect.signature(main).parameters.items() if n not in ('shots', 'backend')}
    shots = {'shots': 10}
    answers.append([defaults, [outcome(main, {**shots, **given}) for given in tries]])
print(json.dumps(answers))
`

interface Try {
  given: Record<string, unknown>
  outcome: 'taken' | 'refused'
}

/** The ends of each range, and what lies just outside. */
const triesOf = (parameters: readonly TemplateParameter[]): Try[] =>
  parameters.flatMap(({ name, type, minimum, maximum, pattern, min_items }): Try[] => {
    const taken = (value: unknown): Try => ({ given: { [name]: value }, outcome: 'taken' })
    const refused = (value: unknown): Try => ({ given: { [name]: value }, outcome: 'refused' })
    if (pattern !== undefined)
      return [taken('01'), taken('01010101'), refused('0'), refused('010101010'), refused('2x')]
    // The service checks a seed, whatever runs.
    if (name === 'seed' || minimum === undefined || maximum === undefined) return []
    if (type !== 'integers') return [taken(minimum), taken(maximum), refused(minimum - 1), refused(maximum + 1)]
    const few = [minimum, minimum + 1, maximum].slice(0, min_items! - 1)
    return [
      taken([minimum, minimum + 1, maximum]),
      refused(few),
      refused([minimum - 1, minimum, minimum + 1]),
      refused([minimum, minimum + 1, maximum + 1])
    ]
  })

test('the parameters of every template in the manifest are those of its code, with its defaults and ranges', () => {
  const templates = readTemplates(join(projectRoot, 'db/seed/templates'))
  const tries = templates.map(({ metadata }) => triesOf(metadata.parameters!))
  const input = templates.map(({ content, metadata }, at) => [
    content,
    metadata.entry_point,
    tries[at]!.map(({ given }) => given)
  ])
  const run = spawnSync(join(projectRoot, '.venv/bin/python'), ['-c', program], {
    input: JSON.stringify(input),
    encoding: 'utf8'
  })
  expect(run.stderr).toBe('')
  for (const [at, [defaults, outcomes]] of (JSON.parse(run.stdout) as [object, string[]][]).entries()) {
    const { slug, metadata } = templates[at]!
    expect([slug, Object.fromEntries(metadata.parameters!.map((one) => [one.name, one.default]))]).toEqual([
      slug,
      defaults
    ])
    expect([slug, outcomes]).toEqual([slug, tries[at]!.map(({ outcome }) => outcome)])
  }
})

test('parameters that the service checks itself have the ranges that it allows', () => {
  const checked: Readonly<Record<string, object>> = JobParams.properties
  for (const { slug, metadata } of readTemplates(join(projectRoot, 'db/seed/templates')))
    for (const { name, minimum, maximum } of metadata.parameters!)
      if (name in checked) {
        const { minimum: least, maximum: most } = checked[name] as { minimum?: number; maximum?: number }
        expect({ slug, name, minimum, maximum }).toEqual({ slug, name, minimum: least, maximum: most })
      }
})
