// `npm run bench [-- stage ...]`: gets the parts, builds, runs bench/run.ts.
// `npm run bench -- --compare REF`: builds that commit in a folder of its own as well, and measures both in turns.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { say } from './bootstrap/progress.mjs'
import { bootstrap, browserPath, needs, root } from './bootstrap.mjs'
import { build } from './build.mjs'

const stages = process.argv.slice(2)
const flag = stages.indexOf('--compare')
const [, ref] = flag === -1 ? [] : stages.splice(flag, 2)
if (flag !== -1 && !ref) {
  say('npm run bench -- --compare REF: REF is a commit, a branch or a tag')
  process.exit(2)
}

await bootstrap(needs.stack)
await build()
const compared = ref ? buildCommit(ref) : null
try {
  const bench = join(root, 'dist/bench/run.js')
  const run = spawnSync(process.execPath, ['--enable-source-maps', bench, ...stages], {
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROME_PATH: browserPath() ?? '',
      ...(compared && { COMPARED_REF: ref, COMPARED_ROOT: compared })
    }
  })
  process.exitCode = run.status ?? 1
} finally {
  if (compared) {
    spawnSync('git', ['worktree', 'remove', '--force', compared], { cwd: root })
    rmSync(compared, { recursive: true, force: true })
  }
}

/** @returns the folder of the commit, with its packages and its programs. */
function buildCommit(commit) {
  const folder = mkdtempSync(join(tmpdir(), 'qjs-bench-commit-'))
  // With the tools of that commit, which know what it needs.
  const make = `
    import { bootstrap, needs } from './tools/bootstrap.mjs'
    import { build } from './tools/build.mjs'
    await bootstrap(needs.client)
    await build()`
  must('git', ['worktree', 'add', '--detach', folder, commit], root)
  must(process.execPath, ['--input-type=module', '-e', make], folder)
  return folder
}

function must(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} ended with ${status}`)
}
