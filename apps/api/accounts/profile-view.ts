// A profile as its user sees it and, once it is public, as everyone sees it.
import { type Static, Type } from 'typebox'
import type { Profile as ProfileRow } from '../../../db/accounts/profiles.js'
import { nullable, text } from '../http/response.js'

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
