// The access routeCases about capsules (route-cases.ts).
import {
  everyKind,
  inTeam,
  managersOfIt,
  ownerOfIt,
  peopleOrKeys,
  platform,
  type RouteCase,
  readers,
  type Scene,
  writers
} from '../api/callers.js'
import { tarGz } from './capsule-bench.js'

const ofCapsule =
  (state: Parameters<Scene['capsuleIn']>[0], rest = '') =>
  async (scene: Scene) =>
    `/api/capsules/${await scene.capsuleIn(state)}${rest}`

const ofPublished = (rest: string) => async (scene: Scene) =>
  `/api/capsules/public/bell-${await scene.capsuleIn('published')}${rest}`

export const capsuleRouteCases: Record<string, RouteCase> = {
  'GET /api/capsules/:id/audit': {
    allowed: readers,
    status: 200,
    path: async (scene) => `/api/capsules/${await scene.capsule()}/audit`
  },
  'GET /api/capsules/:id/export': {
    allowed: readers,
    status: 200,
    path: async (scene) => `/api/capsules/${await scene.capsule()}/export`
  },
  'GET /api/capsules/:id/attestation': {
    allowed: readers,
    status: 200,
    path: ofCapsule('sealed', '/attestation')
  },
  'POST /api/capsules/import': {
    allowed: writers,
    status: 201,
    path: inTeam('/api/capsules/import'),
    headers: { 'content-type': 'application/gzip' },
    body: () => tarGz({ 'x/capsule.yaml': 'version: "1.0.0"\nname: x\nlifecycle_state: draft\n' })
  },
  'POST /api/capsules/upload': {
    allowed: writers,
    status: 201,
    path: inTeam('/api/capsules/upload'),
    headers: { 'content-type': 'application/yaml' },
    body: () => 'name: a capsule'
  },
  'POST /api/capsules/create': {
    allowed: writers,
    status: 201,
    body: ({ teamId }) => ({ name: 'a capsule', team_id: teamId })
  },
  'POST /api/capsules/from-job': {
    allowed: writers,
    status: 201,
    body: async (scene) => ({ job_id: await scene.completedJob() })
  },
  'GET /api/capsules': { allowed: readers, status: 200, path: inTeam('/api/capsules') },
  'GET /api/capsules/public': { allowed: everyKind, status: 200 },
  'GET /api/capsules/public/:slug': {
    allowed: everyKind,
    status: 200,
    path: async (scene) => `/api/capsules/public/bell-${await scene.capsuleIn('published')}`
  },
  'GET /api/capsules/public/:slug/export': { allowed: everyKind, status: 200, path: ofPublished('/export') },
  'GET /api/capsules/public/:slug/attestation': { allowed: everyKind, status: 200, path: ofPublished('/attestation') },
  'GET /api/capsules/public/:slug/files/:name': {
    allowed: everyKind,
    status: 200,
    path: ofPublished('/files/tasks%2Fmain%2Fresult.json')
  },
  'GET /api/capsules/public/:slug/verifications': {
    allowed: everyKind,
    status: 200,
    path: ofPublished('/verifications')
  },
  'GET /api/schedules/preview': {
    allowed: peopleOrKeys,
    status: 200,
    path: () => '/api/schedules/preview?cron=@daily'
  },
  'GET /api/capsules/:id/files/:name': {
    allowed: readers,
    status: 200,
    path: ofCapsule('runnable', '/files/tasks%2Fmain%2Fresult.json')
  },
  'GET /api/capsules/:id': { allowed: readers, status: 200, path: ofCapsule('runnable') },
  'PATCH /api/capsules/:id': {
    allowed: ownerOfIt,
    status: 200,
    path: ofCapsule('draft'),
    body: () => ({ name: 'renamed' })
  },
  'DELETE /api/capsules/:id': { allowed: ownerOfIt, status: 200, path: ofCapsule('draft') },
  'POST /api/capsules/:id/seal': {
    allowed: managersOfIt,
    status: 200,
    path: ofCapsule('runnable', '/seal'),
    body: () => ({ exit_code: 0 })
  },
  'POST /api/capsules/:id/publish': {
    allowed: managersOfIt,
    status: 200,
    path: ofCapsule('sealed', '/publish'),
    body: () => ({ title: 'A title', description: 'What it is' })
  },
  'POST /api/capsules/:id/archive': { allowed: managersOfIt, status: 200, path: ofCapsule('sealed', '/archive') },
  'POST /api/capsules/:id/clone': {
    allowed: writers,
    status: 201,
    path: ofCapsule('runnable', '/clone'),
    body: () => ({ name: 'a clone' })
  },
  'POST /api/capsules/:id/run': {
    allowed: writers,
    status: 201,
    path: ofCapsule('runnable', '/run'),
    body: () => ({ mode: 'verify' })
  },
  'GET /api/capsules/:id/runs': { allowed: readers, status: 200, path: ofCapsule('runnable', '/runs') },
  // The capsule has never run. Non-members do not learn even that.
  'GET /api/capsules/:id/runs/:runId': {
    allowed: readers,
    status: 404,
    path: ofCapsule('runnable', '/runs/01900000-0000-7000-8000-000000000000')
  },
  'PUT /api/capsules/:id/schedule': {
    allowed: managersOfIt,
    status: 200,
    path: ofCapsule('sealed', '/schedule'),
    body: () => ({ cron: '0 3 * * *' })
  },
  'GET /api/capsules/:id/schedule': { allowed: readers, status: 200, path: ofCapsule('scheduled', '/schedule') },
  'DELETE /api/capsules/:id/schedule': {
    allowed: managersOfIt,
    status: 200,
    path: ofCapsule('scheduled', '/schedule')
  },
  'POST /api/capsules/:id/schedule/backfill': {
    allowed: managersOfIt,
    status: 201,
    path: ofCapsule('scheduled', '/schedule/backfill'),
    body: () => ({ from: new Date(Date.now() - 60_000).toISOString(), to: new Date().toISOString() })
  },
  'GET /api/capsules/:id/verifications': { allowed: readers, status: 200, path: ofCapsule('sealed', '/verifications') },
  'POST /api/admin/capsules/:id/takedown': {
    allowed: platform,
    status: 200,
    path: async (scene) => `/api/admin/capsules/${await scene.capsuleIn('published')}/takedown`,
    body: () => ({ reason: 'a reason' })
  }
}
