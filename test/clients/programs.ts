// What users write against generated clients: sign in, submit, wait and print the counts. Arguments: address, e-mail, password.

export const pythonProgram = `
import sys

from qjs_client import AuthenticatedClient, Client
from qjs_client.api.accounts import sign_in
from qjs_client.api.api_keys import create_api_key
from qjs_client.api.jobs import get_job, get_job_status, submit_job
from qjs_client.models import (
    CreateApiKeyRequest,
    CreateApiKeyRequestKind,
    CreateApiKeyRequestTier,
    Job,
    JobState,
    JobSubmission,
    JobSubmissionCircuit,
    JobSubmissionCircuitFormat,
    JobSubmissionParams,
    NewApiKey,
    SignInRequest,
    SignInResponse,
    StructuredError,
    SubmittedJob,
)

QASM = 'OPENQASM 3.0; include "stdgates.inc"; qubit[1] q; bit[1] c; x q[0]; c = measure q;'


def main(url: str, email: str, password: str) -> None:
    anyone = Client(base_url=url)
    signed_in = sign_in.sync(client=anyone, body=SignInRequest(email=email, password=password))
    assert isinstance(signed_in, SignInResponse), signed_in
    cookies = "; ".join(f"{name}={value}" for name, value in anyone.get_httpx_client().cookies.items())
    session = AuthenticatedClient(base_url=url, token=cookies, prefix="", auth_header_name="Cookie")
    key = create_api_key.sync(
        client=session,
        body=CreateApiKeyRequest(
            name="generated", tier=CreateApiKeyRequestTier.SIMULATE, kind=CreateApiKeyRequestKind.LIVE
        ),
    )
    assert isinstance(key, NewApiKey), key
    client = AuthenticatedClient(base_url=url, token=key.key)

    circuit = JobSubmissionCircuit(format_=JobSubmissionCircuitFormat.QASM3, payload=QASM)
    refused = submit_job.sync(
        client=client, body=JobSubmission(backend="local", params=JobSubmissionParams(shots=0), circuit=circuit)
    )
    assert isinstance(refused, StructuredError), refused
    assert refused.error.message.startswith("params.shots: must be"), refused
    submitted = submit_job.sync(
        client=client, body=JobSubmission(backend="local", params=JobSubmissionParams(shots=100), circuit=circuit)
    )
    assert isinstance(submitted, SubmittedJob), submitted
    while True:
        state = get_job_status.sync(submitted.job_id, client=client, wait=20)
        assert isinstance(state, JobState), state
        if state.status.value in FINAL:
            break
    job = get_job.sync(submitted.job_id, client=client)
    assert isinstance(job, Job), job
    assert job.result is not None, job.error
    print(job.result["counts"])


FINAL = ("completed", "failed", "cancelled", "dispatch_failed")

main(*sys.argv[1:])
`

/** @param schema the generated types. */
export const typescriptProgram = (schema: string) => `
import type { components, paths } from ${JSON.stringify(schema)}

type Schemas = components['schemas']
type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { 'application/json': infer Content } } }
}
  ? Content
  : never

const [url, email, password] = process.argv.slice(2)
let cookie = ''

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(url + path, {
    method,
    headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
}

async function expected<Answer>(response: Response): Promise<Answer> {
  if (!response.ok) throw new Error(JSON.stringify((await response.json()) as Schemas['Error']))
  return (await response.json()) as Answer
}

const credentials: Body<'/api/auth/sign-in'> = { email: email!, password: password! }
const signedIn = await send('POST', '/api/auth/sign-in', credentials)
await expected<Schemas['SignInResponse']>(signedIn)
cookie = signedIn.headers.getSetCookie().map((text) => text.split(';')[0]).join('; ')

const submission: Body<'/api/jobs/submit'> = {
  backend: 'local',
  params: { shots: 100 },
  circuit: {
    format: 'qasm3',
    payload: 'OPENQASM 3.0; include "stdgates.inc"; qubit[1] q; bit[1] c; x q[0]; c = measure q;'
  }
}
// @ts-expect-error: params is required.
const incomplete: Body<'/api/jobs/submit'> = { backend: 'local' }
void incomplete

const submitted = await expected<Schemas['SubmittedJob']>(await send('POST', '/api/jobs/submit', submission))
const final: Schemas['JobState']['status'][] = ['completed', 'failed', 'cancelled', 'dispatch_failed']
let state: Schemas['JobState']
do state = await expected<Schemas['JobState']>(await send('GET', \`/api/jobs/\${submitted.job_id}/status?wait=20\`))
while (!final.includes(state.status))
const job = await expected<Schemas['Job']>(await send('GET', \`/api/jobs/\${submitted.job_id}\`))
console.log(JSON.stringify(job.result?.['counts'] ?? job.error))
`
