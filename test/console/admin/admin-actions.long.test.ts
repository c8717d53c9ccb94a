// Every action of administration, pressed in a real browser against the real service.
import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import { addSealedCapsule } from '../../support/capsules/capsule-rows.js'
import { eventually } from '../../support/eventually.js'
import { addHeldJob, usd } from '../../support/jobs/money-rows.js'
import { act, createStage, heading } from './stage.js'

const { scene, platform, db, ada, sent, read, administrator, newestAction } = createStage()

browserTest(
  'held money is settled with its note, to the micro-dollar, from the list and from the page of a job',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    const held = (cost: number) =>
      addHeldJob(db(), ada, {
        cost: usd(cost),
        submission: { teamId: ada.teamId, backend: 'local' }
      })
    const [first, second] = [await held(7.123457), await held(2)]
    await open('/admin/money')
    await page.getByText(/^\$9\.123457 of 2 jobs whose provider/).waitFor()
    const row = page.getByRole('row', { name: new RegExp(first.slice(-8)) })
    await row.getByText('$7.123457').waitFor()
    await row.getByRole('button', { name: 'Settle' }).click()
    const dialog = page.getByRole('dialog', { name: 'Settle held money' })
    await dialog.getByLabel(/^What the provider billed/).fill('1.0000001')
    await dialog.getByLabel(/^Why/).fill('the bill <b>of</b> November')
    await dialog.getByRole('button', { name: 'Settle' }).click()
    await dialog.getByText(/must have at most 6 decimals/).waitFor()
    expect(await dialog.getByLabel(/^Why/).inputValue()).toBe('the bill <b>of</b> November')
    await dialog.getByLabel(/^What the provider billed/).fill('1.234567')
    await dialog.getByRole('button', { name: 'Settle' }).click()
    await page.getByText(/^\$2\.00 of 1 job whose provider/).waitFor()
    expect(await newestAction(page)).toMatchObject({
      action: 'job.settle',
      target: first,
      details: { cost_usd: 1.234567, note: 'the bill <b>of</b> November' }
    })
    await open(`/admin/jobs/${first}`)
    await page.getByText('$1.234567 ($7.123457 estimated)').waitFor()
    const { can } = await read<{ can: { settle: string } }>(page, `/api/admin/jobs/${first}`)
    await page.getByText(can.settle).waitFor()
    expect(await page.getByRole('button', { name: 'Settle' }).isDisabled()).toBe(true)
    await open(`/admin/jobs/${second}`)
    await act(page, 'Settle', { 'What the provider billed, in USD': '0', 'Why, for the record of actions': 'free' })
    await page.getByText('$0.00 ($2.00 estimated)').waitFor()
    await open('/admin/money')
    await page.getByText(/^\$0\.00 of 0 jobs/).waitFor()
  })
)

browserTest(
  'a team is suspended, its reason changed and the suspension lifted; its budget, limits and storage are set',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Set' })
    await open(`/admin/teams/${id}`)
    await act(page, 'Suspend', { 'Reason, which the team reads': 'unpaid' })
    await page.getByText(/^suspended since .*: unpaid$/).waitFor()
    await act(page, 'Change the reason', { 'Reason, which the team reads': 'still unpaid' })
    await page.getByText(/: still unpaid$/).waitFor()
    await page.getByRole('button', { name: 'Lift the suspension' }).click()
    await page.getByText('active', { exact: true }).waitFor()

    await page.getByLabel('A day: limit, in USD').fill('7.000001')
    await page.getByLabel('A month: ceiling, in USD').fill('much')
    await page.getByRole('button', { name: 'Change the budget' }).click()
    await page.getByText(/must be a number/).waitFor()
    expect(await page.getByLabel('A day: limit, in USD').inputValue()).toBe('7.000001')
    await page.getByLabel('A month: ceiling, in USD').fill('70000')
    await page.getByRole('button', { name: 'Change the budget' }).click()
    await page.getByText(/\$7\.000001 left/).waitFor()
    const { limits, ceilings } = await read<Record<'limits' | 'ceilings', Record<string, number>>>(
      page,
      `/api/admin/teams/${id}/budgets`
    )
    expect([limits.daily_usd, ceilings.monthly_usd]).toEqual([7.000001, 70_000])

    await page.getByLabel('Slots of the executor at once').fill('3')
    await page.getByRole('button', { name: 'Change the limits' }).click()
    await eventually(async () => (await newestAction(page)).action === 'team.limits')
    await page.getByLabel('Limit in bytes').fill('123456789')
    await page.getByRole('button', { name: 'Change the storage' }).click()
    await page.getByText(/of 123,456,789 bytes are used/).waitFor()
    await page.getByLabel('Slots of the executor at once').fill('')
    await page.getByRole('button', { name: 'Change the limits' }).click()
    await eventually(async () => {
      const { teams } = await read<{ teams: { slots_max: number | null }[] }>(page, `/api/admin/teams?q=${id}`)
      return teams[0]!.slots_max === null
    })
  })
)

