import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type RailOptions, realRails, type SandboxOptions, sandboxRails } from '../app-rails.ts'
import type { Config } from '../config.ts'
import { createRailSandbox } from '../dev/sandbox/rail-sandbox.ts'
import { createSandboxTime, createTimerScheduler, storedOffsetMs } from '../dev/sandbox/scheduler.ts'
import { type Clock, createMovableClock, type MovableClock } from '../lib/clock.ts'
import { StartupError } from '../lib/errors.ts'
import type { Rails } from '../rails/rail.ts'

const timeoutMs = 2_000
const tries = 20

const requestJson = async (url: string, init: RequestInit = {}): Promise<unknown> => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) throw new Error(`the sandbox answered ${response.status}`)
  return response.json()
}

/** The emulator does not know its own URL. */
type Options = { [P in keyof RailOptions]: Omit<RailOptions[P], 'baseUrl'> }

const readOptions = async (url: string): Promise<Options> => {
  for (let count = 1; ; count += 1) {
    try {
      return (await requestJson(`${url}/control/options`)) as Options
    } catch (cause) {
      if (count === tries)
        throw new StartupError(`No sandbox answers at SANDBOX_URL (${url}): start it with npm run sandbox.`, { cause })
      await wait(500)
    }
  }
}

const readOffsetMs = async (url: string): Promise<number> =>
  ((await requestJson(`${url}/control/clock`)) as { offset_ms: number }).offset_ms

export type RunningRails = {
  rails: Rails
  /** Null with real providers. */
  sandbox: { url: string; advance: (seconds: number) => Promise<void>; resume: () => void } | null
  stop: () => Promise<void>
}

export const usesSandbox = ({ RAILS }: Pick<Config, 'RAILS'>): boolean => !RAILS || RAILS.includes('sandbox')
const folderOf = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string => join(DATA_DIR, 'sandbox')

const urlOf = (address: string): string => address.replace(/\/+$/, '')

/** For commands beside the service: the system's time, or the time of the service's sandbox. */
export const readTime = async (config: Pick<Config, 'RAILS' | 'DATA_DIR' | 'SANDBOX_URL'>): Promise<Clock> => {
  const clock = createMovableClock()
  if (!usesSandbox(config)) return clock
  const { SANDBOX_URL: address } = config
  const read = address === undefined ? storedOffsetMs(folderOf(config)) : readOffsetMs(urlOf(address))
  clock.moveTo(
    await Promise.resolve(read).catch((cause: unknown) => {
      throw new StartupError(`The sandbox at SANDBOX_URL (${address}) does not return its time: start it with npm run sandbox.`, {
        cause,
      })
    }),
  )
  return clock
}

const openSandbox = async (config: Config, clock: MovableClock): Promise<RunningRails> => {
  const folder = folderOf(config)
  const scheduler = createTimerScheduler()
  const time = createSandboxTime(clock, scheduler, folder)
  const sandbox = createRailSandbox({
    scheduler,
    clock,
    delayMs: config.SANDBOX_DELAY_MS,
    folder,
    moveTime: time,
    home: config.publicUrl,
  })
  const url = await sandbox.listen(0)
  const advance = async (seconds: number) => void time.advance(seconds)
  return {
    rails: sandboxRails(config, clock, sandbox, url),
    sandbox: { url, advance, resume: sandbox.resume },
    stop: sandbox.close,
  }
}

/** Connects to a shared sandbox, whose credentials and time several services use. */
const joinSandbox = async (config: Config, clock: MovableClock, logger: Logger, address: string): Promise<RunningRails> => {
  const url = urlOf(address)
  const read = await readOptions(url)
  const follow = async (): Promise<void> => clock.moveTo(await readOffsetMs(url))
  await follow()
  const timer = setInterval(() => {
    follow().catch(() => logger.debug('the sandbox did not return its time'))
  }, 1_000).unref()
  const options: SandboxOptions = {
    options: (baseUrl) =>
      Object.fromEntries(Object.entries(read).map(([provider, options]) => [provider, { ...options, baseUrl }])) as RailOptions,
  }
  const advance = async (seconds: number): Promise<void> => {
    const body = JSON.stringify({ advance_seconds: seconds })
    await requestJson(`${url}/control/clock`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await follow()
  }
  return {
    rails: sandboxRails(config, clock, options, url),
    sandbox: { url, advance, resume: () => undefined },
    stop: async () => clearInterval(timer),
  }
}

/** Opens the real providers or their emulator, which is either running elsewhere (SANDBOX_URL) or started in this process. */
export const openRails = (config: Config, clock: MovableClock, logger: Logger): Promise<RunningRails> => {
  if (!usesSandbox(config)) {
    return Promise.resolve({ rails: realRails(config, clock), sandbox: null, stop: async () => undefined })
  }
  return config.SANDBOX_URL === undefined ? openSandbox(config, clock) : joinSandbox(config, clock, logger, config.SANDBOX_URL)
}
