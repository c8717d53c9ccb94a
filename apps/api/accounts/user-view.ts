// A user as they see themselves.
import { type Static, Type } from 'typebox'
import type { User as UserRow } from '../../../db/accounts/accounts.js'
import { nullable, text, time, uuid } from '../http/response.js'

export const User = Type.Object(
  {
    id: uuid,
    email: text,
    username: text,
    display_name: nullable(text),
    is_platform_admin: Type.Boolean(),
    created_at: time
  },
  { $id: 'User' }
)

export const userView = (user: UserRow): Static<typeof User> => ({
  id: user.id,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  is_platform_admin: user.isPlatformAdmin,
  created_at: user.createdAt.toISOString()
})
