import { StartupError } from '../lib/startup-error.ts'

/** The variables of the process and, for missing ones, those of a `.env` file in the working folder. */
export const readEnvironment = (): NodeJS.ProcessEnv => {
  try {
    process.loadEnvFile('.env')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'ENOENT')
      throw new StartupError(`The file .env cannot be read (${String(code)}): correct it, or remove it.`, { cause })
  }
  return process.env
}
