import { randomBytes } from 'node:crypto'
import { chown, link, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { type Config, loadConfig } from '../config.ts'
import { openDataFolder } from '../embedded-postgres/data-folder.ts'
import { StartupError } from '../lib/startup-error.ts'

export const keysFileName = 'development-keys.env'

/** Where the keys come from, for the summary. `file` is null when both are configured. */
export type Keys = Pick<Config, 'ENCRYPTION_KEYS' | 'TOKEN_SECRETS' | 'ORDER_KEY'> & { file: string | null; made: boolean }

/**
 * Production requires these keys; development creates them once and keeps them: without the same keys at the next start, destinations could
 * not be read, every browser would be signed out, and a payment could be sent under another name. A configured key has priority over a stored one.
 */
export const findKeys = async (config: Config): Promise<Keys> => {
  const { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } = config
  if (ENCRYPTION_KEYS && TOKEN_SECRETS && ORDER_KEY) return { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY, file: null, made: false }
  const folder = await openDataFolder(config.DATA_DIR)
  const file = join(folder, keysFileName)
  const made = (await read(file)) === undefined && (await make(folder, file))
  const stored = parse(file, (await read(file)) ?? '')
  return {
    ENCRYPTION_KEYS: ENCRYPTION_KEYS ?? stored.ENCRYPTION_KEYS,
    TOKEN_SECRETS: TOKEN_SECRETS ?? stored.TOKEN_SECRETS,
    ORDER_KEY: ORDER_KEY ?? stored.ORDER_KEY,
    file,
    made,
  }
}

const parse = (file: string, text: string) => {
  const { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } = parseEnv(text)
  try {
    const kept = loadConfig({ ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY })
    if (kept.ENCRYPTION_KEYS && kept.TOKEN_SECRETS && kept.ORDER_KEY) return kept
  } catch {
    // The parser's own sentence could quote the unreadable text.
  }
  throw new StartupError(
    `${file} does not hold the keys that were kept in it: put it back from a copy, or remove it and start over with npm run db:reset.`,
  )
}

const read = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw new StartupError(
      `The keys in ${file} cannot be read by this user: correct its permissions, or choose another DATA_DIR.`,
      { cause },
    )
  }
}

const text =
  () => `# Made at the first start, for development alone. With these keys the destinations in the database can be read.
ENCRYPTION_KEYS=${newKey()}
TOKEN_SECRETS=${newKey()}
ORDER_KEY=${newKey()}
`

// Each key has its own name: a destination sealed by a lost key is refused with that reason, not reported as damaged.
const newKey = () => `dev-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`

/** The file is complete and on disk before it gets its name: a row sealed by a key that was lost in a crash could never be opened. */
const make = async (folder: string, file: string): Promise<boolean> => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.writeFile(text())
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(folder)
      await chown(draft, uid, gid)
    }
    // Unlike a rename, a link never replaces the keys that another process created at the same moment.
    await link(draft, file)
    return true
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') return false
    throw new StartupError(
      `The keys cannot be written to ${file}: correct the permissions of its folder, or choose another DATA_DIR.`,
      { cause },
    )
  } finally {
    await rm(draft, { force: true })
  }
}
