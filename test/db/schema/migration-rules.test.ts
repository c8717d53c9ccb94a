// Migrations expand the schema, so that the release before runs on, unless they say that they contract it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { readMigrations } from '../../../db/schema/migration-files.js'
import { breachesOf } from './migration-lint.js'

/** Those before it were released, or written, before there were rules. */
const FIRST_WITH_RULES = 26

const migrations = readMigrations()
const textOf = (tag: string): string =>
  readFileSync(new URL(`../../../db/migrations/${tag}.sql`, import.meta.url), 'utf8')

test.each(migrations.slice(FIRST_WITH_RULES).map(({ tag }) => [tag]))('%s breaks no rule', (tag) => {
  expect(breachesOf(textOf(tag))).toEqual([])
})

describe('the rules refuse', () => {
  test.each([
    ['alter table jobs drop column name;', 'takes away'],
    ['ALTER TABLE "jobs" DROP "name";', 'takes away'],
    ['alter table jobs alter column name drop default;', 'takes away'],
    ['alter table jobs drop constraint jobs_name_check;', 'takes away'],
    ['drop table jobs;', 'takes away'],
    ['drop function meter();', 'takes away'],
    ['drop index concurrently if exists jobs_name_idx;', 'takes away'],
    ['-- contract 28: nothing reads it\ndrop index jobs_name_idx;', 'fast'],
    ['do $$ begin alter table jobs drop column name; end $$;', 'takes away'],
    ['do $$ begin if true then drop table jobs; end if; end $$;', 'takes away'],
    ['truncate jobs;', 'takes away'],
    ['alter table jobs rename column name to title;', 'renames'],
    ['alter table jobs rename to tasks;', 'renames'],
    ['alter index jobs_name_idx rename to jobs_title_idx;', 'renames'],
    ['alter table "public"."jobs" alter column "name" set not null;', 'refuses rows'],
    ['alter table jobs alter name set data type integer;', 'changes a type'],
    ['alter table jobs alter column name type integer;', 'changes a type'],
    ["alter type mood add value 'sad';", 'changes a type'],
    ['alter table jobs add column place text not null;', 'needs a default'],
    ['alter table jobs add column a text, add place numeric(8, 2) not null;', 'needs a default'],
    ['alter table jobs add column place text check (place > 1);', 'can refuse'],
    ['alter table jobs add column place text unique;', 'can refuse'],
    ['alter table jobs add column team uuid references teams (id);', 'can refuse'],
    ['alter table jobs add constraint jobs_a check (a > 1);', 'can refuse'],
    ['alter table jobs add constraint jobs_a foreign key (a) references b (c);', 'can refuse'],
    ['alter table jobs add check (a > 1);', 'can refuse'],
    ['-- short: few rows\ncreate unique index jobs_a_key on jobs (a);', 'can refuse or change'],
    ['create trigger guard before insert on jobs for each row execute function guard();', 'can refuse or change'],
    [
      'create or replace function guard() returns trigger language plpgsql as $t$ begin return null; end $t$;',
      'can refuse or change'
    ],
    ['create index jobs_a_idx on jobs (a);', 'blocks writes'],
    ['create index if not exists jobs_a_idx on only jobs using btree (a);', 'blocks writes'],
    ['-- old writes: it is unique\nalter table jobs add constraint jobs_a_key unique (a);', 'blocks reads'],
    ['alter table jobs add column at timestamptz default clock_timestamp() not null;', 'writes the whole table'],
    ["update jobs set place = 'here';", 'locks the rows'],
    ['with old as (select 1) delete from jobs;', 'locks the rows'],
    ['insert into storage_entries (team_id) select id from teams;', 'locks the rows'],
    ['-- concurrently: many rows\ncreate index concurrently jobs_a_idx on jobs (a);', 'cannot be repeated'],
    [
      '-- concurrently: many rows\ndrop index concurrently if exists jobs_b_idx;\ncreate index concurrently jobs_a_idx on jobs (a);',
      'takes away'
    ],
    ['-- contract: no number\nalter table jobs drop column name;', 'takes away'],
    ['alter table jobs drop column name;\n-- contract 3: too late in the file\n', 'takes away']
  ])('%s', (text, effect) => {
    expect(breachesOf(text).join('\n')).toContain(effect)
  })
})

describe('the rules allow', () => {
  test.each([
    ['create table places (id uuid primary key, name text not null unique, job uuid references jobs (id));'],
    [
      'create table places (id uuid);\ncreate index places_idx on places (id);\ninsert into places (id) select id from jobs;'
    ],
    [
      'create table "places" ("id" uuid);\nalter table "places" add constraint "fk" foreign key ("id") references "jobs" ("id");'
    ],
    ['alter table jobs add column place text;'],
    ["alter table jobs add column place text default 'here' not null, add column b numeric(8, 2);"],
    ['alter table jobs alter column name drop not null;'],
    ["alter table jobs alter column name set default 'drop table jobs; update';"],
    ['-- drop table jobs;\nselect 1;'],
    [
      'create function count_rows() returns trigger language plpgsql as $t$ begin update a set b = 1; drop table c; end $t$;'
    ],
    ['-- contract 28: read by no program since 0027\nalter table jobs drop column name;'],
    ['-- contract 28: written by every program since 0027\nalter table jobs add constraint a check (b is not null);'],
    ['-- old writes: the column is new and not written yet\nalter table jobs add constraint jobs_a check (a > 1);'],
    ['-- replaced: jobs_title_idx serves the same queries\ndrop index jobs_name_idx;'],
    ['-- short: few rows\nupdate backends set queue_length = 0;'],
    [
      '-- concurrently: many rows\ndrop index concurrently if exists jobs_a_idx;\n--> statement-breakpoint\ncreate index concurrently jobs_a_idx on jobs (a);'
    ]
  ])('%s', (text) => {
    expect(breachesOf(text)).toEqual([])
  })
})

describe('the marks of a file', () => {
  const marksOf = (text: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'migrations-'))
    try {
      mkdirSync(join(folder, 'meta'))
      const entry = { idx: 0, version: '7', when: 1, tag: '0000_one', breakpoints: true }
      writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify({ entries: [entry] }))
      writeFileSync(join(folder, '0000_one.sql'), text)
      const [{ minimum, concurrently }] = readMigrations(folder) as [ReturnType<typeof readMigrations>[number]]
      return { minimum, concurrently }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test.each([
    ['select 1;', null, false],
    ['-- a comment\n\n-- contract 28: read by no program\nselect 1;', 28, false],
    ['-- concurrently: many rows\nselect 1;\n--> statement-breakpoint\nselect 2;', null, true],
    ['select 1;\n-- contract 28: after the first statement', null, false]
  ])('%j', (text, minimum, concurrently) => {
    expect(marksOf(text)).toEqual({ minimum, concurrently })
  })

  test.each([
    [
      '-- contract: no number\nselect 1;',
      'the mark must be "-- contract <migrations that a program must know>: <reason>"'
    ],
    ['-- contract 28:\nselect 1;', 'the mark must be'],
    ['-- contract 28: a\n-- concurrently: b\nselect 1;', 'cannot run outside a transaction']
  ])('a mark that is not understood stops the program: %j', (text, message) => {
    expect(() => marksOf(text)).toThrow(message)
  })
})
