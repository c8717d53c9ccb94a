// A profile as its user sees it and, once it is public, as everyone sees it.
import { type Static, Type } from 'typebox'
import type { Profile as ProfileRow } from '../../../db/accounts/profiles.js'
import type { AccountDeletion as Deletion } from '../../../db/deletion/account-deletion.js'
import { nullable, text, uuid } from '../http/response.js'
import { Verdict } from '../http/verdict.js'

const optionalText = nullable(text)

export const Profile = Type.Object(
  {
    username: text,
    display_name: optionalText,
    bio: optionalText,
    avatar_url: optionalText,
    website: optionalText,
    location: optionalText,
    github_username: optionalText,
    twitter_username: optionalText,
    linkedin_url: optionalText,
    is_public: Type.Boolean()
  },
  { $id: 'Profile' }
)

export const profileView = (profile: ProfileRow): Static<typeof Profile> => ({
  username: profile.username,
  display_name: profile.displayName,
  bio: profile.bio,
  avatar_url: profile.avatarUrl,
  website: profile.website,
  location: profile.location,
  github_username: profile.githubUsername,
  twitter_username: profile.twitterUsername,
  linkedin_url: profile.linkedinUrl,
  is_public: profile.isPublic
})

export const AccountDeletion = Type.Object(
  {
    can: Type.Object({ delete: Verdict }, { description: '`true`, or the words with which it would be refused now' }),
    deletes: Type.Object({
      teams: Type.Array(Type.Object({ id: uuid, name: text }), { description: 'Teams that are yours alone' }),
      api_keys: Type.Integer({ minimum: 0, description: 'Keys that you made, in any team' })
    }),
    leaves: Type.Object({ teams: Type.Array(Type.Object({ id: uuid, name: text })) })
  },
  { $id: 'AccountDeletion' }
)

export const accountDeletionView = (deletion: Deletion): Static<typeof AccountDeletion> => ({
  can: { delete: deletion.fault ?? true },
  deletes: { teams: deletion.deleted, api_keys: deletion.apiKeys },
  leaves: { teams: deletion.left }
})
