/** Where the query cache keeps what is typed in the playground: signing out empties the cache, signing in takes it along. */
export const draftKey = ['playground draft']
