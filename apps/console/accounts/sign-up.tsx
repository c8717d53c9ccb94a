import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { metaQuery } from '../api/queries.js'
import { Field } from '../components/fields.js'
import { AccountForm, EmailField, NameField, NewPasswordField } from './account-form.js'
import { AccountPage } from './account-page.js'
import { useEnter } from './enter.js'
import { ProviderLink } from './provider-link.js'

const route = getRouteApi('/sign-up')

export function SignUpPage() {
  const search = route.useSearch()
  const enter = useEnter()
  const meta = useQuery(metaQuery)
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState(search.code ?? '')
  const codes = meta.data?.features.access_codes
  const send = async () => {
    const body = { email, password, ...(code && { code }), ...(name && { display_name: name }) }
    await bodyOf(api.POST('/api/auth/sign-up', { body }))
    await enter()
  }
  return (
    <AccountPage title="Create an account">
      <AccountForm button="Create the account" send={send} fields={['email', 'display_name', 'password', 'code']}>
        {(faultAt) => (
          <>
            <EmailField value={email} onChange={setEmail} fault={faultAt('email')} />
            <NameField value={name} onChange={setName} fault={faultAt('display_name')} />
            <NewPasswordField operation="signUp" value={password} onChange={setPassword} fault={faultAt('password')} />
            {codes === false ? null : (
              <Field
                label="Access code"
                help="From whoever runs this service: npx qjob admin create-code"
                autoComplete="off"
                value={code}
                onChange={setCode}
                fault={faultAt('code')}
                isRequired={codes === true}
              />
            )}
          </>
        )}
      </AccountForm>
      <ProviderLink code={code} />
      <p>
        You have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </AccountPage>
  )
}
