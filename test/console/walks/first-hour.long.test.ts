// The first hour of a person on the platform: from the mail that invites them to the page on which a stranger checks what they
// published.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import { startVisit, type Visit } from '../../support/browser/visit.js'
import { eventually } from '../../support/eventually.js'
import { PASSWORD, sceneOfFile, signing } from '../scene.js'
import { type Hands, keyboard, mouse } from '../support/hands.js'
import { program, ranOn, run } from '../support/playground-page.js'

const mails = mkdtempSync(join(tmpdir(), 'qjob-mails-'))
const scene = sceneOfFile({}, { ...signing, MAIL_DIR: mails })
// The hooks of the scene close the platform first: what is registered later runs later.
afterAll(() => rmSync(mails, { recursive: true, force: true }))

const HOUR_MS = 360_000
/** A job that starts a Python process may have to wait for others of this machine. */
const PATIENCE = { timeout: 90_000 }

const python = `from qiskit import QuantumCircuit
qc = QuantumCircuit(2, 2)
qc.h(0)
qc.cx(0, 1)
qc.measure([0, 1], [0, 1])
`

/** A person invites another one. @returns the path of the link in the mail. */
async function invited(email: string): Promise<string> {
  let path = ''
  await scene.visit(async (visit) => {
    const { page } = visit
    await scene.signUp(visit)
    const post = async (to: string, data: object) => {
      const answer = await page.request.post(`${scene.platform.url()}${to}`, { data })
      if (!answer.ok()) throw new Error(`${to} answered ${answer.status()}: ${await answer.text()}`)
      return (await answer.json()) as { id: string }
    }
    const team = await post('/api/teams', { name: 'Ion traps' })
    await post('/api/team/invitations', { team_id: team.id, email, role: 'member' })
    await eventually(() => {
      path = mailedPath(email) ?? ''
      return path !== ''
    })
  })()
  return path
}

/** The path of the link in the mail to an address, or `undefined`. */
function mailedPath(to: string): string | undefined {
  // Lines of a mail are folded.
  const texts = readdirSync(mails).map((name) => readFileSync(join(mails, name), 'utf8').replace(/=\r?\n/g, ''))
  const mail = texts.find((text) => text.includes(to))
  return mail === undefined ? undefined : /https?:\/\/[^/\s]+(\/invitations\/[\w-]+)/.exec(mail)?.[1]
}

async function joinTeam({ page, open, examine }: Visit, hands: Hands, path: string): Promise<void> {
  await open(path)
  await page.getByRole('heading', { level: 1, name: 'Join the team Ion traps' }).waitFor()
  await examine()
  await hands.write(page.getByLabel('Password'), PASSWORD)
  await hands.press(page.getByRole('button', { name: 'Create the account and join' }))
  await page.getByRole('heading', { level: 1, name: 'Jobs of Ion traps' }).waitFor()
  await examine()
}

async function tryPrograms({ page, examine }: Visit, hands: Hands): Promise<void> {
  await hands.goTo('Playground')
  await page.getByText('Qubit 0 is the topmost wire').waitFor()
  await hands.press(run(page))
  await ranOn(page, /^Ran on statevector-js .* in this browser/)
  await examine()
  await hands.write(program(page), python)
  await hands.write(page.getByLabel('Seed (optional)'), '7')
  await hands.press(page.getByRole('button', { name: 'Convert and run here' }))
  await page.getByText('The circuit as OpenQASM').waitFor(PATIENCE)
  await ranOn(page, /^Ran on statevector-js .* in this browser, seed 7/)
  await examine()
}

async function submitJob({ page, examine }: Visit, hands: Hands): Promise<void> {
  await hands.press(page.getByRole('button', { name: 'Submit as a job' }))
  const dialog = page.getByRole('dialog', { name: 'Submit a job' })
  await dialog.getByText(/^Estimated cost: \$0\.00/).waitFor()
  await examine()
  await hands.write(dialog.getByLabel('Name (optional)'), 'A first pair')
  await hands.press(dialog.getByRole('button', { name: 'Submit', exact: true }))
  await page.getByRole('heading', { level: 1, name: 'A first pair' }).waitFor()
  await page.getByLabel('Timeline').getByText('completed', { exact: true }).waitFor(PATIENCE)
  await page
    .getByLabel('Result')
    .getByText(/"counts"/)
    .waitFor()
  await examine()
}

