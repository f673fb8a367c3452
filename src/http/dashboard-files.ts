import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { eq, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import { type Database, type Db, inTx } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { insertOnce, prepareWrite } from '../db/prepare-write.ts'
import { dashboardFiles } from '../db/tables/installation.ts'
import { daysAfter } from '../lib/clock.ts'

/** Pages opened before a deployment request the files of their own version. */
const keptDays = 7

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Whether a name includes the hash of its content, so that the content never changes. */
export const isHashed = (name: string): boolean => /-[\w-]{8}\.(js|css|woff2)$/.test(name)

const namesOf = prepare('dashboard_files.names', {}, (orm) => orm.select({ name: dashboardFiles.name }).from(dashboardFiles))

const current = prepareWrite('dashboard_files.current', { names: 'text[]' }, (orm, param) =>
  orm
    .update(dashboardFiles)
    .set({ replacedAt: null })
    .where(sql`${dashboardFiles.name} = any(${param.names}) and ${isNotNull(dashboardFiles.replacedAt)}`),
)

const replaced = prepareWrite('dashboard_files.replaced', { names: 'text[]', now: 'timestamptz' }, (orm, param) =>
  orm
    .update(dashboardFiles)
    .set({ replacedAt: sql`${param.now}` })
    .where(sql`${dashboardFiles.name} <> all(${param.names}) and ${isNull(dashboardFiles.replacedAt)}`),
)

const remove = prepareWrite('dashboard_files.remove', { before: 'timestamptz' }, (orm, param) =>
  orm.delete(dashboardFiles).where(lt(dashboardFiles.replacedAt, sql`${param.before}`)),
)

const fileByName = prepare('dashboard_files.by_name', { name: 'text' }, (orm, param) =>
  orm.select({ content: dashboardFiles.content }).from(dashboardFiles).where(eq(dashboardFiles.name, param.name)),
)

/** Stores this version's files, so that processes of other versions can serve them. Replaced files are deleted after a week. */
export const keepDashboardFiles = async (db: Database, folder: string): Promise<void> => {
  const names = (await readdir(folder)).filter(isHashed)
  const stored = new Set((await db.run(namesOf, {})).map(({ name }) => name))
  const missing = names.filter((name) => !stored.has(name))
  const files = await Promise.all(missing.map(async (name) => ({ name, content: await readFile(join(folder, name)) })))
  await inTx(db, async (tx) => {
    for (const file of files) await insertOnce(tx, dashboardFiles, { ...file, replacedAt: null })
    await tx.run(current, { names })
    await tx.run(replaced, { names, now: tx.at })
    await tx.run(remove, { before: daysAfter(tx.at, -keptDays) })
  })
}

/** Reads a file of another version, with its media type. */
export const readKeptFile = async (db: Db, name: string): Promise<{ content: Buffer; type: string } | undefined> => {
  const type = types[extname(name)]
  if (type === undefined || !isHashed(name)) return undefined
  const [file] = await db.run(fileByName, { name })
  return file && { content: file.content, type }
}
