import { describe, expect, test } from '@jest/globals'
import {
  type CredentialProvider,
  credentialProviders,
  formatFault,
  missingFault,
  missingForJob,
  outlived,
  readCredentials
} from '../../../domain/backends/provider-credentials.js'

const aws = 'aws-braket'
const uuid = '01234567-89ab-cdef-0123-456789abcdef'
const crn =
  'crn:v1:bluemix:public:quantum-computing:us-east:a/0123456789abcdef0123456789abcdef:01234567-89ab-cdef-0123-456789abcdef::'

const valid: Record<CredentialProvider, Record<string, string>> = {
  'aws-braket': {
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    default_region: 'us-east-1',
    session_token: 'FwoGZXIvYXdzE/example+token==',
    s3_bucket: 'amazon-braket-us-east-1-123456789012',
    s3_prefix: 'results/team_1'
  },
  'ibm-quantum': { token: 'a'.repeat(44), instance: crn, channel: 'ibm_quantum_platform' },
  'azure-quantum': {
    subscription_id: uuid,
    resource_group: 'my_group.(1)',
    workspace_name: 'my-workspace',
    location: 'eastus',
    tenant_id: uuid,
    client_id: uuid,
    client_secret: 'abc~8Q.example-secret',
    api_key: 'example-api-key'
  },
  ionq: { api_key: 'exampleKey0123456789' }
}

describe('credential names', () => {
  test.each(credentialProviders)('of %s are all accepted, with valid values', (provider) => {
    const read = readCredentials(provider, valid[provider])
    expect(read).toEqual(valid[provider])
    expect(formatFault(provider, read)).toBeNull()
    expect(missingFault(provider, Object.keys(read))).toBeNull()
  })

  test.each([
    [aws, 'AWS_ACCESS_KEY_ID', 'access_key_id'],
    [aws, 'AWS_SECRET_ACCESS_KEY', 'secret_access_key'],
    [aws, 'AWS_DEFAULT_REGION', 'default_region'],
    [aws, 'AWS_REGION', 'default_region'],
    [aws, 'AWS_SESSION_TOKEN', 'session_token'],
    ['ibm-quantum', 'api_token', 'token'],
    ['ibm-quantum', 'ibm_token', 'token'],
    ['ibm-quantum', 'IBM_QUANTUM_TOKEN', 'token'],
    ['ibm-quantum', 'QISKIT_IBM_TOKEN', 'token'],
    ['ibm-quantum', 'ibm_instance', 'instance'],
    ['ibm-quantum', 'IBM_INSTANCE', 'instance'],
    ['ibm-quantum', 'ibm_channel', 'channel'],
    ['azure-quantum', 'azure_subscription_id', 'subscription_id'],
    ['azure-quantum', 'AZURE_SUBSCRIPTION_ID', 'subscription_id'],
    ['azure-quantum', 'AZURE_QUANTUM_WORKSPACE_NAME', 'workspace_name'],
    ['azure-quantum', 'azure_resource_group', 'resource_group'],
    ['azure-quantum', 'AZURE_QUANTUM_WORKSPACE_LOCATION', null],
    ['azure-quantum', 'azure_location', 'location'],
    ['azure-quantum', 'AZURE_TENANT_ID', 'tenant_id'],
    ['azure-quantum', 'AZURE_CLIENT_ID', 'client_id'],
    ['azure-quantum', 'AZURE_CLIENT_SECRET', 'client_secret'],
    ['ionq', 'IONQ_API_KEY', 'api_key'],
    ['ionq', 'api_token', 'api_key'],
    ['ionq', 'token', null],
    [aws, 'Access_Key_Id', null],
    [aws, 'toString', null],
    [aws, 'hasOwnProperty', null],
    [aws, '', null]
  ] as const)('of %s: %p is %p', (provider, alias, name) => {
    const read = () => readCredentials(provider, { [alias]: 'value' })
    if (name === null) expect(read).toThrow(`is not a credential of ${provider}; send`)
    else expect(read()).toEqual({ [name]: 'value' })
  })

  test('that are unknown are refused with every name that is accepted', () => {
    expect(() => readCredentials(aws, { access_key: 'x' })).toThrow(
      'secrets.access_key: is not a credential of aws-braket; send access_key_id, secret_access_key (optional: default_region, session_token, s3_bucket, s3_prefix)'
    )
  })

  test('that look like values are not repeated in messages', () => {
    for (const name of ['AKIAIOSFODNN7EXAMPLE', 'wJalrXUtnFEMI/K7MDENG', 'x'.repeat(31), 'a b'])
      expect(() => readCredentials(aws, { [name]: 'x' })).toThrow(/^secrets: is not a credential of aws-braket/)
  })

  test('for one value, given twice, are refused', () => {
    expect(() => readCredentials('ionq', { api_key: 'one', IONQ_API_KEY: 'two' })).toThrow(
      'secrets.api_key: is given twice, under two of its names'
    )
  })

  test('without a string value are refused', () => {
    for (const value of [null, 5, true, {}, [], ['x']])
      expect(() => readCredentials('ionq', { api_key: value })).toThrow('secrets.api_key: must be a string')
    expect(() => readCredentials('ionq', {})).toThrow('secrets: must hold at least one value; ionq has api_key')
  })

  test.each([
    [
      aws,
      ['access_key_id'],
      'secrets.secret_access_key: is required; aws-braket needs access_key_id, secret_access_key'
    ],
    ['ibm-quantum', ['instance'], 'secrets.token: is required'],
    [
      'azure-quantum',
      ['subscription_id', 'resource_group', 'workspace_name'],
      'secrets.location: is required; azure-quantum needs subscription_id, resource_group, workspace_name, location'
    ],
    [
      'azure-quantum',
      ['subscription_id', 'resource_group', 'workspace_name', 'location', 'client_id'],
      'secrets.tenant_id: is required too; send all of tenant_id, client_id, client_secret'
    ],
    ['ionq', [], 'secrets.api_key: is required']
  ] as const)('of %s that are missing next to %p are named', (provider, present, message) => {
    expect(missingFault(provider, present)).toContain(message)
  })
})

