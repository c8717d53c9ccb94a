// The account: its profile, password, sessions, and its end.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import layout from '../components/layout.module.css'
import { Loading, Refusal } from '../components/notice.js'
import { usePageTitle } from '../shell/page-title.js'
import { DeleteAccount } from './delete-account.js'
import { PasswordForm } from './password-form.js'
import { ProfileForm } from './profile-form.js'
import { profileQuery } from './profile-queries.js'
import { Sessions } from './sessions.js'

export function ProfilePage() {
  usePageTitle('Your profile')
  const { data: profile, error } = useQuery(profileQuery)
  return (
    <>
      <h1>Your profile</h1>
      <section className={layout.section}>
        {profile?.is_public ? (
          <p>
            <Link to="/profiles/$username" params={{ username: profile.username }}>
              How others see it
            </Link>
          </p>
        ) : null}
        {profile ? <ProfileForm profile={profile} /> : error ? <Refusal error={error} /> : <Loading />}
      </section>
      <PasswordForm />
      <Sessions />
      <DeleteAccount />
    </>
  )
}
