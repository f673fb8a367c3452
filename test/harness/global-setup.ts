import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { ensureDashboardBuilt } from '../../scripts/build-dashboard.ts'
import { migrate } from '../../src/db/migrate.ts'
import { connected } from './connected.ts'
import { databaseUrl, dropDatabase } from './postgres.ts'
import { buildPrograms } from './programs.ts'
import { openRunFolder } from './run-folder.ts'
import { startTestServer } from './server.ts'
import { installTraceGuard } from './trace-guard.ts'

/** The contents of every test database. Add other installed parts here, besides our migrations. */
export const prepareTemplate = async (url: string): Promise<void> => {
  await migrate(url)
  await installTraceGuard(url)
}

/** Starts a server with a migrated template. Returns the teardown. */
const setUpDatabases = async (project: TestProject) => {
  const folder = await openRunFolder()
  const server = await startTestServer(folder.postgres).catch(async (error: unknown) => {
    await folder.remove()
    throw error
  })
  const { adminUrl } = server
  // The server may be shared with other runs.
  const prefix = `test_${process.pid}_${randomBytes(4).toString('hex')}_`
  const template = `${prefix}template`
  const teardown = async () => {
    if (server.kind === 'configured') await dropRun(adminUrl, prefix)
    await server.stop()
    await folder.remove()
  }
  try {
    await connected(adminUrl, (admin) => admin.query(`CREATE DATABASE ${template}`))
    await prepareTemplate(databaseUrl(adminUrl, template))
    // A connection left in the template would make every copy fail.
    await connected(adminUrl, (admin) => admin.query(`ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`))
  } catch (error) {
    await teardown()
    throw error
  }
  project.provide('testServer', { adminUrl, template, prefix })
  return teardown
}

/** Once per run, before the first test file. Returns the teardown. */
export const setup = async (project: TestProject) => {
  // The service serves its pages in tests too. TEST_BUILDS=off: those of an earlier run.
  const builds = Promise.allSettled(process.env.TEST_BUILDS === 'off' ? [] : [ensureDashboardBuilt(), buildPrograms()])
  const teardown = await setUpDatabases(project)
  for (const build of await builds) {
    if (build.status === 'fulfilled') continue
    await teardown()
    throw build.reason
  }
  return teardown
}

const dropRun = (adminUrl: string, prefix: string) =>
  connected(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [
      prefix,
    ])
    for (const { datname } of rows) await dropDatabase(admin, datname)
  })
