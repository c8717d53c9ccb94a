// What the credentials of a team lack for a job is said at its submission.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { declareProviders } from '../../../db/backends/provider-workers.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('provider_credentials')
const { db, sql } = api.database
afterAll(() => api.close())

let ada: TestUser & { teamId: string }
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  await declareProviders(db, ['AWS Braket', 'IBM Quantum', 'Azure Quantum'])
  await sql`update backends set status = 'online'
    where slug in ('sv1', 'ionq-forte-1', 'ibm-fez', 'azure-quantinuum-h2-1')`
  await ada.ask('PATCH', '/api/team/budget', { team_id: ada.teamId, daily_usd: 500, monthly_usd: 500 })
})

const store = (secrets: Record<string, string>, provider = 'aws-braket') =>
  ada.post('/api/team/secrets', { team_id: ada.teamId, provider, secrets })
const submit = (backend: string) => ada.post('/api/jobs/submit', submission({ backend, team_id: ada.teamId }))

test('a job at Braket needs a bucket, and on a simulator a region, before it is accepted', async () => {
  const keys = { access_key_id: 'AKIAEXAMPLE000000000', secret_access_key: 'x'.repeat(40) }
  expect((await store(keys)).status).toBe(201)
  expect(await submit('ionq-forte-1')).toMatchObject({
    status: 400,
    body: {
      error: "backend: ionq-forte-1: No result storage destination: set s3_bucket in the team's aws-braket credentials"
    }
  })
  expect((await store({ s3_bucket: 'amazon-braket-ada' })).status).toBe(201)
  expect((await submit('ionq-forte-1')).status).toBe(201)
  expect((await submit('sv1')).body.error).toBe(
    "backend: sv1: No region: set default_region in the team's aws-braket credentials"
  )
  expect((await store({ default_region: 'us-east-1' })).status).toBe(201)
  expect((await submit('sv1')).status).toBe(201)
})

test('a job at IBM Quantum needs the CRN of an instance before it is accepted', async () => {
  const refused = (message: unknown) => ({ status: 400, body: { error: message } })
  expect(await submit('ibm-fez')).toMatchObject(
    refused(expect.stringContaining("ibm-fez needs the team's own credentials for IBM Quantum"))
  )
  expect((await store({ token: 'an-api-key-of-ibm-cloud' }, 'ibm-quantum')).status).toBe(201)
  expect(await submit('ibm-fez')).toMatchObject(
    refused("backend: ibm-fez: No instance: set instance in the team's ibm-quantum credentials")
  )
  expect(await store({ instance: 'ibm-q/open/main' }, 'ibm-quantum')).toMatchObject(
    refused(expect.stringContaining('IBM has ended paths hub/group/project'))
  )
  const instance = 'crn:v1:bluemix:public:quantum-computing:us-east:a/0123abcd:01234567-89ab-cdef-0123-456789abcdef::'
  expect((await store({ instance }, 'ibm-quantum')).status).toBe(201)
  expect((await submit('ibm-fez')).status).toBe(201)
})

describe('a job at Azure needs an identity before it is accepted:', () => {
  const workspace = {
    subscription_id: '01234567-89ab-cdef-0123-456789abcdef',
    resource_group: 'a-group',
    workspace_name: 'a-workspace',
    location: 'eastus'
  }
  const principal = {
    tenant_id: '01234567-89ab-cdef-0123-456789abcdef',
    client_id: '01234567-89ab-cdef-0123-456789abcdef',
    client_secret: 'abc~8Q.example-secret'
  }
  const lack =
    "backend: azure-quantinuum-h2-1: No identity: set tenant_id, client_id and client_secret, or api_key, in the team's azure-quantum credentials"

  test.each<[string, Record<string, string>]>([
    ['a key', { api_key: 'example-api-key' }],
    ['a service principal', principal]
  ])('%s is enough', async (_what, identity) => {
    expect((await store(workspace, 'azure-quantum')).status).toBe(201)
    expect(await submit('azure-quantinuum-h2-1')).toMatchObject({ status: 400, body: { error: lack } })
    const stored = await store(identity, 'azure-quantum')
    expect(stored.status).toBe(201)
    expect((await submit('azure-quantinuum-h2-1')).status).toBe(201)
    for (const { id } of stored.body.secrets.filter((one: { key_name: string }) => one.key_name in identity))
      await ada.ask('DELETE', `/api/team/secrets/${id}`)
  })
})
