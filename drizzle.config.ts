import { defineConfig } from 'drizzle-kit'

// `npx drizzle-kit generate --name <what changes>` writes the next numbered migration from the tables.
export default defineConfig({ dialect: 'postgresql', schema: './db/tables', out: './db/migrations' })
