// What leaves the service: credentials tested at a provider, and messages of webhooks.
import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import { accept, refuse, startReceiver, verified } from '../../support/receivers/webhook-receiver.js'
import type { TeamStage } from './stage.js'

export function outsideTests({ scene, call, owner, emulators }: TeamStage): void {
  browserTest(
    'credentials are tested before they are saved, what the provider rejects is not saved, and a fault stands at its field',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'Hardware')
      await open(`/team/credentials?team=${teamId}`)
      await page.getByRole('button', { name: 'Set the credentials of IonQ' }).click()
      const form = page.getByRole('form', { name: 'Credentials of IonQ' })
      const stored = async () =>
        (await call<{ secrets: unknown[] }>(page, 'GET', `/api/team/secrets?team_id=${teamId}`)).secrets.length
      await form.getByLabel('api_key').fill('short')
      await form.getByRole('button', { name: 'Test and save' }).click()
      await form.getByText('must be 8 to 4096 printable ASCII characters without spaces').waitFor()
      expect(await form.getByRole('button', { name: 'Save without a successful test' }).count()).toBe(0)
      await form.getByLabel('api_key').fill('not-a-key-of-anybody')
      await form.getByRole('button', { name: 'Test and save' }).click()
      await form.getByText(/does not take these credentials.*Nothing is saved yet/).waitFor()
      expect(await stored()).toBe(0)
      const { api_key } = emulators().provider('ionq').credentials as { api_key: string }
      await form.getByLabel('api_key').fill(api_key)
      await form.getByRole('button', { name: 'Test and save' }).click()
      const table = page.getByRole('region', { name: 'Credentials of IonQ' })
      await table.getByText('********').waitFor()
      expect(await stored()).toBe(1)
      await page.getByRole('button', { name: 'Test what IonQ has' }).click()
      await page.getByText('IonQ takes these credentials').waitFor()
      await table.getByText(/^valid/).waitFor()
      await table.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Set the credentials of IonQ' }).waitFor()
      expect(await stored()).toBe(0)
    })
  )

  browserTest(
    'what tested credentials open stands on the page, and a bucket in another region is told before a job fails by it',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      const teamId = await owner(visit, 'Buckets')
      const { credentials } = emulators().provider('aws-braket') as { credentials: Record<string, string> }
      await open(`/team/credentials?team=${teamId}`)
      const section = page.getByRole('region', { name: 'AWS Braket', exact: true })
      await section.getByRole('button', { name: /^Set the credentials/ }).click()
      const form = page.getByRole('form', { name: /^Credentials of / })
      for (const [name, value] of Object.entries({
        ...credentials,
        s3_bucket: 'amazon-braket-emulated-eu-north-1'
      }))
        await form.getByLabel(name).fill(value)
      await form.getByRole('button', { name: 'Test and save' }).click()
      await section.getByText(/takes these credentials, but not every job can run with them/).waitFor()
      await section.getByRole('listitem').filter({ hasText: 'the bucket is in eu-north-1; set s3_bucket' }).waitFor()
      for (const text of [/^us-east-1$/, /SV1/]) await section.locator('dd').filter({ hasText: text }).waitFor()
      await examine()
      const secrets = { s3_bucket: credentials.s3_bucket }
      await call(page, 'POST', '/api/team/secrets', { team_id: teamId, provider: 'aws-braket', secrets })
      await section.getByRole('button', { name: /^Test what/ }).click()
      await section.locator('dd').filter({ hasText: credentials.s3_bucket! }).waitFor()
      expect(await section.getByText('not every job can run').count()).toBe(0)
    })
  )

  browserTest(
    'a test of a webhook arrives signed, a failed one says why in the log, and is sent again',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const teamId = await owner(visit, 'Listeners')
      const receiver = await startReceiver(refuse)
      try {
        await open(`/team/webhooks?team=${teamId}`)
        await page.getByLabel('Address').fill(receiver.url)
        await page.getByRole('button', { name: 'Add the webhook' }).click()
        const dialog = page.getByRole('dialog', { name: 'The signing secret of the webhook' })
        const secret = (await dialog.getByText(/^whsec_/).textContent())!
        await dialog.getByRole('button', { name: 'Close' }).click()
        await page.getByRole('button', { name: 'Send a test' }).click()
        const row = page.getByRole('region', { name: 'Deliveries' }).getByRole('row', { name: /webhook\.test/ })
        await row.getByText('answered 500').waitFor()
        await row.getByText('failed').waitFor()
        receiver.reply = accept
        await row.getByRole('button', { name: 'Send again' }).click()
        await row.getByText('delivered').waitFor()
        const [first, second] = receiver.received
        expect(second!.body).toBe(first!.body)
        expect(verified(secret, second!)).toMatchObject({ type: 'webhook.test', data: { team_id: teamId } })
      } finally {
        await receiver.close()
      }
    })
  )
}
