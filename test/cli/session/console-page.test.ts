// Where `qjob` says that the page of a job or a capsule is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { capsulePage, jobPage } from '../../../apps/cli/session/console-page.js'

const folder = mkdtempSync(join(tmpdir(), 'qjs-page-'))
const [empty, running] = [join(folder, 'none'), folder]
const here = 'http://127.0.0.1:3000'
writeFileSync(join(running, 'stack.json'), JSON.stringify({ url: here, public_url: 'https://jobs.example.org' }))

afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['at the address that qjob calls', 'https://qjs.example.net/team', {}, 'https://qjs.example.net/team/jobs/1'],
  [
    'not at PUBLIC_URL of another service',
    'https://a.example',
    { PUBLIC_URL: 'https://b.example' },
    'https://a.example/jobs/1'
  ],
  ['at PUBLIC_URL in the container of the api', here, { PUBLIC_URL: 'https://b.example/' }, 'https://b.example/jobs/1'],
  ['at the address called where PUBLIC_URL is no address', here, { PUBLIC_URL: 'javascript:1' }, `${here}/jobs/1`],
  ['at PUBLIC_URL of the running stack', here, { DATA_DIR: running }, 'https://jobs.example.org/jobs/1'],
  [
    'at the address of a second stack of this machine',
    'http://[::1]:4000',
    { DATA_DIR: running },
    'http://[::1]:4000/jobs/1'
  ]
])("a job's page is %s", (_where, url, env, page) => {
  expect(jobPage(url, '1', { DATA_DIR: empty, ...env })).toBe(page)
})

test("a capsule's page is at the same address as those of jobs", () => {
  expect(capsulePage(here, '1', { DATA_DIR: running })).toBe('https://jobs.example.org/capsules/1')
})

test('an id of any content stays one part of the address', () => {
  expect(jobPage(here, 'x\ud800', { DATA_DIR: empty })).toBe(`${here}/jobs/x%EF%BF%BD`)
  expect(jobPage(here, '../x?y#z\n', { DATA_DIR: empty })).toBe(`${here}/jobs/..%2Fx%3Fy%23z%0A`)
})
