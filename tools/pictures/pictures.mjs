// `npm run pictures`: starts a stack with emulated hardware, fills it through the API, and writes light and dark pictures of
// the console's main pages to docs/pictures. The stack and its folder are gone afterwards.
//
//   npm run pictures            all pages
//   npm run pictures -- jobs    those whose name has one of these words
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { say } from '../bootstrap/progress.mjs'
import { bootstrap, browserPath, needs, root } from '../bootstrap.mjs'
import { build } from '../build.mjs'
import { fill } from './fill.mjs'
import { takePictures, themes } from './take.mjs'

const startLimitMs = 5 * 60_000

await bootstrap([...needs.stack, 'browser'])
await build()
if (browserPath() === null) {
  say('There is no Chromium: install one, or set CHROME_PATH.')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'qjs-pictures-'))
const env = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...(process.env.XDG_CACHE_HOME && { XDG_CACHE_HOME: process.env.XDG_CACHE_HOME }),
  DATA_DIR: folder,
  PORT: '0',
  RATE_LIMIT_SCALE: '0'
}
const stack = spawn(process.execPath, [join(root, 'tools/qjob.mjs'), 'start', '--emulated-hardware'], {
  cwd: root,
  env,
  stdio: ['ignore', 'pipe', 'inherit']
})
const ended = new Promise((resolve) => stack.on('exit', resolve))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stack.kill('SIGTERM'))

try {
  const url = await addressOf(stack)
  const qjob = (...args) => execFileSync(process.execPath, [join(root, 'tools/qjob.mjs'), ...args], { cwd: root, env })
  say(`The stack is ready at ${url}; it is filled.`)
  const filled = await fill(url, qjob)
  const target = join(root, 'docs/pictures')
  for (const theme of themes) mkdirSync(join(target, theme), { recursive: true })
  await takePictures({ url, filled, target, browser: browserPath(), only: process.argv.slice(2) })
} finally {
  stack.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
}

function addressOf({ stdout }) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the stack was not ready in time')), startLimitMs)
    ended.then(() => reject(new Error('the stack stopped before it was ready')))
    createInterface({ input: stdout }).on('line', (line) => {
      const [, url] = /^ready: (\S+)/.exec(line) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
  })
}
