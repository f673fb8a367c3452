import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { realRails, type SandboxOptions, sandboxRails } from '../app-rails.ts'
import type { Config } from '../config.ts'
import { createRailSandbox } from '../dev/sandbox/rail-sandbox.ts'
import { createTimerScheduler } from '../dev/sandbox/scheduler.ts'
import { createSandboxTime, storedOffsetMs } from '../dev/sandbox/time.ts'
import { type Clock, createMovableClock, type MovableClock } from '../lib/clock.ts'
import type { Rails } from '../rails/rail.ts'
import { joinSandbox, readSandboxOffsetMs } from './joined-sandbox.ts'

export type RunningRails = {
  rails: Rails
  /** Null with real providers. */
  sandbox: { url: string; advance: (seconds: number) => Promise<void>; resume: () => void } | null
  stop: () => Promise<void>
}

const usesSandbox = ({ RAILS }: Pick<Config, 'RAILS'>): boolean => !RAILS || RAILS.includes('sandbox')
const folderOf = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string => join(DATA_DIR, 'sandbox')

/** Where the service writes the address of its own emulator, for programs on this machine. */
export const sandboxAddressFile = (dataDir: string): string => join(folderOf({ DATA_DIR: dataDir }), 'address')

/** The time of the service with these settings, for a command beside it: the system's, or that of the sandbox that the service uses. */
export const readTime = async (config: Pick<Config, 'RAILS' | 'DATA_DIR' | 'SANDBOX_URL'>): Promise<Clock> => {
  const clock = createMovableClock()
  if (!usesSandbox(config)) return clock
  clock.moveTo(
    config.SANDBOX_URL === undefined ? storedOffsetMs(folderOf(config)) : await readSandboxOffsetMs(config.SANDBOX_URL),
  )
  return clock
}

const openSandbox = async (config: Config, clock: MovableClock, logger: Logger): Promise<RunningRails> => {
  const folder = folderOf(config)
  const scheduler = createTimerScheduler()
  const time = createSandboxTime(clock, scheduler, folder)
  const sandbox = createRailSandbox({
    scheduler,
    clock,
    delayMs: config.SANDBOX_DELAY_MS,
    logger: logger.child({ part: 'sandbox' }),
    folder,
    moveTime: time,
    home: config.publicUrl,
  })
  const url = await sandbox.listen(config.SANDBOX_PORT)
  await mkdir(folder, { recursive: true })
  await writeFile(sandboxAddressFile(config.DATA_DIR), url)
  const advance = async (seconds: number) => void time.advance(seconds)
  return {
    rails: sandboxRails(config, clock, sandbox, url),
    sandbox: { url, advance, resume: sandbox.resume },
    stop: sandbox.close,
  }
}

const joinRunningSandbox = async (config: Config, clock: MovableClock, logger: Logger, url: string): Promise<RunningRails> => {
  const joined = await joinSandbox(url, clock, logger)
  const options: SandboxOptions = joined.options
  return {
    rails: sandboxRails(config, clock, options, url),
    sandbox: { url, advance: joined.advance, resume: () => undefined },
    stop: joined.stop,
  }
}

/** Real providers if they are configured, else their emulator: a running one (SANDBOX_URL), or one in this process. */
export const openRails = (config: Config, clock: MovableClock, logger: Logger): Promise<RunningRails> => {
  if (!usesSandbox(config)) {
    return Promise.resolve({ rails: realRails(config, clock), sandbox: null, stop: async () => undefined })
  }
  return config.SANDBOX_URL === undefined
    ? openSandbox(config, clock, logger)
    : joinRunningSandbox(config, clock, logger, config.SANDBOX_URL)
}
