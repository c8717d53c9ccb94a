// Capsules of a user, and their files for import and export.
import { gzipSync } from 'node:zlib'
import type { Answer, TestApi, TestUser } from '../api/api.js'
import { bellQasm3, submission } from '../jobs/builders.js'
import { finishJob } from './capsule-rows.js'

const result = '{"counts":{"00":512,"11":512},"shots":1024,"metadata":{"count_source":"simulator_sampled"}}'

/** The id of the created capsule. @throws Error for any other response. */
export function made(answer: Answer): string {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.body.capsule_id
}

export function createCapsuleBench(api: TestApi, owner: TestUser) {
  async function completedJob(changes: Record<string, unknown> = {}): Promise<string> {
    const id = await owner.submit(submission(changes))
    const circuit = { name: 'circuit.qasm', mediaType: 'text/plain; charset=utf-8', content: Buffer.from(bellQasm3()) }
    await finishJob(api.database.db, id, result, [circuit])
    return id
  }

  const fromJob = async (fields: Record<string, unknown> = {}, job: Record<string, unknown> = {}): Promise<string> =>
    made(await owner.post('/api/capsules/from-job', { job_id: await completedJob(job), ...fields }))

  return {
    completedJob,
    fromJob,

    /** With one task, `bell`. */
    draft: async (fields: Record<string, unknown> = {}): Promise<string> =>
      made(await owner.post('/api/capsules/create', { name: 'a draft', workflow: { tasks: [bellTask] }, ...fields })),

    async sealed(fields: Record<string, unknown> = {}): Promise<string> {
      const id = await fromJob(fields)
      const answer = await owner.post(`/api/capsules/${id}/seal`, { exit_code: 0 })
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
      return id
    },

    record: async (id: string) => (await owner.get(`/api/capsules/${id}`)).body,

    /** As bytes; text would not preserve them. */
    async exported(id: string, format = 'capsule', user: TestUser = owner) {
      const { statusCode, headers, rawPayload } = await api.app.inject({
        method: 'GET',
        url: `/api/capsules/${id}/export?format=${format}`,
        headers: { cookie: user.cookie }
      })
      if (statusCode !== 200) throw new Error(`${statusCode}: ${rawPayload.toString()}`)
      return { bytes: rawPayload, headers }
    },

    imported: (bytes: Buffer, user: TestUser = owner, type = 'application/octet-stream') =>
      user.ask('POST', '/api/capsules/import', bytes, { 'content-type': type })
  }
}

export const bellTask = {
  name: 'bell',
  inline_code: bellQasm3(),
  framework: 'openqasm',
  backend: 'local',
  parameters: { shots: 100 }
}

/** A multipart form. */
export const form = (parts: { name: string; content: Buffer | string; file?: string }[], boundary: string): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, content, file }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"\r\nContent-Type: application/octet-stream`}\r\n\r\n`
      ),
      Buffer.from(content),
      Buffer.from('\r\n')
    ]),
    Buffer.from(`--${boundary}--\r\n`)
  ])

export const asForm = (boundary: string, key?: string) => ({
  'content-type': `multipart/form-data; boundary=${boundary}`,
  ...(key !== undefined && { 'idempotency-key': key })
})

/** @param types by name: type flags other than that of a file. */
export function tarGz(files: Record<string, string | Buffer>, types: Record<string, string> = {}): Buffer {
  const entries = Object.entries(files).map(([name, content]) => tarEntry(name, content, types[name]))
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]))
}

export function tarEntry(name: string, content: string | Buffer, type = '0'): Buffer {
  const body = Buffer.from(content)
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write('        ', 148)
  header.write(type, 156)
  if (type === '2') header.write('/etc/passwd', 157)
  header.write('ustar\u000000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}
