import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Tokens } from '../oauth.ts'

/** One login: the service, the client and the tokens. */
export type Login = { baseUrl: string; clientId: string; tokens: Tokens }

export const loginFile = (env: NodeJS.ProcessEnv): string =>
  env.PAYMENTS_LOGIN_FILE ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'payments-service', 'login.json')

export const readLogin = async (file: string): Promise<Login | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Login
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Readable only by its owner, and never half-written: a damaged refresh token would end the login. */
export const writeLogin = async (file: string, login: Login): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}`
  await writeFile(next, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 })
  await rename(next, file)
}

export const forgetLogin = (file: string): Promise<void> => rm(file, { force: true })
