// Commands of the pages that no test runs as written, each with the reason. A command that is not named here is run by
// walks.test.ts.

export interface Exception {
  page: string
  /** How the command begins. */
  begins: string
  reason: string
}

export const exceptions: readonly Exception[] = [
  { page: 'README.md', begins: 'npm run demo', reason: 'continuous integration runs it' },
  { page: 'README.md', begins: 'npm test', reason: 'it runs this test' },
  { page: 'CONTRIBUTING.md', begins: 'npm run check', reason: 'continuous integration runs it' },
  { page: 'CONTRIBUTING.md', begins: 'npm run demo', reason: 'continuous integration runs it' },
  { page: 'clients/python/README.md', begins: 'pip install', reason: 'the test has the wheel' },
  { page: 'docs/plugins.md', begins: 'pip install', reason: 'the test has the wheel, and the frameworks, pinned' },
  {
    page: 'docs/extending/adding-a-migration.md',
    begins: 'RECORD_QUERIES=1 npm test',
    reason: 'it runs this test'
  },
  { page: 'docs/extending/adding-a-route.md', begins: 'npx tsc', reason: 'npm run check does the same' },
  { page: 'docs/extending/adding-a-route.md', begins: 'npm test', reason: 'it runs this test' },
  { page: 'docs/capsules/capsule-format.md', begins: 'pip install', reason: 'the test environment has it, pinned' },
  {
    page: 'docs/capsules/capsule-format.md',
    begins: 'rocrate-validator',
    reason: 'it reads profiles from the network; test/capsule-format/check_crate.py has them'
  },
  { page: 'docs/clients/generated-clients.md', begins: 'pip install', reason: 'the test environment has it, pinned' },
  {
    page: 'docs/operations/backup.md',
    begins: 'npx qjob admin backup - | age',
    reason: 'age is not installed everywhere'
  },
  { page: 'docs/operations/backup.md', begins: 'docker compose', reason: 'needs a Docker daemon' },
  { page: 'docs/operations/chaos.md', begins: 'npm run chaos', reason: 'a synopsis; test/e2e/chaos.long.test.ts' },
  {
    page: 'docs/operations/hostile.md',
    begins: 'npm run hostile',
    reason: 'a synopsis; test/e2e/hostile.long.test.ts'
  },
  { page: 'docs/console.md', begins: 'npm run console', reason: 'it serves until it is stopped' },
  { page: 'docs/console.md', begins: 'npm run pictures', reason: 'it writes files of the repository' },
  {
    page: 'docs/operations/deployment/one-machine.md',
    begins: 'cp .env.example',
    reason: 'for Docker; test/compose.test.ts'
  },
  {
    page: 'docs/operations/deployment/one-machine.md',
    begins: 'docker compose',
    reason: 'needs a Docker daemon'
  },
  {
    page: 'docs/operations/deployment/few-machines.md',
    begins: 'npm install',
    reason: 'the bootstrap of every run does the same'
  },
  {
    page: 'docs/operations/deployment/few-machines.md',
    begins: 'python3.12 -m venv',
    reason: 'the bootstrap of every run does the same'
  },
  {
    page: 'docs/operations/deployment/kubernetes.md',
    begins: 'docker build',
    reason: 'needs a Docker daemon'
  },
  {
    page: 'docs/operations/deployment/kubernetes.md',
    begins: 'kubectl',
    reason: 'needs a cluster'
  },
  {
    page: 'docs/operations/deployment/kubernetes.md',
    begins: 'helm',
    reason: 'needs a cluster; test/deploy/helm.long.test.ts'
  },
  { page: 'docs/providers.md', begins: 'npm start', reason: 'the stack of this test is started so' }
]

export const exceptionOf = (page: string, command: string): Exception | undefined =>
  exceptions.find((exception) => exception.page === page && command.startsWith(exception.begins))
