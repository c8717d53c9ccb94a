// The api's configuration, read once at the door.
export interface ApiConfig {
  databaseUrl: string
  redisUrl: string
  temporalAddress: string
  temporalNamespace: string
  temporalUiUrl: string | null
  taskQueue: string
  queuePrefix: string
  /** `null`: jobs are taken for workers to run, the playground answers 503. */
  executorUrl: string | null
  executorToken: string
  host: string
  port: number
  publicUrl: string | null
  /** `false` where sign-up needs no access code. */
  codesNeeded: boolean
  /** After how long the relay looks at a nudged delivery again. */
  redeliverSeconds: number
  logLevel: string
}

/** @throws Error naming the variable that is missing or malformed. */
export function readApiConfig(env: NodeJS.ProcessEnv): ApiConfig {
  const need = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`${name} is not set; npm start sets it, docs/configuration.md describes it`)
    return value
  }
  const port = Number(env.PORT ?? 3000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT must be a port number (got ${env.PORT})`)
  return {
    databaseUrl: need('DATABASE_URL'),
    redisUrl: need('REDIS_URL'),
    temporalAddress: need('TEMPORAL_ADDRESS'),
    temporalNamespace: env.TEMPORAL_NAMESPACE ?? 'default',
    temporalUiUrl: env.TEMPORAL_UI_URL || null,
    taskQueue: env.TEMPORAL_TASK_QUEUE ?? 'jobs',
    queuePrefix: env.QUEUE_PREFIX ?? 'qjs',
    executorUrl: env.EXECUTOR_URL || null,
    executorToken: env.EXECUTOR_URL ? need('EXECUTOR_TOKEN') : '',
    host: env.HOST ?? '127.0.0.1',
    port,
    publicUrl: env.PUBLIC_URL || null,
    codesNeeded: env.ACCESS_CODES !== 'off',
    redeliverSeconds: Number(env.REDELIVER_SECONDS ?? 30),
    logLevel: env.LOG_LEVEL ?? 'info'
  }
}