describe('credential values', () => {
  /** Values that would leave the provider's host or path. */
  const escapes = [
    'x.evil.tld/#',
    '@127.0.0.1',
    '127.0.0.1',
    '%2e%2e',
    '..',
    '../x',
    'http://127.0.0.1',
    'us-east-1.evil.tld',
    'us-east-1/',
    'us-east-1:443',
    'us-east-1\r\nHost: evil',
    'us-east-1\n',
    ' us-east-1',
    'US-EAST-1',
    '2130706433',
    '0x7f000001',
    '[::1]',
    'ⓔvil',
    '',
    'a'.repeat(33)
  ]

  test.each([
    [aws, 'default_region'],
    ['azure-quantum', 'location'],
    ['azure-quantum', 'workspace_name'],
    ['azure-quantum', 'subscription_id'],
    ['ibm-quantum', 'instance'],
    ['ibm-quantum', 'channel']
  ] as const)("of %s: %s cannot leave the provider's host or path", (provider, name) => {
    const harmless = {
      location: ['2130706433', '0x7f000001'],
      workspace_name: ['US-EAST-1', '2130706433', '0x7f000001', 'a'.repeat(33)]
    }
    const dangerous = escapes.filter((value) => !(harmless as Record<string, string[]>)[name]?.includes(value))
    for (const value of dangerous)
      expect([value, formatFault(provider, { [name]: value })]).toEqual([
        value,
        expect.stringMatching(new RegExp(`^secrets\\.${name}: must be `))
      ])
  })

  test('the region inside a CRN is a single word', () => {
    for (const region of ['evil.tld', 'us-east/..', '@evil', '', 'a'.repeat(33), 'us-east\n'])
      expect([region, formatFault('ibm-quantum', { instance: crn.replace('us-east', region) })]).toEqual([
        region,
        expect.any(String)
      ])
    for (const instance of [crn, crn.replace('us-east', 'eu-de')])
      expect(formatFault('ibm-quantum', { instance })).toBeNull()
  })

  test('a path hub/group/project is refused as an instance, because IBM has ended these', () => {
    expect(formatFault('ibm-quantum', { instance: 'ibm-q/open/main' })).toMatch(
      /^secrets\.instance: must be a CRN such as crn:v1:.* \(IBM has ended paths hub\/group\/project\)$/
    )
  })

  test.each([
    ['default_region', ['us-east-1', 'eu-north-1', 'us-gov-west-1', 'ap-southeast-2']],
    ['s3_bucket', ['abc', 'amazon-braket-x', 'my.bucket.1', 'a--b', 'x'.repeat(63)]],
    ['s3_prefix', ['a', 'a/b', 'a/b/', "it's_(1)!*", 'a..b', '.hidden']]
  ])('of aws-braket: %s can be %p', (name, values) => {
    for (const value of values) expect([value, formatFault(aws, { [name]: value })]).toEqual([value, null])
  })

  test.each([
    [
      's3_bucket',
      ['ab', 'Bucket', 's3://bucket', 'b_c', 'a..b', '.abc', 'abc.', '-abc', 'abc-', '10.0.0.1', 'x'.repeat(64), 'a/b']
    ],
    [
      's3_prefix',
      ['', '/a', 'a//b', '..', 'a/../b', './a', 'a/..', 'a b', 'a?b', 'a#b', 'a%2fb', 'é', 'x'.repeat(257)]
    ],
    ['access_key_id', ['short', 'AKIA IOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE\n', 'x'.repeat(129)]],
    ['secret_access_key', ['short', `${'x'.repeat(39)}\n`, `${'x'.repeat(20)} ${'x'.repeat(19)}`]],
    ['session_token', ['short', 'with a space', 'line\r\nX-Evil: 1', 'é'.repeat(20), 'x'.repeat(4097)]]
  ])('of aws-braket: %s cannot be %p, and no message repeats the value', (name, values) => {
    for (const value of values) {
      const fault = formatFault(aws, { [name]: value })
      expect([value, fault]).toEqual([value, expect.stringMatching(new RegExp(`^secrets\\.${name}: must be `))])
      if (value.length > 4) expect(fault).not.toContain(value)
    }
  })

  test('are validated in linear time, whatever they contain', () => {
    const began = performance.now()
    const units = ['a', '-', 'a-', '.', 'a.', '/', 'a/', './', '../', '1.', ':', 'crn:', '(', ')']
    for (const provider of credentialProviders)
      for (const name of Object.keys(valid[provider]))
        for (const unit of units) {
          const long = unit.repeat(60_000 / unit.length)
          for (const value of [long, `${long}!`, `${long}\n`]) formatFault(provider, { [name]: value })
        }
    // 714 values of 60,000 characters; a quadratic pattern would take minutes.
    expect(performance.now() - began).toBeLessThan(30_000)
  })
})

