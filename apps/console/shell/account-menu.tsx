import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Dialog, DialogTrigger, Popover } from 'react-aria-components'
import { api, bodyOf, type User } from '../api/client.js'
import { rememberSignedIn } from '../api/patient-fetch.js'
import { sessionQuery } from '../api/queries.js'
import { Button } from '../components/button.js'
import { Refusal } from '../components/notice.js'
import styles from './shell.module.css'
import { ThemeChoice } from './theme.js'

export function AccountMenu({ user }: { user: User }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const signOut = useMutation({
    mutationFn: () => bodyOf(api.POST('/api/auth/sign-out')),
    onSuccess: async () => {
      rememberSignedIn(false)
      await navigate({ to: '/sign-in', search: {} })
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, null)
    }
  })
  return (
    <DialogTrigger>
      <Button>Account</Button>
      <Popover placement="bottom end">
        <Dialog className={styles.panel!} aria-label="Account">
          {({ close }) => (
            <>
              <p className={styles.who}>
                {user.display_name ?? user.username}
                <br />
                {user.email}
              </p>
              <ThemeChoice />
              <p>
                <Link to="/profile" onClick={close}>
                  Profile, password and sessions
                </Link>
              </p>
              <p>
                <a href="/docs">The HTTP API</a>
              </p>
              <Button onPress={() => signOut.mutate()} isDisabled={signOut.isPending}>
                Sign out
              </Button>
              <Refusal error={signOut.error} />
            </>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}
