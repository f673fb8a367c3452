import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../../lib/errors.ts'

const run = promisify(execFile)

/** The user that Postgres runs as. `capability`: what that user also needs to reach files below a closed folder. */
export type PostgresUser = { uid: number; gid: number; capability?: string }

/**
 * Postgres refuses to run as root. Ordinary users run it as themselves (undefined). Root gives it to the owner of the folder, so that after
 * `sudo npm start` the owner can use the data, or else to a user without rights.
 */
export const choosePostgresUser = async (dataFolder: string, ...mustReach: string[]): Promise<PostgresUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(dataFolder)
  const user = (await ownerIfNamed(owner.uid, owner.gid)) ?? (await named('postgres')) ?? (await named('nobody'))
  if (!user) {
    throw new StartupError(
      'PostgreSQL does not run as root and there is no user "nobody" to run it: start as another user, or set DATABASE_URL.',
    )
  }
  const closed = await firstClosedFolder(user, [dataFolder, ...mustReach])
  return closed === undefined ? user : { ...user, capability: await reachingCapability(user, closed) }
}

/** The program and arguments that run `file` as this user, for spawn. */
export const asUser = (user: PostgresUser | undefined, file: string, args: string[]) => {
  if (!user) return { file, args, ids: {} }
  const { uid, gid, capability } = user
  if (!capability) return { file, args, ids: { uid, gid } }
  // no_setuid_fixup: without it access(2), with which Postgres finds its programs, ignores capabilities.
  const caps = ['--securebits=+no_setuid_fixup', `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`]
  return { file: 'setpriv', args: [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...caps, '--', file, ...args], ids: {} }
}

// initdb looks its user up by number and fails on a user without a name.
const ownerIfNamed = async (uid: number, gid: number) =>
  uid !== 0 && (await id('-un', String(uid))) !== undefined ? { uid, gid } : undefined

const named = async (name: string) => {
  const [uid, gid] = await Promise.all([id('-u', name), id('-g', name)])
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

const id = (...args: string[]) =>
  run('id', args).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )

const firstClosedFolder = async ({ uid, gid }: PostgresUser, paths: string[]) => {
  for (const path of paths) {
    for (let folder = resolve(path), parent = dirname(folder); ; folder = parent, parent = dirname(folder)) {
      const { mode, uid: owner, gid: group } = await stat(folder)
      const search = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
      if ((mode & search) === 0) return folder
      if (folder === parent) break
    }
  }
  return undefined
}

/**
 * A fresh machine's checkout is often in root's own folder (/root is 0700), which no other user can enter. The service must not open it to
 * everybody; where setpriv exists, it lets this one program pass.
 */
const reachingCapability = async ({ uid }: PostgresUser, closed: string) => {
  const [status, setpriv] = await Promise.all([
    readFile('/proc/self/status', 'utf8').catch(() => ''),
    run('setpriv', ['--version']).catch(() => undefined),
  ])
  const held = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  const has = (bit: bigint) => ((held >> bit) & 1n) === 1n
  // Bits of capability.h: 8 is setpcap, which setpriv needs. Read access is enough; containers usually remove that one and keep the broader
  // one.
  if (setpriv && has(8n) && has(2n)) return 'dac_read_search'
  if (setpriv && has(8n) && has(1n)) return 'dac_override'
  throw new StartupError(
    `PostgreSQL does not run as root, and user ${uid}, which would run it, may not enter ${closed}: move the project to a folder that others may enter, start as another user, or set DATABASE_URL.`,
  )
}
