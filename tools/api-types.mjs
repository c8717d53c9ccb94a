// Writes apps/console/api/schema.ts from the OpenAPI document of this source tree: the types that openapi-fetch reads, and the
// limits of forms.
//
//   node tools/api-types.mjs           writes the file
//   node tools/api-types.mjs --print   prints it
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const methods = ['get', 'put', 'post', 'patch', 'delete']
const places = ['query', 'header', 'path', 'cookie']
const noParameters = block(places.map((place) => [`${place}?`, 'never']))
const refusal = block([
  ['headers', 'Headers'],
  ['content', block([[quoted('application/json'), "components['schemas']['Error']"]])]
])

/** @param document an OpenAPI 3.1 document. @returns a TypeScript module with `paths`, `components` and `formLimits`. */
export function apiTypes(document) {
  const { paths, components } = document
  const resolved = (part) =>
    part.$ref
      ? part.$ref
          .slice(2)
          .split('/')
          .reduce((at, key) => at[unescaped(key)], document)
      : part

  return `// Written by tools/api-types.mjs from the OpenAPI document; a test compares it.
type Headers = { [name: string]: unknown }
type NoParameters = ${noParameters}
type Refusal = ${refusal}

export interface paths ${block(Object.entries(paths).map(([path, item]) => [quoted(path), pathType(item)]))}

export interface components ${block([
    ['schemas', block(Object.entries(components.schemas).map(([name, schema]) => [quoted(name), typeOf(schema)]))]
  ])}

/** The limits of the fields of each operation's body, for forms. */
export const formLimits = ${JSON.stringify(formLimits(), null, 2)} as const
`

  function formLimits() {
    const operations = Object.values(paths).flatMap((item) =>
      methods.filter((method) => item[method]).map((method) => item[method])
    )
    const named = operations.map(({ operationId, requestBody }) => {
      const schema = requestBody && resolved(requestBody).content['application/json']?.schema
      return [operationId, schema ? limitsBelow('', schema) : {}]
    })
    return Object.fromEntries(named.filter(([, fields]) => Object.keys(fields).length > 0))
  }

  /** By path: `name`, `tags[]`, `workflow.tasks[].name`. */
  function limitsBelow(path, part) {
    const schema = resolved(part)
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
    const own = path === '' ? {} : limitsOf(schema)
    return Object.assign(
      Object.keys(own).length > 0 ? { [path]: own } : {},
      ...choices.map((choice) => limitsBelow(path, choice)),
      schema.items ? limitsBelow(`${path}[]`, schema.items) : {},
      ...Object.entries(schema.properties ?? {}).map(([name, property]) =>
        limitsBelow(path === '' ? name : `${path}.${name}`, property)
      )
    )
  }

  function limitsOf(schema) {
    const names = ['minLength', 'maxLength', 'exclusiveMinimum', 'minimum', 'maximum', 'maxItems']
    return Object.fromEntries(names.filter((name) => name in schema).map((name) => [name, schema[name]]))
  }

  function pathType(item) {
    const operations = methods.filter((method) => item[method])
    return block([
      ['parameters', parametersType([])],
      ...operations.map((method) => [method, operationType(item[method])])
    ])
  }

  function operationType({ parameters = [], requestBody, responses }) {
    const body = requestBody && resolved(requestBody)
    return block([
      ['parameters', parametersType(parameters.map(resolved))],
      body
        ? [`requestBody${body.required ? '' : '?'}`, block([['content', contentType(body.content)]])]
        : ['requestBody?', 'never'],
      [
        'responses',
        block(Object.entries(responses).map(([status, response]) => [status, responseType(resolved(response))]))
      ]
    ])
  }

  function parametersType(parameters) {
    if (parameters.length === 0) return 'NoParameters'
    return block(
      places.map((place) => {
        const here = parameters.filter((parameter) => parameter.in === place)
        const needed = here.some(({ required }) => required)
        const fields = here.map(({ name, required, schema }) => [quoted(name) + (required ? '' : '?'), typeOf(schema)])
        return [needed ? place : `${place}?`, here.length > 0 ? block(fields) : 'never']
      })
    )
  }

  function responseType({ content }) {
    const type = block([['headers', 'Headers'], content ? ['content', contentType(content)] : ['content?', 'never']])
    return type === refusal ? 'Refusal' : type
  }

  /** A body that is not JSON is text here. */
  function contentType(content) {
    return block(
      Object.entries(content).map(([mediaType, { schema }]) => [quoted(mediaType), schema ? typeOf(schema) : 'string'])
    )
  }
}

function typeOf(schema) {
  if (schema.$ref) {
    const name = unescaped(schema.$ref.split('/').at(-1))
    return `components['schemas']['${name}']`
  }
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const choice = schema.anyOf ?? schema.oneOf
  if (choice) return union(choice.map(typeOf))
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ')
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `${bracketed(typeOf(schema.items ?? {}))}[]`
    case 'object':
      return objectType(schema)
    default:
      return schema.properties ? objectType(schema) : 'unknown'
  }
}

function objectType({ properties = {}, required = [], additionalProperties, patternProperties }) {
  const fields = Object.entries(properties).map(([name, schema]) => [
    quoted(name) + (required.includes(name) ? '' : '?'),
    typeOf(schema)
  ])
  const others = [...Object.values(patternProperties ?? {}), additionalProperties].filter(Boolean)
  if (others.length === 0) return fields.length > 0 ? block(fields) : 'Record<string, never>'
  const open = `{ [name: string]: ${union(others.map((other) => (other === true ? 'unknown' : typeOf(other))))} }`
  return fields.length > 0 ? `${block(fields)} & ${open}` : open
}

const union = (types) => [...new Set(types)].join(' | ')
const bracketed = (type) => (/[|&]/.test(type) ? `(${type})` : type)
const unescaped = (part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

function quoted(name) {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name.replaceAll("'", "\\'")}'`
}

/** An object type with one field a line. */
function block(fields) {
  if (fields.length === 0) return '{}'
  return `{\n${fields.map(([name, type]) => `  ${name}: ${type.replaceAll('\n', '\n  ')}`).join('\n')}\n}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 }
  const types = apiTypes(JSON.parse(execFileSync(process.execPath, [join(root, 'tools/openapi-doc.mjs')], options)))
  if (process.argv.includes('--print')) process.stdout.write(types)
  else writeFileSync(join(root, 'apps/console/api/schema.ts'), types)
}
