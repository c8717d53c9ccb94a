// The expected signatures were made by botocore 1.44.5, AWS's client for Python, from the same keys, requests and time.
import { expect, test } from '@jest/globals'
import { type AwsCall, escaped, signedHeaders } from '../../../services/providers/braket/aws.js'

const permanent = {
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
}
const temporary = {
  ...permanent,
  access_key_id: 'ASIAIOSFODNN7EXAMPLE',
  session_token: 'FwoGZXIvYXdzE/example+token=='
}
const task = `/quantum-task/${escaped('arn:aws:braket:us-east-1:123456789012:quantum-task/0a1b2c3d-4e5f-6789-abcd-ef0123456789')}`
const at = new Date('2026-07-01T12:30:45Z')

test.each<[string, Record<string, string>, string, AwsCall, string]>([
  [
    'the ARN of a task in the path, with a query',
    permanent,
    'https://braket.us-east-1.amazonaws.com',
    {
      service: 'braket',
      region: 'us-east-1',
      method: 'GET',
      path: task,
      query: { additionalAttributeNames: 'QueueInfo' }
    },
    'SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=f3bf13977944a0b1599c757ad0b1ffe9424a4b67f2ac47d09541c11a2ea89f7a'
  ],
  [
    'a body, with a session token',
    temporary,
    'https://braket.us-east-1.amazonaws.com',
    {
      service: 'braket',
      region: 'us-east-1',
      method: 'PUT',
      path: `${task}/cancel`,
      body: { text: '{"clientToken":"t"}', type: 'application/json' }
    },
    'SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=3d3b0e6738927b22122903653331573694b6d39730ea332dd83984004d9b7b39'
  ],
  [
    'the key of a file in S3',
    permanent,
    'https://s3.eu-north-1.amazonaws.com',
    {
      service: 's3',
      region: 'eu-north-1',
      method: 'GET',
      path: `/my.bucket/${escaped('team (1)')}/${escaped("a'b")}/results.json`,
      headers: { range: 'bytes=0-99' }
    },
    'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=9e721ab49562872b0b0c11c050700e561bf26f57b9ba4a1d594d551bbbe0ccad'
  ]
])('%s is signed as by AWS', async (_what, credentials, host, call, expected) => {
  const url = new URL(call.path, host)
  url.search = new URLSearchParams(call.query).toString()
  const { authorization, host: sent } = await signedHeaders(credentials, call, url, at)
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=${credentials.access_key_id}/20260701/${call.region}/${call.service}/aws4_request, ${expected}`
  )
  // The client for HTTP sets it.
  expect(sent).toBeUndefined()
})
