import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { connected } from './connected.ts'

export type TestServer = {
  /** A role that may create databases, connected to any database except the template. */
  adminUrl: string
  template: string
  /** The prefix of every database of this run, so that the teardown finds them all. */
  prefix: string
}

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer
  }
}

export type TestDatabase = { url: string; drop: () => Promise<void> }

/** A migrated database for a test file: a copy of the run's template. */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const { adminUrl, template, prefix } = inject('testServer')
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await connected(adminUrl, (admin) => cloneTemplate(admin, name, template))
  return { url: databaseUrl(adminUrl, name), drop: () => connected(adminUrl, (admin) => dropDatabase(admin, name)) }
}

/** A database without tables. */
export const createEmptyDatabase = async (): Promise<TestDatabase> => {
  const { adminUrl, prefix } = inject('testServer')
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await connected(adminUrl, (admin) => admin.query(`CREATE DATABASE ${name}`))
  return { url: databaseUrl(adminUrl, name), drop: () => connected(adminUrl, (admin) => dropDatabase(admin, name)) }
}

/** A copy of a database without connections, as a backup for a restore. */
export const copyDatabase = async (source: TestDatabase): Promise<TestDatabase> => {
  const { adminUrl, prefix } = inject('testServer')
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await connected(adminUrl, (admin) => cloneTemplate(admin, name, new URL(source.url).pathname.slice(1)))
  return { url: databaseUrl(adminUrl, name), drop: () => connected(adminUrl, (admin) => dropDatabase(admin, name)) }
}

/** Clones by files: page by page through the log costs twice as much. */
const cloneTemplate = async (admin: pg.Client, name: string, template: string) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
      return
    } catch (error) {
      // 55006: another connection, such as autovacuum's, is in the template at the moment.
      if (attempt === 20 || !(error instanceof pg.DatabaseError) || error.code !== '55006') throw error
      await wait(50)
    }
  }
}

// FORCE: an open pool of a test must not keep the run's databases alive.
export const dropDatabase = async (admin: pg.Client, name: string): Promise<void> => {
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

export const databaseUrl = (serverUrl: string, database: string) => {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
