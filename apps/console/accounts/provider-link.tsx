import { useQuery } from '@tanstack/react-query'
import { metaQuery } from '../api/queries.js'

/** Leads to the identity provider, where the service has one. @param code an access code, which the first sign-in can need. */
export function ProviderLink({ returnTo, code }: { returnTo?: string | undefined; code?: string }) {
  const meta = useQuery(metaQuery)
  if (!meta.data?.features.sign_in.includes('oidc')) return null
  const query = new URLSearchParams({ ...(returnTo && { return_to: returnTo }), ...(code && { code }) })
  return (
    <p>
      <a href={`/api/auth/oidc/start${query.size > 0 ? `?${query}` : ''}`}>Sign in with the identity provider</a>
    </p>
  )
}
