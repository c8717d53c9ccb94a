// Written by tools/api-types.mjs from the OpenAPI document; a test compares it.
type Headers = { [name: string]: unknown }
type NoParameters = {
  query?: never
  header?: never
  path?: never
  cookie?: never
}
type Refusal = {
  headers: Headers
  content: {
    'application/json': components['schemas']['Error']
  }
}

export interface paths {
  '/healthz': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetHealthResponse']
          }
        }
        400: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/readyz': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Readiness']
          }
        }
        400: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/meta': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetMetaResponse']
          }
        }
        400: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/meta/providers': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListProvidersResponse']
          }
        }
        400: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/backends': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListBackendsResponse']
          }
        }
        304: {
          headers: Headers
          content?: never
        }
        400: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/backends/{slug}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          slug: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Backend']
          }
        }
        304: {
          headers: Headers
          content?: never
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/validate-code': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['ValidateCodeRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ValidateCodeResponse']
          }
        }
        400: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/sign-up': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['SignUpRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['SignUpResponse']
          }
        }
        400: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/sign-in': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['SignInRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['SignInResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/session': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetSessionResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/sessions': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListSessionsResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/sessions/{id}': {
    parameters: NoParameters
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        204: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/sign-out': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        204: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/oidc/start': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          code?: string
          return_to?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        302: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        403: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/oidc/callback': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          state?: string
          code?: string
          error?: string
          iss?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        302: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        403: Refusal
        409: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/change-password': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['ChangePasswordRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/forgot-password': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['RequestPasswordResetRequest']
        }
      }
      responses: {
        202: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/auth/reset-password': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['ResetPasswordRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/submit': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['NativeSubmission'] | components['schemas']['JobSubmission']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AdmissionReceipt'] | components['schemas']['SubmittedJob']
          }
        }
        400: Refusal
        401: Refusal
        402: {
          headers: Headers
          content: {
            'application/json': components['schemas']['BudgetError']
          }
        }
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
          status?: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed" | ("pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed")[]
          backend?: string
          script_id?: string
          capsule_id?: string
          mine?: boolean
          id_end?: string
          created_after?: string
          created_before?: string
          q?: string
          cursor?: string
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListJobsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          result?: "omit"
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Job']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/status': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          wait?: unknown
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['JobState']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/attempts': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListJobAttemptsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/cancel': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        202: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Job']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/source': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'text/plain': string
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/tasks': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListJobTasksResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/events': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          follow?: boolean
        }
        header?: {
          'last-event-id'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'text/event-stream': string
          }
        }
        204: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/rerun': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['RerunJobResponse']
          }
        }
        400: Refusal
        401: Refusal
        402: {
          headers: Headers
          content: {
            'application/json': components['schemas']['BudgetError']
          }
        }
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/events': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          follow?: boolean
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'text/event-stream': string
          }
        }
        400: Refusal
        401: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/estimate': {
    parameters: NoParameters
    get: {
      parameters: {
        query: {
          backend: string
          shots: number
          tasks?: number
          circuit_count?: number
          job_params?: string
          team_id?: string
          max_cost_usd?: number
          max_wait_seconds?: number
          min_qubits?: number
          hardware?: boolean
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['EstimateJobResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['EstimateJobParamsRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['EstimateJobResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/destinations': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          shots?: number
          circuit_count?: number
          qubits?: number
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['JobDestinations']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['PriceDestinationsRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['JobDestinations']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/compare': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['CompareJobsRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['JobComparison']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/managed-runtimes': {
    parameters: NoParameters
    get: {
      parameters: {
        query: {
          team_id: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListManagedRuntimesResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/artifacts': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListJobArtifactsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/result': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': { [name: string]: unknown }
          }
        }
        304: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        404: Refusal
        410: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/jobs/{id}/artifacts/{name}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
          name: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            '*/*': string
          }
        }
        304: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        404: Refusal
        410: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/playground/run': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['RunPlaygroundRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['RunPlaygroundResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/playground/convert': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['ConvertPlaygroundRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ConvertPlaygroundResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/playground/telemetry': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['ReportPlaygroundRunRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/{id}/execution-options': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          shots?: number
          circuit_count?: number
          team_id?: string
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListScriptDestinationsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/{id}/analyse': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AnalyseScriptRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AnalyseScriptResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          limit?: number
          offset?: number
          script_type?: "script" | "task" | "workflow"
          user_only?: boolean
          kind?: "own" | "team" | "public" | "template"
          team_id?: string
          q?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListScriptsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['SaveJobScriptRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['SaveJobScriptResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/upload': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UploadScriptRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['UploadScriptResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/{id}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Script']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateScriptRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['UpdateScriptResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        502: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/{id}/versions': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          limit?: number
          offset?: number
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListScriptVersionsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/{id}/versions/{version}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
          version: number
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ScriptVersion']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/scripts/{id}/publish': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Script']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/run': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['RunCapsuleRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['RunCapsuleResponse']
          }
        }
        400: Refusal
        401: Refusal
        402: {
          headers: Headers
          content: {
            'application/json': components['schemas']['BudgetError']
          }
        }
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/runs': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          status?: "pending" | "running" | "judging" | "completed" | "failed" | "cancelled" | "refused"
          trigger?: "request" | "schedule" | "backfill" | "confirmation"
          id_end?: string
          limit?: number
          offset?: number
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListCapsuleRunsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/runs/{runId}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
          runId: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['CapsuleRun']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/schedule': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['CapsuleSchedule']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    put: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['SetCapsuleScheduleRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['CapsuleSchedule']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/schedule/backfill': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['BackfillCapsuleScheduleRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['BackfillCapsuleScheduleResponse']
          }
        }
        400: Refusal
        401: Refusal
        402: {
          headers: Headers
          content: {
            'application/json': components['schemas']['BudgetError']
          }
        }
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/verifications': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          limit?: number
          offset?: number
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListCapsuleVerificationsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/files/{name}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
          name: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            '*/*': string
          }
        }
        304: {
          headers: Headers
          content?: never
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/schedules/preview': {
    parameters: NoParameters
    get: {
      parameters: {
        query: {
          cron: string
          timezone?: string
          from?: string
          to?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['SchedulePreview']
          }
        }
        400: Refusal
        401: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/import': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'multipart/form-data': string
          'application/octet-stream': string
          'application/gzip': string
          'application/x-gzip': string
          'application/zip': string
          'application/x-zip-compressed': string
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ImportCapsuleResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/upload': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'multipart/form-data': string
          'application/yaml': string
          'text/yaml': string
          'application/x-yaml': string
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['UploadCapsuleResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/export': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          format?: "capsule" | "rocrate"
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            '*/*': string
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/attestation': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetCapsuleAttestationResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/create': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['CreateCapsuleRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['CreateCapsuleResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
          state?: "draft" | "runnable" | "sealed" | "published" | "archived"
          q?: string
          tag?: string
          mine?: boolean
          id_end?: string
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListCapsulesResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Capsule']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateCapsuleRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Capsule']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        422: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/from-job': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['CreateCapsuleFromJobRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['CreateCapsuleFromJobResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/clone': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: {
          'application/json': components['schemas']['CloneCapsuleRequest'] | null
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['CloneCapsuleResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/seal': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['SealCapsuleRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Capsule']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/publish': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['PublishCapsuleRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Capsule']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/archive': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Capsule']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/public': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          q?: string
          tag?: string
          category?: string
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListPublicCapsulesResponse']
          }
        }
        400: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/public/{slug}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          slug: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['PublicCapsule']
          }
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/public/{slug}/export': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          format?: "capsule" | "rocrate"
        }
        header?: never
        path: {
          slug: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            '*/*': string
          }
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/public/{slug}/attestation': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          slug: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetPublicCapsuleAttestationResponse']
          }
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/public/{slug}/files/{name}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          slug: string
          name: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            '*/*': string
          }
        }
        304: {
          headers: Headers
          content?: never
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/public/{slug}/verifications': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          limit?: number
          offset?: number
        }
        header?: never
        path: {
          slug: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListPublicCapsuleVerificationsResponse']
          }
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/budget': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamBudget']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateBudgetRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Budget']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/retention': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamRetention']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateRetentionRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamRetention']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/usage': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
          month?: string
          months?: number
          format?: "json" | "csv"
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetUsageResponse']
            'text/csv': string
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/capsules/{id}/audit': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          action?: "capsule.created" | "capsule.updated" | "capsule.deleted" | "capsule.sealed" | "capsule.published" | "capsule.archived" | "capsule.cloned" | "capsule.imported" | "capsule.run" | "capsule.verified" | "capsule.schedule.changed" | "capsule.schedule.deleted" | "capsule.takedown" | "account.proved"
          from?: string
          to?: string
          seq_max?: number
          limit?: number
          offset?: number
        }
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListCapsuleAuditEntriesResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/audit': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
          capsule_id?: string
          action?: "capsule.created" | "capsule.updated" | "capsule.deleted" | "capsule.sealed" | "capsule.published" | "capsule.archived" | "capsule.cloned" | "capsule.imported" | "capsule.run" | "capsule.verified" | "capsule.schedule.changed" | "capsule.schedule.deleted" | "capsule.takedown" | "account.proved"
          from?: string
          to?: string
          seq_max?: number
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListAuditEntriesResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/audit/verify': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TrailReport']
            'text/event-stream': string
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/meta/keys': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListSigningKeysResponse']
          }
        }
        400: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/teams': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListTeamsResponse']
          }
        }
        400: Refusal
        401: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['CreateTeamRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamRecord']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/teams/{id}': {
    parameters: NoParameters
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['RenameTeamRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamRecord']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/teams/{id}/transfer': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['TransferTeamRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamRecord']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/teams/{id}/leave': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/members': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListMembersResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/members/{userId}': {
    parameters: NoParameters
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          userId: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateMemberRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Member']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          userId: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['RemoveMemberRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/invitations': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListInvitationsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['CreateInvitationRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Invitation']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/invitations/{id}': {
    parameters: NoParameters
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateInvitationRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Invitation']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/invitations/{token}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['GetInvitationResponse']
          }
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/invitations/{token}/accept': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AcceptInvitationResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/api-keys': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListApiKeysResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['CreateApiKeyRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['NewApiKey'] | components['schemas']['ShownOnce']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/api-keys/{id}': {
    parameters: NoParameters
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/webhooks': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListWebhooksResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['CreateWebhookRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['NewWebhook'] | components['schemas']['ShownOnce']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/webhooks/{id}': {
    parameters: NoParameters
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/webhooks/{id}/deliveries': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListWebhookDeliveriesResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/webhooks/{id}/test': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Delivery']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/webhooks/{id}/deliveries/{deliveryId}/again': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
          deliveryId: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Delivery']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/secrets': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          team_id?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['ListSecretsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['StoreSecretsRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['StoreSecretsResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/secrets/test': {
    parameters: NoParameters
    post: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['TestSecretsRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TestSecretsResponse']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/team/secrets/{id}': {
    parameters: NoParameters
    delete: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/profile': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Profile']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['UpdateProfileRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Profile']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    delete: {
      parameters: NoParameters
      requestBody: {
        content: {
          'application/json': components['schemas']['DeleteAccountRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Done']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/profile/deletion': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AccountDeletion']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/profiles/{username}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          username: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Profile']
          }
        }
        400: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/teams': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          q?: string
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AdminListTeamsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/users': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          q?: string
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AdminListUsersResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/teams/{id}': {
    parameters: NoParameters
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminUpdateTeamRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AnyTeam']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/teams/{id}/suspend': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminSuspendTeamRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AnyTeam']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/teams/{id}/unsuspend': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AnyTeam']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/access-codes': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          limit?: number
          offset?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AdminListAccessCodesResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminCreateAccessCodeRequest']
        }
      }
      responses: {
        201: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AccessCode']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/backends/{slug}': {
    parameters: NoParameters
    patch: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          slug: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminUpdateBackendRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Backend']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/teams/{id}/budgets': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Budget']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    put: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminSetBudgetRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Budget']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/capsules/{id}/takedown': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminTakeDownCapsuleRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Capsule']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/jobs': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          q?: string
          limit?: number
          offset?: number
          status?: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AdminListJobsResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/jobs/{id}': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AnyJobRecord']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/jobs/{id}/cancel': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        202: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Job']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/money': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          limit?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Money']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/jobs/{id}/settle': {
    parameters: NoParameters
    post: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminSettleJobRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['Job']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/audit': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: {
          cursor?: string
          action?: "access_code.create" | "backend.change" | "capsule.takedown" | "job.cancel" | "job.settle" | "signing_key.rotate" | "team.budget" | "team.limits" | "team.storage" | "team.suspend" | "team.unsuspend" | "user.grant"
          from?: string
          to?: string
          limit?: number
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['AdminListAuditEntriesResponse']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/teams/{id}/storage': {
    parameters: NoParameters
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamStorage']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
    put: {
      parameters: {
        query?: never
        header?: {
          'Idempotency-Key'?: string
        }
        path: {
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: {
          'application/json': components['schemas']['AdminSetStorageRequest']
        }
      }
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['TeamStorage']
          }
        }
        400: Refusal
        401: Refusal
        403: Refusal
        404: Refusal
        409: Refusal
        413: Refusal
        415: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
  '/api/admin/system': {
    parameters: NoParameters
    get: {
      parameters: NoParameters
      requestBody?: never
      responses: {
        200: {
          headers: Headers
          content: {
            'application/json': components['schemas']['System']
          }
        }
        400: Refusal
        401: Refusal
        404: Refusal
        429: Refusal
        500: Refusal
        503: Refusal
      }
    }
  }
}

