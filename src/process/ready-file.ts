import { rename, rm, writeFile } from 'node:fs/promises'
import type { Config } from '../config.ts'
import type { FundedAccount } from '../dev/sandbox/funded-account.ts'
import { StartupError } from '../lib/errors.ts'
import { localUrl } from '../lib/loopback.ts'
import { usesSandbox } from './rails.ts'

/** Removes the file of an earlier start, so that a waiting program does not read it. */
export const prepareReadyFile = async (file: string, config: Config): Promise<void> => {
  if (!usesSandbox(config))
    throw new StartupError('--ready-file creates an account with money and an API key: it needs RAILS=sandbox.')
  await rm(file, { force: true }).catch((cause: unknown) => {
    throw new StartupError(`--ready-file: ${file} cannot be written.`, { cause })
  })
}

/** Written atomically and readable only by this user, because it contains a key. */
export const writeReadyFile = async (file: string, config: Config, account: FundedAccount): Promise<void> => {
  const control_url = `${localUrl(config.OPERATOR_HOST, config.OPERATOR_PORT)}/sandbox`
  const facts = { url: config.publicUrl, control_url, control_token: config.SANDBOX_TOKEN ?? null, pid: process.pid, ...account }
  await writeFile(`${file}.draft`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.draft`, file)
}