browserTest(
  'what is typed stays when another administrator changes the same team, and only what was typed is sent',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    const { id } = await sent<{ id: string }>('POST', '/api/teams', { name: 'Shared' })
    await open(`/admin/teams/${id}`)
    await page.getByLabel('One job: limit, in USD').fill('1.5')
    const other = await page.request.put(`${platform().url()}/api/admin/teams/${id}/budgets`, {
      data: { daily_usd: 9 }
    })
    expect(other.status()).toBe(200)
    await act(page, 'Suspend', { 'Reason, which the team reads': 'meanwhile' })
    await page.getByText(/\$9\.00 left/).waitFor()
    expect(await page.getByLabel('One job: limit, in USD').inputValue()).toBe('1.5')
    await page.getByRole('button', { name: 'Change the budget' }).click()
    await eventually(async () => (await newestAction(page)).action === 'team.budget')
    expect((await newestAction(page)).details.requested).toEqual({ per_job_usd: 1.5 })
  })
)

browserTest(
  'a job of another team is found and cancelled, and nothing of its program is on the page',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    const id = await platform().submit({
      inline_code: 'canary = 1\nimport time\ntime.sleep(600)',
      framework: 'qiskit',
      backend: 'local',
      params: { shots: 1 },
      name: 'long <script>',
      team_id: ada.teamId
    })
    await open('/admin/jobs')
    await page.getByLabel(/^Id of a job/).fill(id)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'long <script>' }).click()
    await heading(page, 'long <script>')
    await act(page, 'Cancel the job', {})
    await eventually(async () => ['cancelling', 'cancelled'].includes((await platform().job(id)).status))
    expect(await page.locator('body').textContent()).not.toContain('canary')
    expect(await newestAction(page)).toMatchObject({ action: 'job.cancel', target: id })
  })
)

browserTest(
  'an access code is made, refused when it exists already, and a backend is changed and changed back',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    await open('/admin/access-codes')
    await page.getByLabel('Code', { exact: true }).fill('lab-code')
    await page.getByLabel('Accounts that it can open').fill('3')
    await page.getByRole('button', { name: 'Make an access code' }).click()
    await page.getByText('The code is lab-code.').waitFor()
    await page.getByRole('row', { name: /lab-code 3 never/ }).waitFor()
    await page.getByLabel('Code', { exact: true }).fill('lab-code')
    await page.getByRole('button', { name: 'Make an access code' }).click()
    await page.getByText(/this access code exists already/).waitFor()
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe('lab-code')

    await open('/admin/backends')
    const row = page.getByRole('row').filter({ hasText: 'marqov-sim' })
    await row.getByRole('button', { name: /^Change/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Status').selectOption('maintenance')
    await dialog.getByLabel('A task, in USD').fill('0.000001')
    await dialog.getByLabel('Place in the list').fill('77')
    await dialog.getByRole('button', { name: 'Change the backend' }).click()
    await row.getByText('$0.000001 a task').waitFor()
    await row.getByText('no: it is in maintenance').waitFor()
    expect((await newestAction(page)).details).toMatchObject({ after: { status: 'maintenance', displayOrder: 77 } })
    await row.getByRole('button', { name: /^Change/ }).click()
    await dialog.getByLabel('Status').selectOption('online')
    await dialog.getByLabel('A task, in USD').fill('0')
    await dialog.getByRole('button', { name: 'Change the backend' }).click()
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('free').waitFor()
  })
)

browserTest(
  'a public capsule is taken down with a reason, and its team reads the entry in its trail',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    const id = await addSealedCapsule(db(), ada, ada.teamId, 'publish')
    await open('/admin/capsules')
    await page.getByRole('row', { name: new RegExp(`Bell ${id}`) }).waitFor()
    await act(page, 'Take down', { 'Reason, which its team reads': 'it names a person' })
    await page.getByText(`“Bell ${id}” is out of the catalogue.`).waitFor()
    await page.getByRole('heading', { name: 'No published capsule matches' }).waitFor()
    const { entries } = await sent<{ entries: { action: string; actor: string }[] }>(
      'GET',
      `/api/team/audit?team_id=${ada.teamId}`
    )
    expect(entries[0]).toMatchObject({ action: 'capsule.takedown', actor: expect.stringMatching(/^admin:/) })
  })
)

browserTest(
  'money that another administrator settles while the dialog is open is refused in the words of the service, and stays typed',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await administrator(visit)
    const cost = usd(3)
    const id = await addHeldJob(db(), ada, { cost, submission: { teamId: ada.teamId, backend: 'local' } })
    await open(`/admin/jobs/${id}`)
    await page.getByRole('button', { name: 'Settle' }).click()
    const dialog = page.getByRole('dialog', { name: 'Settle held money' })
    await dialog.getByLabel(/^What the provider billed/).fill('2')
    await dialog.getByLabel(/^Why/).fill('a bill')
    const other = await page.request.post(`${platform().url()}/api/admin/jobs/${id}/settle`, {
      data: { cost_usd: 1, note: 'first' }
    })
    expect(other.status()).toBe(200)
    await dialog.getByRole('button', { name: 'Settle' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/this job was settled before, with \$1/)
      .waitFor()
    expect(await dialog.getByLabel(/^Why/).inputValue()).toBe('a bill')
  })
)
