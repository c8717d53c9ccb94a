// A user of a service, signed in with their own shell.
import { expect } from '@jest/globals'
import { createAccessCode } from '../../db/accounts/accounts.js'
import { Shell, type startService } from './qjob.js'

const password = 'correct horse battery'

export async function signedUp(
  { url, database }: Awaited<ReturnType<typeof startService>>,
  email: string
): Promise<Shell> {
  const shell = new Shell({ QJOB_URL: url })
  const code = await createAccessCode(database.db, { uses: 1 })
  const ended = await shell.run(['sign-up', email, '--code', code], `${password}\n`)
  expect(ended).toEqual({ code: 0, stdout: `Signed in to ${url} as ${email}.\n`, stderr: '' })
  return shell
}
