// A user as they see themselves.
import type { User } from '../../../db/accounts/accounts.js'

export const userView = (user: User) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  is_platform_admin: user.isPlatformAdmin,
  created_at: user.createdAt.toISOString()
})
