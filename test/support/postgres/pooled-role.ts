// A role whose sessions have the limits that a pooler's clients cannot set, as an operator makes it.
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { sessionTimeouts } from '../../../db/client.js'

/** @param withTimeouts `false`: the operator has forgotten them. */
export async function createPooledRole({ withTimeouts }: { withTimeouts: boolean }) {
  const server = process.env.TEST_PG_URL!
  const name = `pooled_${randomBytes(4).toString('hex')}`
  const password = randomBytes(16).toString('hex')
  const run = async (...statements: string[]) => {
    const sql = postgres(server, { max: 1, onnotice: () => {} })
    for (const statement of statements) await sql.unsafe(statement)
    await sql.end({ timeout: 5 })
  }
  const timeouts = Object.entries(sessionTimeouts).map(
    ([setting, value]) => `alter role ${name} set ${setting} = ${value}`
  )
  await run(`create role ${name} superuser login password '${password}'`, ...(withTimeouts ? timeouts : []))
  const url = new URL(server)
  url.username = name
  url.password = password
  return { server: url.href, drop: () => run(`drop role ${name}`) }
}
