import { access, chown, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { StartupError } from './errors.ts'
import { reason } from './operating-system.ts'

/** The absolute path of the folder for everything that the service stores outside the database server. Created if missing. */
export const openDataFolder = async (dataDir: string): Promise<string> => {
  const folder = resolve(dataDir)
  try {
    const created = await mkdir(folder, { recursive: true })
    if (created !== undefined) await giveToOwnerOf(dirname(created), folder, created)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return folder
  } catch (cause) {
    throw new StartupError(
      `The data folder ${folder} is not writable (${reason(cause)}): correct its permissions, or choose another DATA_DIR.`,
      { cause },
    )
  }
}

/** If root creates files in a user's folder, gives them to that user, who must be able to start the service later. */
const giveToOwnerOf = async (place: string, folder: string, made: string) => {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(place)
  for (let path = folder; path.length >= made.length; path = dirname(path)) await chown(path, uid, gid)
}
