// One reader of one page: a folder, a shell on its path, an account, and the commands of the page, run as they are written.
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'
import type { Ended } from '../cli/qjob.js'

const program = join(projectRoot, 'dist/apps/cli/main.js')
const generator = (): string => {
  const types = createRequire(join(projectRoot, 'test/clients/types/package.json'))
  return join(dirname(types.resolve('openapi-typescript/package.json')), 'bin/cli.js')
}
const COMMAND_MS = 120_000

export interface Service {
  url: string
  dataDir: string
}

export class Walk {
  readonly folder = mkdtempSync(join(tmpdir(), 'qjs-walk-'))
  private readonly env: Record<string, string>
  /**
   * @param email of the reader, who is `you@example.org` on the pages.
   * @param pythonPath where the reader's Python packages lie that are ours.
   */
  constructor(
    private readonly service: Service,
    private readonly email: string,
    pythonPath: string
  ) {
    const bin = join(this.folder, '.bin')
    mkdirSync(bin)
    // The programs that a reader has installed; npx runs the pinned one.
    executable(join(bin, 'qjob'), `exec "${process.execPath}" "${program}" "$@"`)
    this.onNpx('qjob', join(bin, 'qjob'))
    this.env = {
      PATH: `${bin}:${join(projectRoot, '.venv/bin')}:${process.env.PATH}`,
      HOME: this.folder,
      DATA_DIR: service.dataDir,
      QJOB_PASSWORD: 'a long password',
      PYTHONPATH: pythonPath
    }
    cpSync(join(projectRoot, 'examples'), join(this.folder, 'examples'), { recursive: true })
    for (const name of ['node_modules', 'tools', 'package.json'])
      symlinkSync(join(projectRoot, name), join(this.folder, name))
  }

  /** For the pages that run it: it is a package of the tests alone. */
  useGenerator(): void {
    this.onNpx('openapi-typescript', process.execPath, generator())
  }

  /** npx downloads the newest version of a program that is not installed; this one knows a single, pinned program. */
  private onNpx(name: string, ...command: string[]): void {
    const words = command.map((word) => `"${word}"`).join(' ')
    const script = `[ "$1" = ${name} ] || { echo "no test for npx $1" >&2; exit 1; }; shift; exec ${words} "$@"`
    executable(join(this.folder, '.bin', 'npx'), script)
  }

  /** Signs up a reader, for the pages that say nothing about it. */
  async signUp(): Promise<void> {
    const { email } = this
    const { code } = JSON.parse(await this.must('qjob admin create-code --json'))
    await this.must(`qjob sign-up ${email} --code ${code}`)
    await this.must(`qjob admin grant ${email}`)
    const body = JSON.stringify({ email, password: this.env.QJOB_PASSWORD })
    await this.must(
      `curl -sf -c jar -H 'content-type: application/json' -d '${body}' ${this.service.url}/api/auth/sign-in`
    )
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  /** Runs a command of a page, its words replaced by what they stand for now. */
  async run(command: string): Promise<Ended> {
    return this.shell(await this.filled(command))
  }

  /** @returns the output. @throws Error unless the command exits with 0. */
  async must(command: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(command)
    if (code !== 0) throw new Error(`exit code ${code}: ${command}\n${stdout}${stderr}`)
    return stdout
  }

  async filled(text: string): Promise<string> {
    let filled = text.replaceAll(/https?:\/\/(127\.0\.0\.1:3000|localhost:3000|jobs\.example\.org)/g, this.service.url)
    filled = filled.replaceAll('you@example.org', this.email)
    for (const [word, meaning] of Object.entries(this.meanings)) {
      const pattern = new RegExp(word, 'g')
      if (!pattern.test(filled)) continue
      const value = await meaning()
      filled = filled.replaceAll(new RegExp(word, 'g'), () => value)
    }
    return filled
  }

  /** What the words of the pages stand for: the newest of its kind. */
  private readonly meanings: Record<string, () => Promise<string>> = {
    '\\bCODE\\b': async () => JSON.parse(await this.must('qjob admin create-code --json')).code,
    '\\bJOB(_ID)?\\b': async () => JSON.parse(await this.must('qjob jobs --limit 1 --json')).jobs[0].id,
    '\\bOTHER_JOB\\b': async () => JSON.parse(await this.must('qjob jobs --limit 2 --json')).jobs[1].id,
    '\\bTEAM_ID\\b': async () => (await this.teams()).at(-1)!.id,
    '(?<![\\w-])ID\\b': async () => (await this.capsules())[0]!.id,
    'mqc:1:\\.\\.\\.': async () => {
      const { id } = (await this.capsules()).find(({ state }) => state === 'sealed')!
      return JSON.parse(await this.must(`qjob capsule show ${id} --json`)).seal.capsule_digest
    },
    '(?<=Bearer )KEY\\b|marqey_live_\\.\\.\\.|\\$QJOB_KEY': () => this.key()
  }

  private async capsules(): Promise<{ id: string; state: string }[]> {
    return JSON.parse(await this.must('qjob capsule list --json')).capsules
  }

  private async teams(): Promise<{ id: string }[]> {
    return JSON.parse(await this.must(`curl -sf -b jar ${this.service.url}/api/teams`)).teams
  }

  private async key(): Promise<string> {
    const body = JSON.stringify({ name: 'walk', tier: 'simulate', kind: 'live' })
    const made = await this.must(
      `curl -sf -b jar -H 'content-type: application/json' -d '${body}' ${this.service.url}/api/team/api-keys`
    )
    return JSON.parse(made).key
  }

  private shell(command: string): Promise<Ended> {
    const child = spawn('bash', ['-o', 'pipefail', '-c', command], {
      cwd: this.folder,
      env: this.env,
      timeout: COMMAND_MS,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text) => {
        output[name] += text
      })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...output })))
  }

  end(): void {
    rmSync(this.folder, { recursive: true })
  }
}

function executable(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}
