// The emulators as users start them: `qjob emulators`.
import { createServer } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import { emulatorVariables } from '../../apps/cli/stack/parts/emulators.js'
import { startEmulators } from '../../apps/emulators/emulators.js'
import { Shell } from '../cli/qjob.js'
import { eventually } from '../support/eventually.js'

interface Described {
  providers: { provider: string; base_url: string; control_url: string; credentials: { api_key: string } }[]
}

const shell = new Shell()
afterAll(() => shell.remove())

const answers = async (providers: Described['providers']): Promise<boolean> => {
  const [{ base_url, credentials }] = providers as [Described['providers'][number]]
  const headers = { authorization: `apiKey ${credentials.api_key}` }
  return (await fetch(`${base_url}/whoami`, { headers })).status === 200
}

test('qjob emulators --json prints one line with the addresses, and stops on a signal', async () => {
  const run = shell.start(['emulators', '--json'])
  const line = await eventually(() => /^.*\n/.exec(run.output.stdout)?.[0] ?? null)
  const { providers } = JSON.parse(line) as Described
  expect(providers).toEqual([
    {
      provider: 'ionq',
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v0\.4$/),
      variables: { IONQ_API_URL: providers[0]!.base_url },
      control_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/ionq$/),
      credentials: { api_key: expect.any(String) }
    },
    {
      provider: 'aws-braket',
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      variables: {
        AWS_ENDPOINT_URL_BRAKET: providers[1]!.base_url,
        AWS_ENDPOINT_URL_S3: providers[1]!.base_url,
        AWS_ENDPOINT_URL_STS: providers[1]!.base_url
      },
      control_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/aws-braket$/),
      credentials: {
        access_key_id: expect.any(String),
        secret_access_key: expect.any(String),
        default_region: 'us-east-1',
        s3_bucket: 'amazon-braket-emulated'
      }
    },
    {
      provider: 'ibm-quantum',
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
      variables: {
        IBM_QUANTUM_API_URL: providers[2]!.base_url,
        IAM_URL: `${providers[2]!.base_url}/iam`
      },
      control_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/ibm-quantum$/),
      credentials: { token: expect.any(String), instance: expect.stringMatching(/^crn:v1:bluemix:public:/) }
    },
    {
      provider: 'azure-quantum',
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      variables: {
        AZURE_AUTHORITY_HOST: providers[3]!.base_url,
        AZURE_RESOURCE_MANAGER_URL: providers[3]!.base_url,
        AZURE_QUANTUM_URL: providers[3]!.base_url
      },
      control_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/azure-quantum$/),
      credentials: {
        subscription_id: expect.any(String),
        resource_group: 'emulated-group',
        workspace_name: 'emulated-workspace',
        location: 'eastus',
        tenant_id: expect.any(String),
        client_id: expect.any(String),
        client_secret: expect.any(String)
      }
    }
  ])
  expect(await answers(providers)).toBe(true)
  expect((await fetch(`${providers[0]!.control_url}/tasks`)).status).toBe(200)
  run.signal('SIGTERM')
  expect(await run.ended).toMatchObject({ code: 0, stdout: line })
  await expect(answers(providers)).rejects.toThrow('fetch failed')
})

test('qjob emulators names a port that is taken, and a remedy', async () => {
  const server = createServer()
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  )
  const ended = await shell.run(['emulators', '--json', '--port', String(port)])
  server.close()
  const { error } = JSON.parse(ended.stdout)
  expect([ended.code, error.exit_code]).toEqual([2, 2])
  expect(error.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}; choose another with --port`))
  expect((await shell.run(['emulators', '--port', '-1'])).code).toBe(2)
  const alone = await shell.run(['emulators', '--tls-cert', 'cert.pem'])
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--tls-cert and --tls-key belong together')])
})

test('a stack tells api and worker the addresses of all emulators, and to believe them soon', async () => {
  const emulators = await startEmulators()
  const [ionq, braket, ibm, azure] = emulators.providers.map(({ base_url }) => base_url)
  await emulators.close()
  const variables = {
    EMULATED_HARDWARE: '1',
    IONQ_API_URL: ionq,
    AWS_ENDPOINT_URL_BRAKET: braket,
    AWS_ENDPOINT_URL_S3: braket,
    AWS_ENDPOINT_URL_STS: braket,
    IBM_QUANTUM_API_URL: ibm,
    IAM_URL: `${ibm}/iam`,
    AZURE_AUTHORITY_HOST: azure,
    AZURE_RESOURCE_MANAGER_URL: azure,
    AZURE_QUANTUM_URL: azure
  }
  expect(emulatorVariables(emulators.providers, {})).toEqual({ ...variables, PROVIDER_LOOKUP_WINDOW: '5' })
  const own = { PROVIDER_LOOKUP_WINDOW: '30' }
  expect(emulatorVariables(emulators.providers, own)).toEqual({ ...variables, ...own })
})
