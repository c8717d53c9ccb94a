// `qjob capsule export`, `import` and `verify`: capsules as files. `verify` works offline.
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { readPackage } from '../../../capsule-format/package-reader.js'
import { type PackageReport, verifyPackage } from '../../../capsule-format/package-verification.js'
import { codeOf } from '../../../domain/errors.js'
import { shortId } from '../../../domain/json/short-id.js'
import type { ApiClient } from '../session/api-client.js'
import { ownTeamHelp, type TeamOptions, teamQuery } from '../session/choice.js'
import { capsuleArgument, capsuleIdOf } from '../session/named-ids.js'
import {
  jsonOption,
  reportingFailures,
  type ServiceOptions,
  serviceCommand,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { listing } from '../terminal/layout.js'
import { assertFree, isFileName, type OverwriteOptions, writeNew } from '../terminal/new-file.js'
import { printNotice, printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'
import { plain } from '../terminal/untrusted-text.js'

/** The service accepts no larger package. */
const PACKAGE_BYTES_MAX = 64 * 1024 * 1024
/** The largest attestation or key file. */
const SMALL_BYTES_MAX = 1024 * 1024

export function addCapsulePackageCommands(capsule: Command): void {
  serviceCommand(capsule, 'export', 'write a capsule to a file; every export has the same bytes')
    .argument('<capsule>', capsuleArgument)
    .addOption(
      new Option(
        '--format <format>',
        'capsule: the open archive; rocrate: a zip with RO-Crate metadata and attestation'
      )
        .choices(['capsule', 'rocrate'])
        .default('capsule')
    )
    .option('-o, --output <file>', 'the file to write; - is standard output (default: the name from the service)')
    .option('--attestation <file>', 'also write the signed attestation of a sealed capsule to this file')
    .option('--force', 'overwrite existing files')
    .action((id: string, options: ExportOptions) => withService(options, (api) => exportCapsule(api, id, options)))
  serviceCommand(
    capsule,
    'import <file>',
    'create a draft from a package, .capsule or RO-Crate zip; - reads standard input'
  )
    .option('--team <team>', ownTeamHelp)
    .action((file: string, options: ServiceOptions & TeamOptions) =>
      withService(options, (api) => importCapsule(api, file, options))
    )
  jsonOption(
    capsule
      .command('verify <file>')
      .description(
        'check a package offline: digests, identity, signature; exit code 1 if anything is wrong; - reads standard input'
      )
  )
    .option('--id <identity>', 'the expected identity, mqc:1:...')
    .option('--attestation <file>', 'the attestation (default: the one inside an RO-Crate)')
    .option('--key <file>', 'the public keys that you trust, as qjob signing-keys prints them')
    .action((file: string, options: VerifyOptions) => reportingFailures(options, () => verifyFile(file, options)))
}

interface ExportOptions extends ServiceOptions, OverwriteOptions {
  format: string
  output?: string
  attestation?: string
}

async function exportCapsule(api: ApiClient, text: string, options: ExportOptions): Promise<void> {
  const id = await capsuleIdOf(api, text)
  const { attestation: attested, output } = options
  if (output === '-' && options.json)
    throw new CliError('usage', '--json: cannot be used with -o -, which writes the package to standard output')
  if (attested === '-')
    throw new CliError('usage', '--attestation -: must be a file; standard output is reserved for the package')
  const { bytes, name } = await api.download(`/api/capsules/${id}/export?format=${options.format}`)
  const file = output ?? fileName(name, id, options.format)
  if (attested !== undefined) {
    if (resolve(attested) === resolve(file))
      throw new CliError('usage', `--attestation ${attested}: must not be the file of the package`)
    const { bytes: attestation } = await api.download(`/api/capsules/${id}/attestation`)
    // One file without the other is of little use.
    if (file !== '-') assertFree(file, options)
    await writeNew(attested, attestation, options)
  }
  if (file === '-') return void process.stdout.write(bytes)
  await writeNew(file, bytes, options)
  printResult(
    options,
    JSON.stringify({ file, size_bytes: bytes.length, attestation: attested ?? null }),
    () => `${file}: ${bytes.length} bytes`
  )
}

/** A name from the service must not lead into another folder. */
const fileName = (name: string | null, id: string, format: string): string =>
  name && isFileName(name) ? name : `capsule-${shortId(id)}${format === 'capsule' ? '.capsule' : '.crate.zip'}`

async function importCapsule(api: ApiClient, file: string, options: ServiceOptions & TeamOptions): Promise<void> {
  const bytes = await readBytes(file, PACKAGE_BYTES_MAX)
  const { value, text } = await api.send<{ capsule_id: string; state: string; warnings: string[] }>(
    `/api/capsules/import${await teamQuery(api, options)}`,
    { bytes, type: 'application/octet-stream' }
  )
  for (const warning of value.warnings) printNotice(`warning: ${warning}`)
  const id = plain(value.capsule_id)
  printResult(
    options,
    text,
    () => `capsule ${id}, a ${plain(value.state)}\nShow it with: qjob capsule show ${idFor(id, outScreen())}`
  )
}

interface VerifyOptions {
  json?: boolean
  id?: string
  attestation?: string
  key?: string
}

async function verifyFile(file: string, options: VerifyOptions): Promise<void> {
  if (options.id !== undefined && !/^mqc:1:[0-9a-f]{64}$/.test(options.id))
    throw new CliError('usage', `--id ${options.id}: must be mqc:1: and 64 hexadecimal digits in lower case`)
  const bytes = await readBytes(file, PACKAGE_BYTES_MAX)
  const envelope = await smallText(options.attestation)
  const publicKeyPem = await smallText(options.key)
  const report = verifyPackage(await readOrFail(file, bytes), {
    ...(envelope !== undefined && { envelope }),
    ...(publicKeyPem !== undefined && { publicKeyPem }),
    ...(options.id !== undefined && { expectedId: options.id })
  })
  printResult(options, JSON.stringify(report), () => reportText(file, report))
  if (!report.ok) process.exitCode = exitCodes.jobFailed
}

/** A package that cannot be read counts as changed. */
async function readOrFail(file: string, bytes: Buffer) {
  try {
    return await readPackage(bytes)
  } catch (error) {
    if (codeOf(error) !== 'validation_error') throw error
    throw new CliError('jobFailed', `${file}: ${(error as Error).message}`, { ok: false })
  }
}

function reportText(file: string, report: PackageReport): string {
  const heading = report.ok ? 'verified' : 'NOT verified'
  const lines = listing([
    ['identity', report.capsule_digest],
    ['root digest', report.root_digest],
    ...report.checks.map(({ check, ok, detail }): [string, string] => [
      check,
      `${ok === null ? 'not checked' : ok ? 'ok' : 'WRONG'}: ${detail}`
    ])
  ])
  const note =
    report.ok && !report.authenticated
      ? '\n\nThe digests alone do not show who made this file. To check that, pass --id, or --key with the attestation.'
      : ''
  return `${plain(file)}: ${heading}\n\n${lines}${note}`
}

const smallText = async (file: string | undefined): Promise<string | undefined> =>
  file === undefined ? undefined : (await readBytes(file, SMALL_BYTES_MAX)).toString('utf8')

async function readBytes(file: string, most: number): Promise<Buffer> {
  try {
    if (file === '-') return await standardInput(most)
    const { size } = await stat(file)
    if (size > most) throw new CliError('usage', `${file}: must have at most ${most} bytes (got ${size})`)
    return await readFile(file)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('usage', `${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

async function standardInput(most: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of process.stdin) {
    size += (piece as Buffer).length
    if (size > most) throw new CliError('usage', `standard input: must have at most ${most} bytes`)
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces)
}