export interface components {
  schemas: {
    GetHealthResponse: {
      status: "ok"
    }
    ErrorDetails: {
      code: "unauthorized" | "permission_denied" | "team_suspended" | "not_found" | "contents_removed" | "validation_error" | "not_available" | "payload_too_large" | "unsupported_media_type" | "conflict" | "slug_conflict" | "analysis_mismatch" | "storage_limit_exceeded" | "idempotency_conflict" | "request_under_way" | "service_busy" | "database_unavailable" | "content_store_unavailable" | "storage_full" | "budget_exceeded" | "spend_limit_exceeded" | "backend_unknown" | "backend_retired" | "backend_unavailable" | "provider_refused" | "provider_failed" | "provider_unreachable" | "provider_outcome_unknown" | "price_changed" | "language_not_detected" | "execution_error" | "unsupported_operation" | "rate_limited" | "worker_unreachable" | "worker_not_configured" | "execution_service_lost" | "executor_shut_down" | "worker_lost" | "dispatch_failed" | "internal_error"
      message: string
      status: number
    } & { [name: string]: unknown }
    StructuredError: {
      error: components['schemas']['ErrorDetails']
    }
    SessionError: {
      error: string
      code?: string
    } & { [name: string]: unknown }
    Error: components['schemas']['StructuredError'] | components['schemas']['SessionError']
    ReadinessPartsDatabase: {
      state: "ok" | "degraded" | "down"
      latency_ms: number
      message?: string
    }
    ReadinessPartsRedis: {
      state: "ok" | "degraded" | "down"
      latency_ms: number
      message?: string
    }
    ReadinessPartsTemporal: {
      state: "ok" | "degraded" | "down"
      latency_ms: number
      message?: string
    }
    ReadinessPartsExecutor: {
      state: "ok" | "degraded" | "down"
      latency_ms: number
      message?: string
    }
    ReadinessParts: {
      database: components['schemas']['ReadinessPartsDatabase']
      redis: components['schemas']['ReadinessPartsRedis']
      temporal: components['schemas']['ReadinessPartsTemporal']
      executor: components['schemas']['ReadinessPartsExecutor']
    }
    Readiness: {
      status: "ok" | "degraded" | "down"
      parts: components['schemas']['ReadinessParts']
    }
    GetMetaResponseFeaturesBrowserSimulator: {
      warn_from_qubits: number
      qubits_max: number
    }
    GetMetaResponseFeatures: {
      execution_modes: ("direct" | "temporal")[]
      sign_in: ("password" | "oidc")[]
      frameworks: ("qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "braket")[]
      access_codes: boolean
      mail: boolean
      browser_simulator: components['schemas']['GetMetaResponseFeaturesBrowserSimulator']
    }
    GetMetaResponse: {
      name: string
      api_version: string
      version: string
      features: components['schemas']['GetMetaResponseFeatures']
    }
    CredentialField: {
      name: string
      required: boolean
      expected: string
      secret: boolean
      together: string[]
      needed_for_jobs: string | null
    }
    CredentialProvider: {
      provider: "aws-braket" | "ibm-quantum" | "azure-quantum" | "ionq"
      name: string
      supported: boolean
      credentials: components['schemas']['CredentialField'][]
    }
    ListProvidersResponse: {
      providers: components['schemas']['CredentialProvider'][]
    }
    BackendPricing: {
      taskFee: number
      perShot: number
      minimumCost: number
      perSecond?: number
      secondsMax?: number
    }
    Backend: {
      id: string
      slug: string
      name: string
      provider: string
      deviceType: "simulator" | "qpu"
      providerTargetId: string
      region: string | null
      qubitCount: number | null
      topology: string | null
      isAvailable: boolean
      unavailableReason: string | null
      status: "online" | "offline" | "maintenance"
      pricing: components['schemas']['BackendPricing']
      maxShots: number | null
      maxQubits: number | null
      description: string | null
      documentationUrl: string | null
      tags: string[]
      displayOrder: number
      isRecommended: boolean
      isRetired: boolean
      emulated: boolean
      queueLength: number | null
      queueTimeSeconds: number | null
      statusUpdatedAt: string
      supportedProgramTypes: string[]
      supportsNoiseModel: boolean
      supportsStateVector: boolean
      supportsSweeps: boolean
      nativeGates: string[] | null
    }
    ListBackendsResponse: {
      backends: components['schemas']['Backend'][]
      updatedAt: string
    }
    ValidateCodeRequest: {
      code: string
    }
    ValidateCodeResponse: {
      valid: boolean
      remaining_uses: number
    }
    SignUpRequest: {
      email: string
      password: string
      code?: string
      invitation_token?: string
      display_name?: string
    }
    User: {
      id: string
      email: string
      username: string
      display_name: string | null
      is_platform_admin: boolean
      created_at: string
    }
    SignUpResponse: {
      user: components['schemas']['User']
    }
    SignInRequest: {
      email: string
      password: string
    }
    SignInResponse: {
      user: components['schemas']['User']
    }
    Team: {
      id: string
      name: string
      role: "owner" | "admin" | "member"
      suspended: boolean
      suspended_reason: string | null
    }
    CurrentSession: {
      id: string
      expires_at: string
      idle_until: string
    }
    GetSessionResponse: {
      user: components['schemas']['User']
      teams: components['schemas']['Team'][]
      session: components['schemas']['CurrentSession']
    }
    Session: {
      id: string
      created_at: string
      last_seen_at: string
      user_agent: string | null
      current: boolean
    }
    ListSessionsResponse: {
      sessions: components['schemas']['Session'][]
    }
    ChangePasswordRequest: {
      password: string
      new_password: string
    }
    Done: {
      success: true
    }
    RequestPasswordResetRequest: {
      email: string
    }
    ResetPasswordRequest: {
      token: string
      password: string
    }
    NativeSubmissionSource: {
      kind: "inline" | "script"
      content?: string
      script_id?: string
    }
    NativeSubmission: {
      protocol_version: "marqov.public-submission/v1"
      team_id: string
      backend: string
      programming_model: "native_workflow" | "single_task"
      cap_cents: number
      analysis_id?: null
      source: components['schemas']['NativeSubmissionSource']
      input: string
      source_sha256?: string
    }
    JobSubmissionCircuit: {
      format: "qasm2" | "qasm3" | "ahs"
      payload: string
    }
    CircuitOfSweep: {
      format: "qasm2" | "qasm3"
      payload: string
      params?: { [name: string]: unknown }
    }
    JobSubmissionChoose: {
      max_cost_usd?: number
      max_wait_seconds?: number
      min_qubits?: number
      hardware?: boolean
    }
    JobSubmissionParamsMitigationZne: {
      factors: number[]
      fit: "linear" | "polynomial" | "richardson"
      order?: number
    }
    JobSubmissionParamsMitigation: {
      readout?: boolean
      zne?: components['schemas']['JobSubmissionParamsMitigationZne']
    }
    JobSubmissionParams: {
      shots: number
      theta?: number
      graph_size?: number
      layers?: number
      noise_model?: { [name: string]: unknown }
      seed?: number
      optimization_level?: number
      extract_state_vector?: boolean
      circuit_count?: number
      observables?: string[]
      observables_method?: "exact" | "sampled"
      mitigation?: components['schemas']['JobSubmissionParamsMitigation']
      points?: { [name: string]: unknown }[]
    } & { [name: string]: unknown }
    JobSubmission: {
      script_id?: string
      script_slug?: string
      inline_code?: string
      circuit?: components['schemas']['JobSubmissionCircuit']
      circuits?: components['schemas']['CircuitOfSweep'][]
      framework?: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "braket"
      backend: string
      choose?: components['schemas']['JobSubmissionChoose']
      params: components['schemas']['JobSubmissionParams']
      create_capsule?: boolean
      capsule_name?: string
      execution_mode?: "direct" | "temporal"
      team_id?: string
      name?: string
      labels?: string[]
      timeout_seconds?: number
      max_cost_usd?: number
      not_before?: string
      notify?: "email"
      analysis_id?: string | null
      warn_check_ids?: string[]
      sdk_version?: string
    }
    AdmissionReceipt: {
      protocol_version: "marqov.funded-admission-receipt/v1"
      job_id: string
      submission_id: string
      source_sha256: string
      input_sha256: string
    }
    SubmittedJob: {
      job_id: string
    }
    BudgetErrorDetails: {
      code: "unauthorized" | "permission_denied" | "team_suspended" | "not_found" | "contents_removed" | "validation_error" | "not_available" | "payload_too_large" | "unsupported_media_type" | "conflict" | "slug_conflict" | "analysis_mismatch" | "storage_limit_exceeded" | "idempotency_conflict" | "request_under_way" | "service_busy" | "database_unavailable" | "content_store_unavailable" | "storage_full" | "budget_exceeded" | "spend_limit_exceeded" | "backend_unknown" | "backend_retired" | "backend_unavailable" | "provider_refused" | "provider_failed" | "provider_unreachable" | "provider_outcome_unknown" | "price_changed" | "language_not_detected" | "execution_error" | "unsupported_operation" | "rate_limited" | "worker_unreachable" | "worker_not_configured" | "execution_service_lost" | "executor_shut_down" | "worker_lost" | "dispatch_failed" | "internal_error"
      message: string
      status: number
      estimated_cost: number
      current_spend: number
      budget: number
      remaining_budget: number
    } & { [name: string]: unknown }
    StructuredBudgetError: {
      error: components['schemas']['BudgetErrorDetails']
    }
    SessionBudgetError: {
      error: string
      code?: string
      estimated_cost: number
      current_spend: number
      budget: number
      remaining_budget: number
    } & { [name: string]: unknown }
    BudgetError: components['schemas']['StructuredBudgetError'] | components['schemas']['SessionBudgetError']
    JobSource: {
      kind: "inline" | "circuit" | "circuits" | "script" | "capsule"
      format: "qasm2" | "qasm3" | "ahs" | null
      script_id: string | null
      script_version: number | null
      sha256: string
    }
    Failure: {
      code: "unauthorized" | "permission_denied" | "team_suspended" | "not_found" | "contents_removed" | "validation_error" | "not_available" | "payload_too_large" | "unsupported_media_type" | "conflict" | "slug_conflict" | "analysis_mismatch" | "storage_limit_exceeded" | "idempotency_conflict" | "request_under_way" | "service_busy" | "database_unavailable" | "content_store_unavailable" | "storage_full" | "budget_exceeded" | "spend_limit_exceeded" | "backend_unknown" | "backend_retired" | "backend_unavailable" | "provider_refused" | "provider_failed" | "provider_unreachable" | "provider_outcome_unknown" | "price_changed" | "language_not_detected" | "execution_error" | "unsupported_operation" | "rate_limited" | "worker_unreachable" | "worker_not_configured" | "execution_service_lost" | "executor_shut_down" | "worker_lost" | "dispatch_failed" | "internal_error"
      message: string
    }
    JobProgress: {
      points_total: number
      points_done: number
      points_failed: number
    }
    ProviderJobUsage: {
      amount: number
      unit: string
    }
    ProviderJob: {
      provider_job_id: string | null
      provider: string
      status: string
      submitted_at: string | null
      ended_at: string | null
      queue_position: number | null
      cost_usd: number | null
      usage: components['schemas']['ProviderJobUsage'] | null
      note: string | null
    }
    JobCancel: {
      requested_at: string
      outcome: "stopped_before_provider" | "provider_confirmed" | "provider_unknown" | "too_late" | null
    }
    JobWorkflow: {
      id: string
      run_id: string | null
      url: string | null
    }
    JobQueue: {
      position: number | null
      reason: "not_before" | "engine_unavailable" | "waiting_for_worker" | "backend_offline" | "concurrency_limit" | "earlier_task" | "provider_queue"
      message: string
    }
    JobSummary: {
      id: string
      name: string | null
      labels: string[]
      timeout_seconds: number
      team_id: string
      user_id: string | null
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      status_reason: string | null
      backend: string
      provider: string
      execution_mode: "direct" | "temporal"
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "ahs" | null
      source: components['schemas']['JobSource']
      script_id: string | null
      capsule_id: string | null
      capsule_run_id: string | null
      estimated_cost_usd: number
      actual_cost_usd: number | null
      error: components['schemas']['Failure'] | null
      attempts: number
      progress: components['schemas']['JobProgress'] | null
      provider_jobs: components['schemas']['ProviderJob'][]
      emulated: boolean
      cancel: components['schemas']['JobCancel'] | null
      workflow: components['schemas']['JobWorkflow'] | null
      not_before: string | null
      created_at: string
      started_at: string | null
      completed_at: string | null
      updated_at: string
      queue: components['schemas']['JobQueue'] | null
      params: { [name: string]: unknown } | null
      params_omitted: boolean
      summary: { [name: string]: string } | null
    }
    ListJobsResponse: {
      jobs: components['schemas']['JobSummary'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
      total_estimate?: number
      next_cursor: string | null
    }
    JobActions: {
      cancel: true | string
      rerun: true | string
      make_capsule: true | string
      save_script: true | string
    }
    RemovedContents: {
      results?: string
      task_values?: string
      output?: string
    }
    BackendChoiceAsked: {
      max_cost_usd: number | null
      max_wait_seconds: number | null
      min_qubits: number | null
      hardware: boolean | null
    }
    BackendChoiceCandidate: {
      backend: string
      usable: boolean
      reason: string
      estimated_cost_usd: number
      wait_seconds: number | null
      max_qubits: number | null
      hardware: boolean
    }
    BackendChoice: {
      asked: components['schemas']['BackendChoiceAsked']
      chosen: string
      at: string
      candidates: components['schemas']['BackendChoiceCandidate'][]
    }
    Job: {
      id: string
      name: string | null
      labels: string[]
      timeout_seconds: number
      team_id: string
      user_id: string | null
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      status_reason: string | null
      backend: string
      provider: string
      execution_mode: "direct" | "temporal"
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "ahs" | null
      source: components['schemas']['JobSource']
      script_id: string | null
      capsule_id: string | null
      capsule_run_id: string | null
      estimated_cost_usd: number
      actual_cost_usd: number | null
      error: components['schemas']['Failure'] | null
      attempts: number
      progress: components['schemas']['JobProgress'] | null
      provider_jobs: components['schemas']['ProviderJob'][]
      emulated: boolean
      cancel: components['schemas']['JobCancel'] | null
      workflow: components['schemas']['JobWorkflow'] | null
      not_before: string | null
      created_at: string
      started_at: string | null
      completed_at: string | null
      updated_at: string
      queue: components['schemas']['JobQueue'] | null
      params: { [name: string]: unknown }
      can?: components['schemas']['JobActions']
      removed?: components['schemas']['RemovedContents']
      entrypoint: string | null
      max_cost_usd: number | null
      choice: components['schemas']['BackendChoice'] | null
      result_bytes?: number | null
      result: { [name: string]: unknown } | null
    }
    JobState: {
      id: string
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      backend: string
      created_at: string
      updated_at: string
      estimated_cost_usd: number
      result: { [name: string]: unknown } | null
    }
    Attempt: {
      task_id: string | null
      task: string
      number: number
      state: "running" | "completed" | "failed" | "cancelled" | "lost"
      started_at: string
      ended_at: string | null
      error: components['schemas']['Failure'] | null
      backoff_ms: number | null
      provider_job_id: string | null
      cost_usd: number | null
    }
    ListJobAttemptsResponse: {
      attempts: components['schemas']['Attempt'][]
    }
    Task: {
      id: string
      key: string
      name: string
      state: "pending" | "running" | "completed" | "failed" | "cancelled" | "skipped"
      depends_on: string[]
      attempts: number
      started_at: string | null
      completed_at: string | null
      error: components['schemas']['Failure'] | null
      stdout: string | null
    }
    ListJobTasksResponse: {
      tasks: components['schemas']['Task'][]
      progress: components['schemas']['JobProgress'] | null
    }
    RerunJobResponse: {
      job_id: string
    }
    EstimateJobResponseBreakdown: {
      task_fee: number
      per_shot: number
      shots: number
      tasks: number
      minimum_cost: number
      per_second?: number
      seconds_max?: number
    }
    BudgetLimits: {
      per_job_usd: number
      per_suite_usd: number
      daily_usd: number
      monthly_usd: number
    }
    BudgetCeilings: {
      per_job_usd: number
      per_suite_usd: number
      daily_usd: number
      monthly_usd: number
    }
    BudgetDay: {
      date: string
      spent_usd: number
      reserved_usd: number
      remaining_usd: number
    }
    BudgetMonth: {
      month: string
      spent_usd: number
      reserved_usd: number
      remaining_usd: number
    }
    Budget: {
      team_id: string | null
      limits: components['schemas']['BudgetLimits']
      ceilings: components['schemas']['BudgetCeilings']
      day: components['schemas']['BudgetDay']
      month: components['schemas']['BudgetMonth']
    }
    SubmissionRefusal: {
      check: "key" | "backend" | "params" | "team" | "credentials" | "qubits" | "budget"
      message: string
    }
    EstimateJobResponse: {
      estimated_cost_usd: number
      circuits: number
      breakdown: components['schemas']['EstimateJobResponseBreakdown']
      budget: components['schemas']['Budget']
      refusals: components['schemas']['SubmissionRefusal'][]
      choice: components['schemas']['BackendChoice'] | null
    }
    EstimateJobParamsRequestParamsMitigationZne: {
      factors: number[]
      fit: "linear" | "polynomial" | "richardson"
      order?: number
    }
    EstimateJobParamsRequestParamsMitigation: {
      readout?: boolean
      zne?: components['schemas']['EstimateJobParamsRequestParamsMitigationZne']
    }
    EstimateJobParamsRequestParams: {
      shots: number
      theta?: number
      graph_size?: number
      layers?: number
      noise_model?: { [name: string]: unknown }
      seed?: number
      optimization_level?: number
      extract_state_vector?: boolean
      circuit_count?: number
      observables?: string[]
      observables_method?: "exact" | "sampled"
      mitigation?: components['schemas']['EstimateJobParamsRequestParamsMitigation']
      points?: { [name: string]: unknown }[]
    } & { [name: string]: unknown }
    EstimateJobParamsRequestChoose: {
      max_cost_usd?: number
      max_wait_seconds?: number
      min_qubits?: number
      hardware?: boolean
    }
    EstimateJobParamsRequest: {
      backend: string
      params: components['schemas']['EstimateJobParamsRequestParams']
      choose?: components['schemas']['EstimateJobParamsRequestChoose']
      max_cost_usd?: number
      qubits?: number
      team_id?: string
    }
    JobDestinationsTeam: {
      id: string
      name: string
      role: "owner" | "admin" | "member"
      suspended: boolean
    }
    DestinationBreakdown: {
      task_fee: number
      per_shot: number
      shots: number
      tasks: number
      minimum_cost: number
      per_second?: number
      seconds_max?: number
    }
    Destination: {
      backend: string
      name: string
      provider: string
      device_type: "simulator" | "qpu"
      emulated: boolean
      status: "online" | "offline" | "maintenance"
      queue_length: number | null
      queue_seconds: number | null
      max_qubits: number | null
      max_shots: number | null
      estimated_cost_usd: number
      breakdown: components['schemas']['DestinationBreakdown']
      available: boolean
      refusals: components['schemas']['SubmissionRefusal'][]
    }
    JobDestinations: {
      team: components['schemas']['JobDestinationsTeam'] | null
      budget: components['schemas']['Budget']
      destinations: components['schemas']['Destination'][]
    }
    PriceDestinationsRequestParamsMitigationZne: {
      factors: number[]
      fit: "linear" | "polynomial" | "richardson"
      order?: number
    }
    PriceDestinationsRequestParamsMitigation: {
      readout?: boolean
      zne?: components['schemas']['PriceDestinationsRequestParamsMitigationZne']
    }
    PriceDestinationsRequestParams: {
      shots: number
      theta?: number
      graph_size?: number
      layers?: number
      noise_model?: { [name: string]: unknown }
      seed?: number
      optimization_level?: number
      extract_state_vector?: boolean
      circuit_count?: number
      observables?: string[]
      observables_method?: "exact" | "sampled"
      mitigation?: components['schemas']['PriceDestinationsRequestParamsMitigation']
      points?: { [name: string]: unknown }[]
    } & { [name: string]: unknown }
    PriceDestinationsRequest: {
      params: components['schemas']['PriceDestinationsRequestParams']
      program?: "circuit" | "analog"
      max_cost_usd?: number
      qubits?: number
      team_id?: string
    }
    CompareJobsRequestA: {
      job_id: string
      point?: number
    }
    CompareJobsRequestB: {
      job_id: string
      point?: number
    }
    CompareJobsRequest: {
      a: string | components['schemas']['CompareJobsRequestA']
      b: string | components['schemas']['CompareJobsRequestB']
      margin?: number
    }
    PValues: {
      pearson: number | null
      cdvv: number | null
      combined: number | null
    }
    PublicCompareTool: {
      bound: number | null
      epsilon: number
      says: "VERIFIED" | "INCONCLUSIVE"
      note: string
    }
    ComparedJob: {
      job_id: string
      point: number | null
      backend: string
      hardware: boolean
      count_source: string | null
      seed: number | null
      engine: string | null
      engine_version: string | null
      calibration_id: string | null
      completed_at: string | null
    }
    ComparedCircuitHardware: {
      a_calibration_id: string | null
      b_calibration_id: string | null
      elapsed_seconds: number | null
    }
    ComparedCircuitCount: {
      outcome: string
      a: number
      b: number
    }
    ComparedCircuitLeftOut: {
      outcomes: number
      a: number
      b: number
    }
    ComparedCircuit: {
      name: string
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different"
      method: "equality" | "pearson+cdvv" | "none"
      reason: string
      p_values: components['schemas']['PValues']
      tvd: number | null
      tvd_upper: number | null
      needed_shots: number | null
      compare: components['schemas']['PublicCompareTool'] | null
      n: number | null
      m: number | null
      outcomes: number | null
      p_adjusted: number | null
      draws: number | null
      tvd_null: number | null
      tvd_excess: number | null
      hellinger_fidelity: number | null
      hardware: components['schemas']['ComparedCircuitHardware'] | null
      notes: string[]
      counts: components['schemas']['ComparedCircuitCount'][]
      left_out: components['schemas']['ComparedCircuitLeftOut']
    }
    JobComparison: {
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different"
      method: "equality" | "pearson+cdvv" | "none"
      reason: string
      p_values: components['schemas']['PValues']
      tvd: number | null
      tvd_upper: number | null
      needed_shots: number | null
      compare: components['schemas']['PublicCompareTool'] | null
      statement: string
      alpha: number
      beta: number
      margin: number
      a: components['schemas']['ComparedJob']
      b: components['schemas']['ComparedJob']
      circuits: components['schemas']['ComparedCircuit'][]
      circuits_left_out: number
    }
    ManagedRuntime: {
      backend: string
      programming_model: "native_workflow" | "single_task"
      min_cap_cents: number
      max_cap_cents: number
    }
    ListManagedRuntimesResponse: {
      runtimes: components['schemas']['ManagedRuntime'][]
    }
    Artifact: {
      name: string
      sha256: string
      size_bytes: number
      media_type: string
      url: string
    }
    ListJobArtifactsResponse: {
      artifacts: components['schemas']['Artifact'][]
    }
    RunPlaygroundRequest: {
      code: string
      language: "auto" | "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "braket"
      backend: string
      shots: number
    }
    RunPlaygroundResponse: {
      counts: unknown
      backend: string
      shots: number
      execution_time_ms: unknown
      cost_usd: 0
      language_detected: "auto" | "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov"
      circuit_info: unknown
      metadata: { [name: string]: unknown }
      warnings: unknown
      stdout: unknown
    } & { [name: string]: unknown }
    ConvertPlaygroundRequest: {
      code: string
      language: "qiskit" | "cirq" | "pennylane" | "marqov" | "braket"
    }
    CircuitInfo: { [name: string]: unknown }
    ConvertPlaygroundResponse: {
      qasm: string
      circuit_info: components['schemas']['CircuitInfo']
      warnings: string[]
    }
    ReportPlaygroundRunRequest: {
      session_id: string
      team_id: string
      simulator: "quantum-circuit" | "qulacs-wasm" | "statevector-js"
      simulator_version?: string
      qasm_input: string
      shots: number
      qubit_count: number
      gate_count: number
      execution_time_ms: number
      counts: { [name: string]: number }
      source_framework?: "qiskit" | "cirq" | "pennylane" | "qasm"
      user_agent?: string
    }
    ListScriptDestinationsResponseTeam: {
      id: string
      name: string
      role: "owner" | "admin" | "member"
      suspended: boolean
    }
    ListScriptDestinationsResponseDestination: {
      backend: string
      name: string
      available: boolean
      reason: string | null
      estimated_cost_usd: number
      requires_analysis: boolean
    }
    ListScriptDestinationsResponse: {
      script_id: string
      source_sha256: string
      team: components['schemas']['ListScriptDestinationsResponseTeam'] | null
      destinations: components['schemas']['ListScriptDestinationsResponseDestination'][]
    }
    AnalyseScriptRequest: {
      content: string
      content_hash: string
      backend: string
      shots: number
      circuit_count?: number
      team_id?: string
    }
    ScriptCheck: {
      id: string
      level: "info" | "warning" | "error"
      message: string
      line?: number
    }
    AnalyseScriptResponseCostBreakdown: {
      task_fee: number
      per_shot: number
      shots: number
      tasks: number
      minimum_cost: number
      per_second?: number
      seconds_max?: number
    }
    AnalyseScriptResponseCost: {
      total_usd: number
      breakdown: components['schemas']['AnalyseScriptResponseCostBreakdown']
    }
    AnalyseScriptResponse: {
      analysis_id: string
      content_hash: string
      can_run: boolean
      checks: components['schemas']['ScriptCheck'][]
      cost: components['schemas']['AnalyseScriptResponseCost']
    }
    SaveJobScriptRequest: {
      job_id: string
      name: string
      description: string
      slug: string
    }
    SaveJobScriptResponse: {
      script_id: string
    }
    ScriptSummary: {
      id: string
      slug: string
      name: string
      description: string
      script_type: "script" | "task" | "workflow"
      category: string
      is_public: boolean
      is_hardcoded: boolean
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov"
      team_id: string | null
      version: number
      created_at: string
      executions_count: number
    }
    ListScriptsResponse: {
      scripts: components['schemas']['ScriptSummary'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    UploadScriptRequest: {
      name: string
      script_content: string
      description?: string
      requirements?: string | null
      script_type?: "script" | "task" | "workflow"
      team_id?: string
    }
    ScriptWarning: {
      field: "script_content" | "requirements" | "script_type"
      message: string
      line: number | null
    }
    ScriptMetadataFunction: {
      name: string
      parameters: string[]
      is_task: boolean
      is_workflow: boolean
      retries: number | null
      timeout: number | null
    }
    TemplateParameter: {
      name: string
      type: "integer" | "number" | "boolean" | "text" | "integers" | "object"
      default: unknown
      minimum?: number
      maximum?: number
      pattern?: string
      min_items?: number
      description: string
    }
    ScriptMetadata: {
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | null
      imports: string[]
      functions: components['schemas']['ScriptMetadataFunction'][]
      entry_point: string | null
      qubits?: number
      source_sha256: string
      parameters?: components['schemas']['TemplateParameter'][]
    }
    UploadScriptResponse: {
      script_id: string
      slug: string
      name: string
      script_type: "script" | "task" | "workflow"
      status: "validated"
      validation_warnings: string[]
      warnings: components['schemas']['ScriptWarning'][]
      metadata: components['schemas']['ScriptMetadata']
    }
    UpdateScriptRequest: {
      name?: string
      description?: string
      script_content?: string
      requirements?: string | null
      framework?: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "braket"
      unchanged_since?: string
    }
    ScriptActions: {
      update: true | string
      publish: true | string
      delete: true | string
    }
    UpdateScriptResponseExecution: {
      id: string
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      backend: string
      script_version: number | null
      created_at: string
      completed_at: string | null
      estimated_cost_usd: number
    }
    UpdateScriptResponse: {
      id: string
      slug: string
      name: string
      description: string
      script_type: "script" | "task" | "workflow"
      category: string
      is_public: boolean
      is_hardcoded: boolean
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov"
      team_id: string | null
      version: number
      created_at: string
      executions_count: number
      script_content: string
      requirements: string | null
      user_id: string | null
      source_sha256: string
      metadata: components['schemas']['ScriptMetadata']
      is_active: boolean
      published_at: string | null
      updated_at: string
      can: components['schemas']['ScriptActions']
      executions: components['schemas']['UpdateScriptResponseExecution'][]
      validation_warnings: string[]
      warnings: components['schemas']['ScriptWarning'][]
    }
    ScriptExecution: {
      id: string
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      backend: string
      script_version: number | null
      created_at: string
      completed_at: string | null
      estimated_cost_usd: number
    }
    Script: {
      id: string
      slug: string
      name: string
      description: string
      script_type: "script" | "task" | "workflow"
      category: string
      is_public: boolean
      is_hardcoded: boolean
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov"
      team_id: string | null
      version: number
      created_at: string
      executions_count: number
      script_content: string
      requirements: string | null
      user_id: string | null
      source_sha256: string
      metadata: components['schemas']['ScriptMetadata']
      is_active: boolean
      published_at: string | null
      updated_at: string
      can: components['schemas']['ScriptActions']
      executions: components['schemas']['ScriptExecution'][]
    }
    ScriptVersionSummary: {
      version: number
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov"
      source_sha256: string
      source_bytes: number
      created_by: string | null
      created_at: string
    }
    ListScriptVersionsResponse: {
      versions: components['schemas']['ScriptVersionSummary'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    ScriptVersion: {
      version: number
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov"
      source_sha256: string
      source_bytes: number
      created_by: string | null
      created_at: string
      script_content: string
      requirements: string | null
      metadata: components['schemas']['ScriptMetadata']
    }
    RunCapsuleRequest: {
      mode: "verify" | "template"
      params?: { [name: string]: unknown }
      backend?: string
      shots?: number
      execution_mode?: "direct" | "temporal"
    }
    RunCapsuleResponse: {
      job_id: string
      capsule_run_id: string
    }
    CapsuleRunTask: {
      name: string
      job_id: string
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      backend: string
      shots: number
    }
    CapsuleRun: {
      id: string
      capsule_id: string
      team_id: string
      mode: "verify" | "template"
      trigger: "request" | "schedule" | "backfill" | "confirmation"
      user_id: string | null
      status: "pending" | "running" | "judging" | "completed" | "failed" | "cancelled" | "refused"
      reason: string | null
      definition_sha256: string
      job_ids: string[]
      tasks: components['schemas']['CapsuleRunTask'][]
      estimated_cost_usd: number
      actual_cost_usd: number | null
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different" | null
      verification: { [name: string]: unknown } | null
      scheduled_at: string | null
      confirms: string | null
      alerted_at: string | null
      created_at: string
      started_at: string | null
      completed_at: string | null
    }
    ListCapsuleRunsResponse: {
      runs: components['schemas']['CapsuleRun'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    SetCapsuleScheduleRequestAlert: {
      emails?: string[]
      on?: ("different" | "drifted" | "failed" | "not_testable")[]
    }
    SetCapsuleScheduleRequest: {
      cron: string
      timezone?: string
      paused?: boolean
      alert?: components['schemas']['SetCapsuleScheduleRequestAlert']
    }
    CapsuleScheduleAlert: {
      emails: string[]
      on: ("different" | "drifted" | "failed" | "not_testable")[]
    }
    CapsuleScheduleLastRun: {
      capsule_run_id: string
      trigger: "request" | "schedule" | "backfill" | "confirmation"
      scheduled_at: string | null
      status: "pending" | "running" | "judging" | "completed" | "failed" | "cancelled" | "refused"
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different" | null
      reason: string | null
    }
    CapsuleScheduleEngine: {
      state: "applied" | "pending" | "refused"
      reason: string | null
    }
    CapsuleSchedule: {
      capsule_id: string
      cron: string
      timezone: string
      paused: boolean
      alert: components['schemas']['CapsuleScheduleAlert']
      next_runs: string[]
      last_run: components['schemas']['CapsuleScheduleLastRun'] | null
      engine: components['schemas']['CapsuleScheduleEngine']
      created_at: string
      updated_at: string
    }
    BackfillCapsuleScheduleRequest: {
      from: string
      to: string
    }
    BackfillCapsuleScheduleResponseRun: {
      capsule_run_id: string
      scheduled_at: string
    }
    BackfillCapsuleScheduleResponse: {
      count: number
      passed_over: number
      runs: components['schemas']['BackfillCapsuleScheduleResponseRun'][]
    }
    PastVerification: {
      capsule_run_id: string
      trigger: "request" | "schedule" | "backfill" | "confirmation"
      scheduled_at: string | null
      completed_at: string
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different"
      tvd: number | null
      tvd_upper: number | null
      margin: number | null
      p_value: number | null
      alerted_at: string | null
    }
    ListCapsuleVerificationsResponseDrift: {
      points: number
      mean: number
      min: number
      max: number
      per_30_days: number | null
      standard_error: number | null
    }
    ListCapsuleVerificationsResponse: {
      verifications: components['schemas']['PastVerification'][]
      drift: components['schemas']['ListCapsuleVerificationsResponseDrift'] | null
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    SchedulePreviewDue: {
      count: number
      capped: boolean
    }
    SchedulePreview: {
      next_runs: string[]
      due: components['schemas']['SchedulePreviewDue'] | null
      fault: string | null
    }
    ImportCapsuleRequest: {
      file?: string
      team_id?: string
    }
    ImportCapsuleResponse: {
      capsule_id: string
      state: "draft"
      warnings: string[]
    }
    UploadCapsuleRequest: {
      file?: string
      team_id?: string
    }
    UploadCapsuleResponse: {
      capsule_id: string
    }
    GetCapsuleAttestationResponseSignature: {
      keyid: string
      sig: string
    }
    GetCapsuleAttestationResponse: {
      payload: string
      payloadType: "application/vnd.in-toto+json"
      signatures: components['schemas']['GetCapsuleAttestationResponseSignature'][]
    }
    CreateCapsuleRequestWorkflowTask: {
      name: string
      script_id?: string
      script_slug?: string
      inline_code?: string
      framework?: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "braket"
      backend: string
      parameters: { [name: string]: unknown }
      execution_mode?: "direct" | "temporal"
      timeout_seconds?: number
    }
    CreateCapsuleRequestWorkflow: {
      tasks: components['schemas']['CreateCapsuleRequestWorkflowTask'][]
    }
    CreateCapsuleRequest: {
      name: string
      description?: string
      tags?: string[]
      workflow?: components['schemas']['CreateCapsuleRequestWorkflow'] | null
      backends?: string[]
      max_budget_usd?: number | null
      retention_years?: number | null
      regulatory_framework?: string | null
      team_id?: string
    }
    CreateCapsuleResponse: {
      capsule_id: string
    }
    CapsuleSummaryLastVerification: {
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different"
      completed_at: string
    }
    CapsuleSummaryScheduleEngine: {
      state: "applied" | "pending" | "refused"
      reason: string | null
    }
    CapsuleSummarySchedule: {
      cron: string
      timezone: string
      paused: boolean
      next_run_at: string | null
      engine: components['schemas']['CapsuleSummaryScheduleEngine']
    }
    CapsuleSummary: {
      id: string
      team_id: string
      owner_id: string | null
      name: string
      description: string
      tags: string[]
      state: "draft" | "runnable" | "sealed" | "published" | "archived"
      backends: string[]
      max_budget_usd: number | null
      retention_years: number | null
      regulatory_framework: string | null
      source_job_id: string | null
      cloned_from: string | null
      created_at: string
      updated_at: string
      capsule_digest: string | null
      sealed_at: string | null
      slug: string | null
      last_verification: components['schemas']['CapsuleSummaryLastVerification'] | null
      schedule: components['schemas']['CapsuleSummarySchedule'] | null
      runs_under_way: number
    }
    ListCapsulesResponse: {
      capsules: components['schemas']['CapsuleSummary'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    CapsuleWorkflowTaskCircuit: {
      format: "qasm2" | "qasm3" | "ahs"
      payload: string
    }
    CapsuleWorkflowTask: {
      name: string
      script_id: string | null
      script_version: number | null
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "ahs" | "auto"
      inline_code?: string
      circuit?: components['schemas']['CapsuleWorkflowTaskCircuit']
      backend: string
      parameters: { [name: string]: unknown }
      parameters_text?: string
      execution_mode: "direct" | "temporal"
      timeout_seconds: number
      authorable: boolean
    }
    CapsuleWorkflow: {
      tasks: components['schemas']['CapsuleWorkflowTask'][]
    }
    CapsuleScriptCircuit: {
      format: "qasm2" | "qasm3" | "ahs"
      payload: string
    }
    CapsuleScript: {
      script_id: string | null
      script_version: number | null
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "ahs" | "auto"
      inline_code?: string
      circuit?: components['schemas']['CapsuleScriptCircuit']
    }
    CapsuleEvidenceArtifact: {
      name: string
      sha256: string
      size_bytes: number
      media_type: string
    }
    CapsuleEvidence: {
      task_executions: number
      artifacts: components['schemas']['CapsuleEvidenceArtifact'][]
    }
    CapsuleSealSignature: {
      key_id: string
      algorithm: "ed25519"
      envelope: { [name: string]: unknown }
    }
    CapsuleSeal: {
      digests: { [name: string]: string }
      root_digest: string
      capsule_digest: string
      sealed_at: string
      signature: components['schemas']['CapsuleSealSignature']
      exit_code: number
      margin: number
      exit_message: string | null
      warnings: string[]
      sealed_by: string
      retained_until: string | null
    }
    CapsulePublication: {
      slug: string
      title: string
      description: string
      readme: string | null
      license: string | null
      category: string | null
      tags: string[]
      published_at: string
      taken_down_at: string | null
      takedown_reason: string | null
    }
    CapsuleScheduleSummaryAlert: {
      emails: string[]
      on: string[]
    }
    CapsuleScheduleSummary: {
      cron: string
      timezone: string
      paused: boolean
      alert: components['schemas']['CapsuleScheduleSummaryAlert']
    }
    CapsuleActions: {
      update: true | string
      delete: true | string
      seal: true | string
      publish: true | string
      archive: true | string
      verify: true | string
      run: true | string
      clone: true | string
      schedule: true | string
      end_schedule: true | string
      backfill: true | string
    }
    Capsule: {
      id: string
      team_id: string
      owner_id: string | null
      name: string
      description: string
      tags: string[]
      state: "draft" | "runnable" | "sealed" | "published" | "archived"
      backends: string[]
      max_budget_usd: number | null
      retention_years: number | null
      regulatory_framework: string | null
      source_job_id: string | null
      cloned_from: string | null
      created_at: string
      updated_at: string
      workflow: components['schemas']['CapsuleWorkflow'] | null
      definition_sha256: string
      spent_usd: number
      reserved_usd: number
      derived_from: string | null
      imported: { [name: string]: unknown } | null
      script: components['schemas']['CapsuleScript'] | null
      parameters: { [name: string]: unknown } | null
      evidence: components['schemas']['CapsuleEvidence']
      seal: components['schemas']['CapsuleSeal'] | null
      publication: components['schemas']['CapsulePublication'] | null
      schedule: components['schemas']['CapsuleScheduleSummary'] | null
      can?: components['schemas']['CapsuleActions']
    }
    UpdateCapsuleRequestWorkflowTask: {
      name: string
      script_id?: string
      script_slug?: string
      inline_code?: string
      framework?: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "braket"
      backend: string
      parameters: { [name: string]: unknown }
      execution_mode?: "direct" | "temporal"
      timeout_seconds?: number
    }
    UpdateCapsuleRequestWorkflow: {
      tasks: components['schemas']['UpdateCapsuleRequestWorkflowTask'][]
    }
    UpdateCapsuleRequest: {
      name?: string
      description?: string
      tags?: string[]
      workflow?: components['schemas']['UpdateCapsuleRequestWorkflow'] | null
      backends?: string[]
      max_budget_usd?: number | null
      retention_years?: number | null
      regulatory_framework?: string | null
    }
    CreateCapsuleFromJobRequestSeal: {
      exit_code: number
      exit_message?: string
      margin?: number
    }
    CreateCapsuleFromJobRequest: {
      job_id: string
      name?: string
      description?: string
      tags?: string[]
      max_budget_usd?: number
      retention_years?: number
      regulatory_framework?: string
      seal?: boolean | components['schemas']['CreateCapsuleFromJobRequestSeal']
    }
    CreateCapsuleFromJobResponse: {
      capsule_id: string
      warnings: string[]
    }
    CloneCapsuleRequest: {
      name?: string
      team_id?: string
    }
    CloneCapsuleResponse: {
      capsule_id: string
    }
    SealCapsuleRequest: {
      exit_code: number
      exit_message?: string
      margin?: number
    }
    PublishCapsuleRequest: {
      title: string
      description: string
      readme?: string
      license?: string
      category?: string
      tags?: string[]
    }
    PublicCapsuleSummary: {
      id: string
      slug: string
      title: string
      description: string
      license: string | null
      category: string | null
      tags: string[]
      published_at: string
      backends: string[]
      capsule_digest: string
      sealed_at: string
    }
    ListPublicCapsulesResponse: {
      capsules: components['schemas']['PublicCapsuleSummary'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    PublicCapsuleSealSignature: {
      key_id: string
      algorithm: "ed25519"
      envelope: { [name: string]: unknown }
    }
    PublicCapsuleSeal: {
      digests: { [name: string]: string }
      root_digest: string
      capsule_digest: string
      sealed_at: string
      signature: components['schemas']['PublicCapsuleSealSignature']
      exit_code: number
      margin: number
    }
    PublicCapsule: {
      id: string
      slug: string
      title: string
      description: string
      license: string | null
      category: string | null
      tags: string[]
      published_at: string
      backends: string[]
      capsule_digest: string
      sealed_at: string
      name: string
      readme: string | null
      workflow: components['schemas']['CapsuleWorkflow'] | null
      regulatory_framework: string | null
      evidence: components['schemas']['CapsuleEvidence']
      seal: components['schemas']['PublicCapsuleSeal']
    }
    GetPublicCapsuleAttestationResponseSignature: {
      keyid: string
      sig: string
    }
    GetPublicCapsuleAttestationResponse: {
      payload: string
      payloadType: "application/vnd.in-toto+json"
      signatures: components['schemas']['GetPublicCapsuleAttestationResponseSignature'][]
    }
    PublicVerification: {
      completed_at: string
      verdict: "exact" | "consistent" | "not_testable" | "drifted" | "different"
      tvd: number | null
      tvd_upper: number | null
      margin: number | null
      p_value: number | null
    }
    ListPublicCapsuleVerificationsResponseDrift: {
      points: number
      mean: number
      min: number
      max: number
      per_30_days: number | null
      standard_error: number | null
    }
    ListPublicCapsuleVerificationsResponse: {
      verifications: components['schemas']['PublicVerification'][]
      drift: components['schemas']['ListPublicCapsuleVerificationsResponseDrift'] | null
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    TeamBudgetLimits: {
      per_job_usd: number
      per_suite_usd: number
      daily_usd: number
      monthly_usd: number
    }
    TeamBudgetCeilings: {
      per_job_usd: number
      per_suite_usd: number
      daily_usd: number
      monthly_usd: number
    }
    TeamBudgetDay: {
      date: string
      spent_usd: number
      reserved_usd: number
      remaining_usd: number
    }
    TeamBudgetMonth: {
      month: string
      spent_usd: number
      reserved_usd: number
      remaining_usd: number
    }
    TeamBudgetHeldOldest: {
      job_id: string
      backend: string
      provider: string
      reason: string | null
      held_usd: number
      since: string
      asks_provider_at: string | null
    }
    TeamBudgetHeld: {
      total_usd: number
      jobs: number
      oldest: components['schemas']['TeamBudgetHeldOldest'][]
    }
    TeamBudget: {
      team_id: string | null
      limits: components['schemas']['TeamBudgetLimits']
      ceilings: components['schemas']['TeamBudgetCeilings']
      day: components['schemas']['TeamBudgetDay']
      month: components['schemas']['TeamBudgetMonth']
      held: components['schemas']['TeamBudgetHeld']
    }
    UpdateBudgetRequest: {
      team_id?: string
      per_job_usd?: number
      per_suite_usd?: number
      daily_usd?: number
      monthly_usd?: number
    }
    KeptContent: {
      days: number | null
      team_days: number | null
      team_days_from: string | null
      platform_days: number | null
    }
    TeamRetention: {
      team_id: string | null
      results: components['schemas']['KeptContent']
      task_values: components['schemas']['KeptContent']
      output: components['schemas']['KeptContent']
    }
    UpdateRetentionRequest: {
      team_id?: string
      results_days?: number | null
      task_values_days?: number | null
      output_days?: number | null
    }
    GetUsageResponsePeriod: {
      start: string
      end: string
      month: string
    }
    GetUsageResponseSummary: {
      totalSpend: number
      lastMonthSpend: number
      changePercent: number | null
    }
    GetUsageResponseByProvider: {
      provider: string
      spend: number
      jobs: number
      shots: number
    }
    GetUsageResponseByBackend: {
      backend: string
      name: string
      provider: string
      spend: number
      jobs: number
      shots: number
    }
    GetUsageResponseDaily: {
      date: string
      spend: number
      jobs: number
    }
    GetUsageResponseStorageByKind: {
      jobs: number
      results: number
      capsules: number
      scripts: number
      idempotency: number
      telemetry: number
      audit: number
    }
    GetUsageResponseStorage: {
      usedBytes: number
      limitBytes: number
      byKind: components['schemas']['GetUsageResponseStorageByKind']
    }
    GetUsageResponseMonth: {
      month: string
      spend: number
    }
    GetUsageResponse: {
      period: components['schemas']['GetUsageResponsePeriod']
      summary: components['schemas']['GetUsageResponseSummary']
      byProvider: components['schemas']['GetUsageResponseByProvider'][]
      byBackend: components['schemas']['GetUsageResponseByBackend'][]
      daily: components['schemas']['GetUsageResponseDaily'][]
      storage: components['schemas']['GetUsageResponseStorage'] | null
      months?: components['schemas']['GetUsageResponseMonth'][]
    }
    TrailEntry: {
      seq: number
      team_id: string
      capsule_id: string | null
      action: "capsule.created" | "capsule.updated" | "capsule.deleted" | "capsule.sealed" | "capsule.published" | "capsule.archived" | "capsule.cloned" | "capsule.imported" | "capsule.run" | "capsule.verified" | "capsule.schedule.changed" | "capsule.schedule.deleted" | "capsule.takedown" | "account.proved"
      actor: string
      at: string
      previous_state: string | null
      new_state: string | null
      metadata: { [name: string]: unknown }
      prev_hash: string
      hash: string
    }
    ListCapsuleAuditEntriesResponse: {
      entries: components['schemas']['TrailEntry'][]
      actors: { [name: string]: string }
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    ListAuditEntriesResponse: {
      entries: components['schemas']['TrailEntry'][]
      actors: { [name: string]: string }
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    TrailReportHead: {
      seq: number
      hash: string
    }
    TrailReportFirstBroken: {
      seq: number
      reason: string
    }
    TrailReportCheckpointsOutside: {
      compared: boolean
      checkpoints: number
      unreadable_lines: number
      reason: string | null
    }
    TrailReport: {
      ok: boolean
      entries: number
      head: components['schemas']['TrailReportHead']
      first_broken: components['schemas']['TrailReportFirstBroken'] | null
      checkpoints: number
      signed_up_to: number
      seals: number
      checkpoints_outside: components['schemas']['TrailReportCheckpointsOutside'] | null
    }
    ListSigningKeysResponseKey: {
      key_id: string
      algorithm: "ed25519"
      public_key_pem: string
      created_at: string
      retired_at: string | null
    }
    ListSigningKeysResponse: {
      keys: components['schemas']['ListSigningKeysResponseKey'][]
    }
    TeamActions: {
      rename: true | string
      transfer: true | string
      leave: true | string
      delete: true | string
      invite: true | string
      save_credentials: true | string
      list_api_keys: true | string
      create_api_key: true | string
      list_webhooks: true | string
      create_webhook: true | string
      change_budget: true | string
      change_retention: true | string
    }
    TeamRecord: {
      id: string
      name: string
      role: "owner" | "admin" | "member"
      suspended: boolean
      suspended_reason: string | null
      can: components['schemas']['TeamActions']
    }
    ListTeamsResponse: {
      teams: components['schemas']['TeamRecord'][]
    }
    CreateTeamRequest: {
      name: string
    }
    RenameTeamRequest: {
      name: string
    }
    TransferTeamRequest: {
      user_id: string
    }
    MemberActions: {
      change_role: true | string
      remove: true | string
      make_owner: true | string
    }
    Member: {
      user_id: string
      email: string
      name: string
      role: "owner" | "admin" | "member"
      joined_at: string
      can: components['schemas']['MemberActions']
    }
    ListMembersResponse: {
      team_id: string | null
      members: components['schemas']['Member'][]
    }
    UpdateMemberRequest: {
      team_id: string
      role: "admin" | "member"
    }
    RemoveMemberRequest: {
      team_id: string
    }
    InvitationActions: {
      resend: true | string
      change_role: true | string
      cancel: true | string
    }
    Invitation: {
      id: string
      email: string
      role: "admin" | "member"
      status: "pending" | "accepted" | "cancelled" | "expired"
      message: string | null
      invited_by: string | null
      created_at: string
      expires_at: string
      can: components['schemas']['InvitationActions']
    }
    ListInvitationsResponse: {
      invitations: components['schemas']['Invitation'][]
    }
    CreateInvitationRequest: {
      team_id: string
      email: string
      role: "admin" | "member"
      message?: string
    }
    UpdateInvitationRequest: {
      action?: "resend"
      role?: "admin" | "member"
    }
    GetInvitationResponseTeam: {
      id: string
      name: string
    }
    GetInvitationResponse: {
      team: components['schemas']['GetInvitationResponseTeam']
      role: "admin" | "member"
      email: string
      expires_at: string
    }
    AcceptInvitationResponse: {
      team_id: string
      role: "admin" | "member"
    }
    ApiKeyActions: {
      revoke: true | string
    }
    ApiKey: {
      id: string
      team_id: string
      name: string
      prefix: string
      tier: "read" | "simulate" | "qpu"
      kind: "live" | "test"
      daily_limit_usd: number | null
      created_by: string | null
      expires_at: string | null
      last_used_at: string | null
      created_at: string
      can: components['schemas']['ApiKeyActions']
    }
    ListApiKeysResponse: {
      api_keys: components['schemas']['ApiKey'][]
    }
    CreateApiKeyRequest: {
      team_id?: string
      name: string
      tier: "read" | "simulate" | "qpu"
      kind: "live" | "test"
      daily_limit_usd?: number | null
      expires_at?: string | null
    }
    NewApiKey: {
      id: string
      team_id: string
      name: string
      prefix: string
      tier: "read" | "simulate" | "qpu"
      kind: "live" | "test"
      daily_limit_usd: number | null
      created_by: string | null
      expires_at: string | null
      last_used_at: string | null
      created_at: string
      can: components['schemas']['ApiKeyActions']
      key: string
    }
    ShownOnce: {
      id: string
      key?: null
      secret?: null
      message: string
    }
    WebhookActions: {
      test: true | string
      delete: true | string
    }
    Webhook: {
      id: string
      team_id: string
      url: string
      events: ("job.completed" | "job.failed" | "job.cancelled" | "capsule.verified" | "budget.exceeded")[]
      created_at: string
      can: components['schemas']['WebhookActions']
    }
    ListWebhooksResponse: {
      webhooks: components['schemas']['Webhook'][]
    }
    CreateWebhookRequest: {
      team_id?: string
      url: string
      events: ("job.completed" | "job.failed" | "job.cancelled" | "capsule.verified" | "budget.exceeded")[]
    }
    NewWebhook: {
      id: string
      team_id: string
      url: string
      events: ("job.completed" | "job.failed" | "job.cancelled" | "capsule.verified" | "budget.exceeded")[]
      created_at: string
      can: components['schemas']['WebhookActions']
      secret: string
    }
    DeliveryActions: {
      send_again: true | string
    }
    Delivery: {
      id: string
      event: "job.completed" | "job.failed" | "job.cancelled" | "capsule.verified" | "budget.exceeded" | "webhook.test"
      state: "pending" | "delivered" | "failed"
      tries: number
      last_status: number | null
      last_error: string | null
      created_at: string
      delivered_at: string | null
      next_try_at: string | null
      can: components['schemas']['DeliveryActions']
    }
    ListWebhookDeliveriesResponse: {
      deliveries: components['schemas']['Delivery'][]
    }
    SecretActions: {
      replace: true | string
      test: true | string
      delete: true | string
    }
    Secret: {
      id: string
      team_id: string
      provider: "aws-braket" | "ibm-quantum" | "azure-quantum" | "ionq"
      key_name: string
      masked_value: string
      status: "active" | "invalid"
      validation_status: "untested" | "valid" | "invalid" | "unreachable"
      validated_at: string | null
      created_at: string
      updated_at: string
      can: components['schemas']['SecretActions']
    }
    ListSecretsResponse: {
      secrets: components['schemas']['Secret'][]
    }
    StoreSecretsRequest: {
      team_id: string
      provider: "aws-braket" | "ibm-quantum" | "azure-quantum" | "ionq"
      secrets: { [name: string]: unknown }
    }
    StoreSecretsResponse: {
      secrets: components['schemas']['Secret'][]
    }
    TestSecretsRequest: {
      team_id: string
      provider: "aws-braket" | "ibm-quantum" | "azure-quantum" | "ionq"
      secrets?: { [name: string]: unknown }
    }
    TestSecretsResponseDetails: {
      validation_status: "untested" | "valid" | "invalid" | "unreachable"
      account?: string
      instance?: string
      region?: string
      bucket?: string
      devices?: string[]
      faults?: string[]
    }
    TestSecretsResponse: {
      valid: boolean
      provider: "aws-braket" | "ibm-quantum" | "azure-quantum" | "ionq"
      message: string
      checked_at: string
      details: components['schemas']['TestSecretsResponseDetails']
    }
    Profile: {
      username: string
      display_name: string | null
      bio: string | null
      avatar_url: string | null
      website: string | null
      location: string | null
      github_username: string | null
      twitter_username: string | null
      linkedin_url: string | null
      is_public: boolean
    }
    UpdateProfileRequest: {
      username?: string
      display_name?: string | null
      bio?: string | null
      avatar_url?: string | null
      website?: string | null
      location?: string | null
      github_username?: string | null
      twitter_username?: string | null
      linkedin_url?: string | null
      is_public?: boolean
    }
    DeleteAccountRequest: {
      password: string
    }
    AccountDeletionCan: {
      delete: true | string
    }
    AccountDeletionDeletesTeam: {
      id: string
      name: string
    }
    AccountDeletionDeletes: {
      teams: components['schemas']['AccountDeletionDeletesTeam'][]
      api_keys: number
    }
    AccountDeletionLeavesTeam: {
      id: string
      name: string
    }
    AccountDeletionLeaves: {
      teams: components['schemas']['AccountDeletionLeavesTeam'][]
    }
    AccountDeletion: {
      can: components['schemas']['AccountDeletionCan']
      deletes: components['schemas']['AccountDeletionDeletes']
      leaves: components['schemas']['AccountDeletionLeaves']
    }
    AnyTeamOwner: {
      id: string
      email: string
    }
    AnyTeam: {
      id: string
      name: string
      owner: components['schemas']['AnyTeamOwner'] | null
      members: number
      suspended: boolean
      suspended_at: string | null
      suspended_reason: string | null
      running_jobs_max: number | null
      slots_max: number | null
      deleted_at: string | null
      created_at: string
    }
    AdminListTeamsResponse: {
      teams: components['schemas']['AnyTeam'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    AnyUser: {
      id: string
      email: string
      username: string
      display_name: string | null
      is_platform_admin: boolean
      email_verified_at: string | null
      teams: number
      last_seen_at: string | null
      created_at: string
    }
    AdminListUsersResponse: {
      users: components['schemas']['AnyUser'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    AdminUpdateTeamRequest: {
      running_jobs_max?: number | null
      slots_max?: number | null
    }
    AdminSuspendTeamRequest: {
      reason: string
    }
    AccessCode: {
      code: string
      remaining_uses: number
      expires_at: string | null
      created_at: string
    }
    AdminListAccessCodesResponse: {
      access_codes: components['schemas']['AccessCode'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
    }
    AdminCreateAccessCodeRequest: {
      code?: string
      uses: number
      expires_at?: string
    }
    AdminUpdateBackendRequestPricing: {
      taskFee?: number
      perShot?: number
      minimumCost?: number
      perSecond?: number | null
      secondsMax?: number | null
    }
    AdminUpdateBackendRequest: {
      status?: "online" | "offline" | "maintenance"
      isAvailable?: boolean
      pricing?: components['schemas']['AdminUpdateBackendRequestPricing']
      description?: string | null
      isRecommended?: boolean
      displayOrder?: number
    }
    AdminSetBudgetRequestCeilings: {
      per_job_usd?: number
      per_suite_usd?: number
      daily_usd?: number
      monthly_usd?: number
    }
    AdminSetBudgetRequest: {
      per_job_usd?: number
      per_suite_usd?: number
      daily_usd?: number
      monthly_usd?: number
      ceilings?: components['schemas']['AdminSetBudgetRequestCeilings']
    }
    AdminTakeDownCapsuleRequest: {
      reason: string
    }
    AnyJob: {
      id: string
      name: string | null
      labels: string[]
      timeout_seconds: number
      team_id: string
      user_id: string | null
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      status_reason: string | null
      backend: string
      provider: string
      execution_mode: "direct" | "temporal"
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "ahs" | null
      source: components['schemas']['JobSource']
      script_id: string | null
      capsule_id: string | null
      capsule_run_id: string | null
      estimated_cost_usd: number
      actual_cost_usd: number | null
      error: components['schemas']['Failure'] | null
      attempts: number
      progress: components['schemas']['JobProgress'] | null
      provider_jobs: components['schemas']['ProviderJob'][]
      emulated: boolean
      cancel: components['schemas']['JobCancel'] | null
      workflow: components['schemas']['JobWorkflow'] | null
      not_before: string | null
      created_at: string
      started_at: string | null
      completed_at: string | null
      updated_at: string
      queue: components['schemas']['JobQueue'] | null
      params: { [name: string]: unknown } | null
      params_omitted: boolean
      summary: { [name: string]: string } | null
      team_name: string
      user_email: string | null
    }
    AdminListJobsResponse: {
      jobs: components['schemas']['AnyJob'][]
      total: number
      total_capped?: true
      limit: number
      offset: number
      total_estimate?: number
    }
    AdminJobActions: {
      cancel: true | string
      settle: true | string
    }
    AnyJobRecord: {
      id: string
      name: string | null
      labels: string[]
      timeout_seconds: number
      team_id: string
      user_id: string | null
      status: "pending" | "running" | "cancelling" | "completed" | "failed" | "cancelled" | "dispatch_failed"
      status_reason: string | null
      backend: string
      provider: string
      execution_mode: "direct" | "temporal"
      framework: "qiskit" | "cirq" | "pennylane" | "openqasm" | "marqov" | "ahs" | null
      source: components['schemas']['JobSource']
      script_id: string | null
      capsule_id: string | null
      capsule_run_id: string | null
      estimated_cost_usd: number
      actual_cost_usd: number | null
      error: components['schemas']['Failure'] | null
      attempts: number
      progress: components['schemas']['JobProgress'] | null
      provider_jobs: components['schemas']['ProviderJob'][]
      emulated: boolean
      cancel: components['schemas']['JobCancel'] | null
      workflow: components['schemas']['JobWorkflow'] | null
      not_before: string | null
      created_at: string
      started_at: string | null
      completed_at: string | null
      updated_at: string
      queue: components['schemas']['JobQueue'] | null
      team_name: string
      user_email: string | null
      held_usd: number | null
      can: components['schemas']['AdminJobActions']
    }
    MoneyHeld: {
      job_id: string
      team_id: string
      team_name: string
      backend: string
      provider: string
      provider_job_id: string | null
      status: "failed" | "cancelled"
      status_reason: string | null
      held_usd: number
      since: string
      asks_provider_at: string | null
    }
    MoneyOverReservation: {
      job_id: string
      team_id: string
      team_name: string
      backend: string
      reserved_usd: number
      settled_usd: number
      settled_at: string
    }
    SweepPassFinding: {
      message: string
      at: string
    }
    SweepPass: {
      ran_at: string
      succeeded_at: string | null
      late: boolean
      handled: number
      failed: number
      error: string | null
      findings: components['schemas']['SweepPassFinding'][]
    }
    Money: {
      held: components['schemas']['MoneyHeld'][]
      held_jobs: number
      held_usd: number
      over_reservation: components['schemas']['MoneyOverReservation'][]
      proofs: { [name: string]: components['schemas']['SweepPass'] }
    }
    AdminSettleJobRequest: {
      cost_usd: number
      note: string
    }
    AuditEntryActor: {
      id: string | null
      email: string
    }
    AuditEntry: {
      id: string
      at: string
      actor: components['schemas']['AuditEntryActor']
      action: "access_code.create" | "backend.change" | "capsule.takedown" | "job.cancel" | "job.settle" | "signing_key.rotate" | "team.budget" | "team.limits" | "team.storage" | "team.suspend" | "team.unsuspend" | "user.grant"
      target: string
      details: { [name: string]: unknown }
    }
    AdminListAuditEntriesResponse: {
      entries: components['schemas']['AuditEntry'][]
      limit: number
      next_cursor: string | null
    }
    TeamStorageByKind: {
      jobs: number
      results: number
      capsules: number
      scripts: number
      idempotency: number
      telemetry: number
      audit: number
    }
    TeamStorage: {
      team_id: string
      used_bytes: number
      limit_bytes: number
      by_kind: components['schemas']['TeamStorageByKind']
    }
    AdminSetStorageRequest: {
      limit_bytes: number | null
    }
    SystemPartsDatabase: {
      state: "ok" | "failing"
      message?: string
      latency_ms?: number
    }
    SystemPartsRedis: {
      state: "ok" | "failing"
      message?: string
      latency_ms?: number
    }
    SystemPartsTemporal: {
      state: "ok" | "failing"
      message?: string
      latency_ms?: number
    }
    SystemPartsExecutor: {
      state: "ok" | "failing"
      message?: string
      latency_ms?: number
    }
    SystemParts: {
      database: components['schemas']['SystemPartsDatabase']
      redis: components['schemas']['SystemPartsRedis']
      temporal: components['schemas']['SystemPartsTemporal']
      executor: components['schemas']['SystemPartsExecutor']
    }
    SystemQueuesDirect: {
      state: "ok" | "failing"
      message?: string
      waiting?: number
      active?: number
      delayed?: number
    }
    SystemQueuesTemporal: {
      state: "ok" | "failing"
      message?: string
      workflow_tasks?: number
      activity_tasks?: number
    }
    SystemQueues: {
      direct: components['schemas']['SystemQueuesDirect']
      temporal: components['schemas']['SystemQueuesTemporal']
    }
    SystemWorkersDirect: {
      state: "ok" | "failing"
      message?: string
      count?: number
    }
    SystemWorkersTemporalPoller: {
      identity: string
      last_seen_at: string | null
    }
    SystemWorkersTemporal: {
      state: "ok" | "failing"
      message?: string
      pollers?: components['schemas']['SystemWorkersTemporalPoller'][]
    }
    SystemWorkers: {
      direct: components['schemas']['SystemWorkersDirect']
      temporal: components['schemas']['SystemWorkersTemporal']
    }
    SystemJobs: {
      state: "ok" | "failing"
      message?: string
      pending?: number
      running?: number
      cancelling?: number
    }
    SystemOutbox: {
      state: "ok" | "failing"
      message?: string
      rows?: number
      held?: number
      due?: number
      unreachable?: number
      oldest_seconds?: number | null
    }
    SystemProvidersValue: {
      worker_seen_at: string | null
      asked_at: string | null
      backends: number
      online: number
    }
    SystemProviders: {
      state: "ok" | "failing"
      message?: string
    } & { [name: string]: components['schemas']['SystemProvidersValue'] }
    SystemSweeps: {
      state: "ok" | "failing"
      message?: string
    } & { [name: string]: components['schemas']['SweepPass'] }
    SystemExecutor: {
      state: "ok" | "failing"
      message?: string
      sandbox?: { [name: string]: unknown }
      slots?: { [name: string]: unknown }
      engines?: { [name: string]: unknown }[]
    }
    System: {
      at: string
      version: string
      parts: components['schemas']['SystemParts']
      queues: components['schemas']['SystemQueues']
      workers: components['schemas']['SystemWorkers']
      jobs: components['schemas']['SystemJobs']
      outbox: components['schemas']['SystemOutbox']
      providers: components['schemas']['SystemProviders']
      sweeps: components['schemas']['SystemSweeps']
      executor: components['schemas']['SystemExecutor']
    }
  }
}

/** The limits of the fields of each operation's body, for forms. */
export const formLimits = {
  "validateCode": {
    "code": {
      "minLength": 1,
      "maxLength": 64
    }
  },
  "signUp": {
    "email": {
      "maxLength": 254
    },
    "password": {
      "minLength": 10,
      "maxLength": 200
    },
    "code": {
      "minLength": 1,
      "maxLength": 64
    },
    "invitation_token": {
      "minLength": 1,
      "maxLength": 64
    },
    "display_name": {
      "minLength": 1,
      "maxLength": 100
    }
  },
  "signIn": {
    "email": {
      "maxLength": 254
    },
    "password": {
      "maxLength": 200
    }
  },
  "changePassword": {
    "password": {
      "maxLength": 200
    },
    "new_password": {
      "minLength": 10,
      "maxLength": 200
    }
  },
  "requestPasswordReset": {
    "email": {
      "maxLength": 254
    }
  },
  "resetPassword": {
    "token": {
      "minLength": 1,
      "maxLength": 64
    },
    "password": {
      "minLength": 10,
      "maxLength": 200
    }
  },
  "submitJob": {
    "backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "cap_cents": {
      "minimum": 1,
      "maximum": 10000
    },
    "source.content": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "input": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "inline_code": {
      "minLength": 1,
      "maxLength": 50000
    },
    "circuit.payload": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "circuits": {
      "maxItems": 1000
    },
    "circuits[].payload": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "choose.max_cost_usd": {
      "minimum": 0,
      "maximum": 1000000
    },
    "choose.max_wait_seconds": {
      "minimum": 0,
      "maximum": 31536000
    },
    "choose.min_qubits": {
      "minimum": 1,
      "maximum": 1000000
    },
    "params.shots": {
      "minimum": 1,
      "maximum": 100000
    },
    "params.graph_size": {
      "minimum": 2,
      "maximum": 20
    },
    "params.layers": {
      "minimum": 1,
      "maximum": 10
    },
    "params.seed": {
      "minimum": 0,
      "maximum": 2147483647
    },
    "params.optimization_level": {
      "minimum": 0,
      "maximum": 3
    },
    "params.circuit_count": {
      "minimum": 1,
      "maximum": 1000
    },
    "params.observables": {
      "maxItems": 100
    },
    "params.observables[]": {
      "minLength": 1,
      "maxLength": 10000
    },
    "params.mitigation.zne.factors": {
      "maxItems": 5
    },
    "params.mitigation.zne.factors[]": {
      "minimum": 1,
      "maximum": 9
    },
    "params.mitigation.zne.order": {
      "minimum": 1,
      "maximum": 4
    },
    "params.points": {
      "maxItems": 1000
    },
    "capsule_name": {
      "minLength": 1,
      "maxLength": 200
    },
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "labels": {
      "maxItems": 10
    },
    "labels[]": {
      "minLength": 1,
      "maxLength": 50
    },
    "timeout_seconds": {
      "minimum": 1,
      "maximum": 900
    },
    "max_cost_usd": {
      "minimum": 0,
      "maximum": 1000000
    },
    "analysis_id": {
      "maxLength": 200
    },
    "warn_check_ids": {
      "maxItems": 100
    },
    "warn_check_ids[]": {
      "maxLength": 200
    },
    "sdk_version": {
      "maxLength": 100
    }
  },
  "estimateJobParams": {
    "backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "params.shots": {
      "minimum": 1,
      "maximum": 100000
    },
    "params.graph_size": {
      "minimum": 2,
      "maximum": 20
    },
    "params.layers": {
      "minimum": 1,
      "maximum": 10
    },
    "params.seed": {
      "minimum": 0,
      "maximum": 2147483647
    },
    "params.optimization_level": {
      "minimum": 0,
      "maximum": 3
    },
    "params.circuit_count": {
      "minimum": 1,
      "maximum": 1000
    },
    "params.observables": {
      "maxItems": 100
    },
    "params.observables[]": {
      "minLength": 1,
      "maxLength": 10000
    },
    "params.mitigation.zne.factors": {
      "maxItems": 5
    },
    "params.mitigation.zne.factors[]": {
      "minimum": 1,
      "maximum": 9
    },
    "params.mitigation.zne.order": {
      "minimum": 1,
      "maximum": 4
    },
    "params.points": {
      "maxItems": 1000
    },
    "choose.max_cost_usd": {
      "minimum": 0,
      "maximum": 1000000
    },
    "choose.max_wait_seconds": {
      "minimum": 0,
      "maximum": 31536000
    },
    "choose.min_qubits": {
      "minimum": 1,
      "maximum": 1000000
    },
    "max_cost_usd": {
      "minimum": 0,
      "maximum": 1000000
    },
    "qubits": {
      "minimum": 1,
      "maximum": 10000
    }
  },
  "priceDestinations": {
    "params.shots": {
      "minimum": 1,
      "maximum": 100000
    },
    "params.graph_size": {
      "minimum": 2,
      "maximum": 20
    },
    "params.layers": {
      "minimum": 1,
      "maximum": 10
    },
    "params.seed": {
      "minimum": 0,
      "maximum": 2147483647
    },
    "params.optimization_level": {
      "minimum": 0,
      "maximum": 3
    },
    "params.circuit_count": {
      "minimum": 1,
      "maximum": 1000
    },
    "params.observables": {
      "maxItems": 100
    },
    "params.observables[]": {
      "minLength": 1,
      "maxLength": 10000
    },
    "params.mitigation.zne.factors": {
      "maxItems": 5
    },
    "params.mitigation.zne.factors[]": {
      "minimum": 1,
      "maximum": 9
    },
    "params.mitigation.zne.order": {
      "minimum": 1,
      "maximum": 4
    },
    "params.points": {
      "maxItems": 1000
    },
    "max_cost_usd": {
      "minimum": 0,
      "maximum": 1000000
    },
    "qubits": {
      "minimum": 1,
      "maximum": 10000
    }
  },
  "compareJobs": {
    "a.point": {
      "minimum": 0,
      "maximum": 999
    },
    "b.point": {
      "minimum": 0,
      "maximum": 999
    },
    "margin": {
      "exclusiveMinimum": 0,
      "maximum": 1
    }
  },
  "runPlayground": {
    "code": {
      "minLength": 1,
      "maxLength": 100000
    },
    "backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "shots": {
      "minimum": 1,
      "maximum": 100000
    }
  },
  "convertPlayground": {
    "code": {
      "minLength": 1,
      "maxLength": 100000
    }
  },
  "reportPlaygroundRun": {
    "session_id": {
      "minLength": 1,
      "maxLength": 200
    },
    "simulator_version": {
      "minLength": 1,
      "maxLength": 100
    },
    "qasm_input": {
      "maxLength": 100000
    },
    "shots": {
      "minimum": 1,
      "maximum": 100000
    },
    "qubit_count": {
      "minimum": 1,
      "maximum": 50
    },
    "gate_count": {
      "minimum": 0,
      "maximum": 10000
    },
    "execution_time_ms": {
      "minimum": 0
    },
    "user_agent": {
      "maxLength": 500
    }
  },
  "analyseScript": {
    "content": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "content_hash": {
      "maxLength": 64
    },
    "backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "shots": {
      "minimum": 1,
      "maximum": 100000
    },
    "circuit_count": {
      "minimum": 1,
      "maximum": 1000
    }
  },
  "saveJobScript": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "description": {
      "minLength": 1,
      "maxLength": 2000
    },
    "slug": {
      "maxLength": 200
    }
  },
  "uploadScript": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "script_content": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "description": {
      "maxLength": 1000
    },
    "requirements": {
      "maxLength": 100000
    }
  },
  "updateScript": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "description": {
      "maxLength": 2000
    },
    "script_content": {
      "minLength": 1,
      "maxLength": 1048576
    },
    "requirements": {
      "maxLength": 100000
    }
  },
  "runCapsule": {
    "backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "shots": {
      "minimum": 1,
      "maximum": 100000
    }
  },
  "setCapsuleSchedule": {
    "cron": {
      "minLength": 1,
      "maxLength": 200
    },
    "timezone": {
      "minLength": 1,
      "maxLength": 60
    },
    "alert.emails": {
      "maxItems": 20
    },
    "alert.emails[]": {
      "minLength": 3,
      "maxLength": 320
    },
    "alert.on": {
      "maxItems": 4
    }
  },
  "createCapsule": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "description": {
      "maxLength": 1000
    },
    "tags": {
      "maxItems": 10
    },
    "tags[]": {
      "minLength": 1,
      "maxLength": 50
    },
    "workflow.tasks": {
      "maxItems": 50
    },
    "workflow.tasks[].name": {
      "minLength": 1,
      "maxLength": 100
    },
    "workflow.tasks[].inline_code": {
      "minLength": 1,
      "maxLength": 50000
    },
    "workflow.tasks[].backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "workflow.tasks[].timeout_seconds": {
      "minimum": 1,
      "maximum": 900
    },
    "backends": {
      "maxItems": 50
    },
    "backends[]": {
      "minLength": 1,
      "maxLength": 100
    },
    "max_budget_usd": {
      "minimum": 0,
      "maximum": 500
    },
    "retention_years": {
      "minimum": 1,
      "maximum": 100
    },
    "regulatory_framework": {
      "maxLength": 1000
    }
  },
  "updateCapsule": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "description": {
      "maxLength": 1000
    },
    "tags": {
      "maxItems": 10
    },
    "tags[]": {
      "minLength": 1,
      "maxLength": 50
    },
    "workflow.tasks": {
      "maxItems": 50
    },
    "workflow.tasks[].name": {
      "minLength": 1,
      "maxLength": 100
    },
    "workflow.tasks[].inline_code": {
      "minLength": 1,
      "maxLength": 50000
    },
    "workflow.tasks[].backend": {
      "minLength": 1,
      "maxLength": 100
    },
    "workflow.tasks[].timeout_seconds": {
      "minimum": 1,
      "maximum": 900
    },
    "backends": {
      "maxItems": 50
    },
    "backends[]": {
      "minLength": 1,
      "maxLength": 100
    },
    "max_budget_usd": {
      "minimum": 0,
      "maximum": 500
    },
    "retention_years": {
      "minimum": 1,
      "maximum": 100
    },
    "regulatory_framework": {
      "maxLength": 1000
    }
  },
  "createCapsuleFromJob": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    },
    "description": {
      "maxLength": 1000
    },
    "tags": {
      "maxItems": 10
    },
    "tags[]": {
      "minLength": 1,
      "maxLength": 50
    },
    "max_budget_usd": {
      "minimum": 0,
      "maximum": 500
    },
    "retention_years": {
      "minimum": 1,
      "maximum": 100
    },
    "regulatory_framework": {
      "maxLength": 1000
    },
    "seal.exit_code": {
      "minimum": -2147483648,
      "maximum": 2147483647
    },
    "seal.exit_message": {
      "maxLength": 1000
    },
    "seal.margin": {
      "exclusiveMinimum": 0,
      "maximum": 1
    }
  },
  "cloneCapsule": {
    "name": {
      "minLength": 1,
      "maxLength": 200
    }
  },
  "sealCapsule": {
    "exit_code": {
      "minimum": -2147483648,
      "maximum": 2147483647
    },
    "exit_message": {
      "maxLength": 1000
    },
    "margin": {
      "exclusiveMinimum": 0,
      "maximum": 1
    }
  },
  "publishCapsule": {
    "title": {
      "minLength": 1,
      "maxLength": 200
    },
    "description": {
      "minLength": 1,
      "maxLength": 2000
    },
    "readme": {
      "maxLength": 50000
    },
    "license": {
      "minLength": 1,
      "maxLength": 100
    },
    "category": {
      "minLength": 1,
      "maxLength": 100
    },
    "tags": {
      "maxItems": 10
    },
    "tags[]": {
      "minLength": 1,
      "maxLength": 50
    }
  },
  "updateBudget": {
    "per_job_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "per_suite_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "daily_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "monthly_usd": {
      "minimum": 0,
      "maximum": 1000000000
    }
  },
  "updateRetention": {
    "results_days": {
      "minimum": 1,
      "maximum": 36500
    },
    "task_values_days": {
      "minimum": 1,
      "maximum": 36500
    },
    "output_days": {
      "minimum": 1,
      "maximum": 36500
    }
  },
  "createTeam": {
    "name": {
      "minLength": 1,
      "maxLength": 100
    }
  },
  "renameTeam": {
    "name": {
      "minLength": 1,
      "maxLength": 100
    }
  },
  "createInvitation": {
    "email": {
      "maxLength": 254
    },
    "message": {
      "maxLength": 500
    }
  },
  "createApiKey": {
    "name": {
      "minLength": 1,
      "maxLength": 100
    },
    "daily_limit_usd": {
      "minimum": 0,
      "maximum": 1000000000
    }
  },
  "createWebhook": {
    "url": {
      "minLength": 1,
      "maxLength": 2000
    },
    "events": {
      "maxItems": 5
    }
  },
  "updateProfile": {
    "username": {
      "minLength": 3,
      "maxLength": 30
    },
    "display_name": {
      "maxLength": 100
    },
    "bio": {
      "maxLength": 500
    },
    "avatar_url": {
      "maxLength": 500
    },
    "website": {
      "maxLength": 200
    },
    "location": {
      "maxLength": 100
    },
    "github_username": {
      "maxLength": 39
    },
    "twitter_username": {
      "maxLength": 15
    },
    "linkedin_url": {
      "maxLength": 200
    }
  },
  "deleteAccount": {
    "password": {
      "maxLength": 200
    }
  },
  "adminUpdateTeam": {
    "running_jobs_max": {
      "minimum": 1,
      "maximum": 1000000
    },
    "slots_max": {
      "minimum": 1,
      "maximum": 1000
    }
  },
  "adminSuspendTeam": {
    "reason": {
      "minLength": 1,
      "maxLength": 500
    }
  },
  "adminCreateAccessCode": {
    "uses": {
      "minimum": 1,
      "maximum": 1000000
    }
  },
  "adminUpdateBackend": {
    "pricing.taskFee": {
      "minimum": 0,
      "maximum": 1000000
    },
    "pricing.perShot": {
      "minimum": 0,
      "maximum": 1000000
    },
    "pricing.minimumCost": {
      "minimum": 0,
      "maximum": 1000000
    },
    "pricing.perSecond": {
      "minimum": 0,
      "maximum": 1000000
    },
    "pricing.secondsMax": {
      "minimum": 1,
      "maximum": 86400
    },
    "description": {
      "maxLength": 1000
    },
    "displayOrder": {
      "minimum": 0,
      "maximum": 1000000
    }
  },
  "adminSetBudget": {
    "per_job_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "per_suite_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "daily_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "monthly_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "ceilings.per_job_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "ceilings.per_suite_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "ceilings.daily_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "ceilings.monthly_usd": {
      "minimum": 0,
      "maximum": 1000000000
    }
  },
  "adminTakeDownCapsule": {
    "reason": {
      "minLength": 1,
      "maxLength": 1000
    }
  },
  "adminSettleJob": {
    "cost_usd": {
      "minimum": 0,
      "maximum": 1000000000
    },
    "note": {
      "minLength": 1,
      "maxLength": 500
    }
  },
  "adminSetStorage": {
    "limit_bytes": {
      "minimum": 0,
      "maximum": 9007199254740991
    }
  }
} as const