describe('the credentials that a job needs', () => {
  const simulator = { deviceType: 'simulator' }
  const qpu = { deviceType: 'qpu' }
  const keys = ['access_key_id', 'secret_access_key']
  const azure = 'azure-quantum'
  const workspace = ['subscription_id', 'resource_group', 'workspace_name', 'location']

  test.each<[string, CredentialProvider, string[], { deviceType: string }, string | null]>([
    [
      'a place for results',
      aws,
      [...keys, 'default_region'],
      qpu,
      "No result storage destination: set s3_bucket in the team's aws-braket credentials"
    ],
    [
      'a region for simulators',
      aws,
      [...keys, 's3_bucket'],
      simulator,
      "No region: set default_region in the team's aws-braket credentials"
    ],
    ['no region for a quantum computer, which has its own', aws, [...keys, 's3_bucket'], qpu, null],
    ['nothing more', aws, [...keys, 's3_bucket', 'default_region'], simulator, null],
    [
      'all that is required to store them',
      aws,
      ['access_key_id', 's3_bucket'],
      qpu,
      "Incomplete credentials: set secret_access_key in the team's aws-braket credentials"
    ],
    [
      'an instance of IBM Quantum',
      'ibm-quantum',
      ['token', 'channel'],
      qpu,
      "No instance: set instance in the team's ibm-quantum credentials"
    ],
    ['nothing more of IBM Quantum', 'ibm-quantum', ['token', 'instance'], qpu, null],
    ['a key of IonQ', 'ionq', [], qpu, "Incomplete credentials: set api_key in the team's ionq credentials"],
    ['nothing more of IonQ', 'ionq', ['api_key'], simulator, null],
    [
      'an identity for Azure',
      azure,
      workspace,
      qpu,
      "No identity: set tenant_id, client_id and client_secret, or api_key, in the team's azure-quantum credentials"
    ],
    [
      'the whole of an identity for Azure',
      azure,
      [...workspace, 'tenant_id', 'client_id'],
      simulator,
      "No identity: set tenant_id, client_id and client_secret, or api_key, in the team's azure-quantum credentials"
    ],
    ['a service principal of Azure', azure, [...workspace, 'tenant_id', 'client_id', 'client_secret'], qpu, null],
    ['a key of Azure', azure, [...workspace, 'api_key'], qpu, null],
    [
      'the workspace of Azure',
      azure,
      ['subscription_id', 'resource_group', 'workspace_name', 'api_key'],
      qpu,
      "Incomplete credentials: set location in the team's azure-quantum credentials"
    ]
  ])('are %s', (_what, provider, present, backend, sentence) => {
    expect(missingForJob(provider, present, backend)).toBe(sentence)
  })
})

test('a new access key without a session token makes the stored one useless; nothing else does', () => {
  const key = { access_key_id: 'AKIAEXAMPLE000000000', secret_access_key: 'x'.repeat(40) }
  expect(outlived('aws-braket', key)).toEqual(['session_token'])
  expect(outlived('aws-braket', { ...key, session_token: 'a-token-of-the-key' })).toEqual([])
  expect(outlived('aws-braket', { s3_bucket: 'amazon-braket-ada' })).toEqual([])
  expect(outlived('ionq', { api_key: 'a-key-of-the-team' })).toEqual([])
})
