import { randomBytes } from 'node:crypto'
import { chown, link, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { type Config, loadConfig } from '../config.ts'
import { openDataFolder } from '../lib/data-folder.ts'
import { StartupError } from '../lib/errors.ts'
import { isCode } from '../lib/operating-system.ts'

export const keysFileName = 'development-keys.env'

/** Keys that an operator must configure in production and that development generates. */
export const keyNames = ['ENCRYPTION_KEYS', 'TOKEN_SECRETS', 'ORDER_KEY', 'RECEIPT_KEYS'] as const
type KeySettings = Pick<Config, (typeof keyNames)[number]>

/** `file`: the file that supplied keys; null if all are configured. `generated`: this call created the file. */
export type Keys = { settings: KeySettings; file: string | null; generated: boolean }

const keysOnly = (config: KeySettings): KeySettings => Object.fromEntries(keyNames.map((name) => [name, config[name]]))
const isComplete = (config: KeySettings): boolean => keyNames.every((name) => config[name] !== undefined)

/**
 * Development generates these keys once and stores them. Other keys at the next start would make destinations unreadable, sign
 * browsers out, and could give a payment another name. Configured keys take precedence over stored keys.
 */
export const findKeys = async (config: Config): Promise<Keys> => {
  if (isComplete(config)) return { settings: keysOnly(config), file: null, generated: false }
  const folder = await openDataFolder(config.DATA_DIR)
  const file = join(folder, keysFileName)
  const generated = (await readKeysFile(file)) === undefined && (await createKeysFile(folder, file))
  const stored = parseKeys(file, (await readKeysFile(file)) ?? '')
  const settings = Object.fromEntries(keyNames.map((name) => [name, config[name] ?? stored[name]]))
  return { settings, file, generated }
}

const parseKeys = (file: string, text: string): KeySettings => {
  const variables = parseEnv(text)
  try {
    const kept = keysOnly(loadConfig(Object.fromEntries(keyNames.map((name) => [name, variables[name]]))))
    if (isComplete(kept)) return kept
  } catch {
    // The parser's message is not reported, because it could quote the file's content.
  }
  throw new StartupError(`${file} has lost its keys: restore it from a copy, or remove it and start over with npm run db:reset.`)
}

const readKeysFile = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return undefined
    throw new StartupError(`This user cannot read the keys in ${file}: correct its permissions, or choose another DATA_DIR.`, {
      cause,
    })
  }
}

// Key names are random: a value sealed under a lost key is then reported as such, and not as corrupted.
const newKey = () => `dev-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`

const heading = '# Made at the first start, for development alone. With these keys the destinations in the database can be read.'

/** Written to disk before the file gets its name: otherwise a crash could lose a key with which rows were already sealed. */
const createKeysFile = async (folder: string, file: string): Promise<boolean> => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.writeFile([heading, ...keyNames.map((name) => `${name}=${newKey()}`), ''].join('\n'))
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(folder)
      await chown(draft, uid, gid)
    }
    // Unlike a rename, a link never replaces keys that another process created at the same time.
    await link(draft, file)
    return true
  } catch (cause) {
    if (isCode(cause, 'EEXIST')) return false
    throw new StartupError(
      `The keys cannot be written to ${file}: correct the permissions of its folder, or choose another DATA_DIR.`,
      { cause },
    )
  } finally {
    await rm(draft, { force: true })
  }
}