async function sealAndVerify({ page, examine }: Visit, hands: Hands): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = page.getByRole('dialog')
  const inDialog = (name: string) => dialog.getByRole('button', { name, exact: true })
  await hands.press(button('Make a capsule'))
  await hands.press(inDialog('Make the capsule'))
  await page.locator('[aria-current=step]').filter({ hasText: 'runnable' }).waitFor()
  await examine()
  await hands.press(button('Run as a template'))
  await hands.press(inDialog('Run'))
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'completed' }).first().waitFor(PATIENCE)
  await examine()
  await hands.press(button('Seal'))
  await dialog.getByText('This is final.').waitFor()
  await examine()
  await hands.press(inDialog('Seal'))
  await page.getByText(/^mqc:1:[0-9a-f]{64}$/).waitFor()
  await hands.press(button('Verify'))
  await page.getByText('exact', { exact: true }).first().waitFor(PATIENCE)
  await hands.show(page.getByRole('tab', { name: 'Verifications' }))
  await page
    .locator('figcaption')
    .filter({ hasText: /^1 verification from .*: 1 exact\./ })
    .waitFor(PATIENCE)
  await examine()
}

async function schedule({ page, examine }: Visit, hands: Hands): Promise<void> {
  await hands.show(page.getByRole('tab', { name: 'Schedule' }))
  await hands.write(page.getByLabel('Cron'), '0 3 * * 1')
  await page.getByText(/^At 03:00, only on Monday/).waitFor()
  await hands.press(page.getByRole('button', { name: 'Set the schedule' }))
  await page.getByRole('heading', { name: 'Change the schedule' }).waitFor()
  await examine()
  // Once the engine has it, without a reload.
  await page.getByText('The engine has not got this schedule yet').waitFor({ state: 'detached' })
  await page.getByText('It has not run yet.').waitFor()
}

async function publish({ page, examine }: Visit, hands: Hands, title: string): Promise<void> {
  await hands.press(page.getByRole('button', { name: 'Publish', exact: true }))
  const dialog = page.getByRole('dialog')
  await hands.write(dialog.getByLabel('Title'), title)
  await hands.write(dialog.getByLabel('Description'), 'Two qubits of a first hour')
  await hands.write(dialog.getByLabel('Readme in Markdown (optional)'), '# What it is\n\nA **pair**.')
  await examine()
  await hands.press(dialog.getByRole('button', { name: 'Publish', exact: true }))
  await page.getByRole('link', { name: title }).waitFor()
}

/** In a browser of its own, which has no session. */
async function checkAsAStranger(of: Visit, handsOf: HandsOf, title: string): Promise<void> {
  const stranger = await startVisit(of.page.context().browser()!, () => scene.platform.url())
  const { page, open, examine } = stranger
  try {
    const hands = await handsOf(stranger)
    await open('/public')
    await page.getByRole('heading', { level: 1, name: 'Published capsules' }).waitFor()
    await hands.press(page.getByRole('link', { name: title }))
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByRole('heading', { name: 'What it is' }).waitFor()
    const check = page.getByRole('button', { name: 'Check it in this browser' })
    await hands.press(check)
    await page.getByText('The signature holds.').waitFor()
    await examine()
    await page.route('**/export**', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: withOneByteChanged(await response.body()) })
    })
    await hands.press(check)
    await page.getByRole('alert').filter({ hasText: 'tasks/main/result.json was changed' }).waitFor()
    expect(await page.getByText('The signature holds.').count()).toBe(0)
    await examine()
    expect(stranger.faults).toEqual([])
  } finally {
    await stranger.close()
  }
}

/** Of the sealed counts. */
function withOneByteChanged(archive: Buffer): Buffer {
  const tar = gunzipSync(archive)
  const at = tar.indexOf('"counts"')
  expect(at).toBeGreaterThan(0)
  tar[at + 1]! ^= 1
  return gzipSync(tar)
}

type HandsOf = (visit: Visit) => Hands | Promise<Hands>

const firstHour = (name: string, handsOf: HandsOf) =>
  scene.visit(async (visit) => {
    const title = `A pair ${name}`
    const path = await invited(`newcomer-${name.replaceAll(' ', '-')}@example.org`)
    const hands = await handsOf(visit)
    await joinTeam(visit, hands, path)
    await tryPrograms(visit, hands)
    await submitJob(visit, hands)
    await sealAndVerify(visit, hands)
    await schedule(visit, hands)
    await publish(visit, hands, title)
    await checkAsAStranger(visit, handsOf, title)
  })

browserTest(
  'the first hour by mouse: invited by mail, from the playground to a published capsule that a stranger checks',
  firstHour('by mouse', mouse),
  HOUR_MS
)

browserTest(
  'the first hour by keyboard alone: invited by mail, from the playground to a published capsule that a stranger checks',
  firstHour('by keyboard', keyboard),
  HOUR_MS
)
