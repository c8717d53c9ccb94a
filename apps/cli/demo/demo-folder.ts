// The data folder of the demo, which never writes into the folder of a service that somebody uses.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const DEFAULT = '.demo'
/** In every folder that a demo has made. */
const MARK = 'made-by-demo'

/** @returns an absolute path. @throws Error if DATA_DIR has files of something else than a demo. */
export function demoFolder(dataDir: string | undefined): string {
  const folder = resolve(dataDir?.trim() || DEFAULT)
  const mark = join(folder, MARK)
  const own = folder === resolve(DEFAULT) || existsSync(mark)
  if (!own && existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(
      `DATA_DIR=${folder} was not created by the demo, which would write into it: unset DATA_DIR, or name a new folder.`
    )
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(mark, '', { mode: 0o600 })
  return folder
}

/** Servers, keys and files of a service that somebody uses. */
const ofAService =
  /^(DATABASE_\w+|REDIS_URL|REDIS_TLS_\w+|TEMPORAL_ADDRESS|TEMPORAL_TLS(_\w+)?|TEMPORAL_API_KEY(_FILE)?|MAIL_DIR|AUDIT_CHECKPOINTS_FILE|SECRETS_KEYS|PUBLIC_URL)$/

/** A demo has its own servers and files. */
export function demoEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => !ofAService.test(name))
  // Any free port, so that the demo can run next to a stack that is in use.
  return { ...Object.fromEntries(others), DATA_DIR: demoFolder(env.DATA_DIR), PORT: env.PORT || '0' }
}
