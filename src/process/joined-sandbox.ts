import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { RailOptions, SandboxOptions } from '../app-rails.ts'
import type { MovableClock } from '../lib/clock.ts'
import { StartupError } from '../lib/startup-error.ts'

const timeoutMs = 2_000
const tries = 20

const requestJson = async (url: string, init: RequestInit = {}): Promise<unknown> => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) throw new Error(`the sandbox answered ${response.status}`)
  return response.json()
}

/** Without addresses: the emulator does not know under which one it is reached. */
type Options = { [P in keyof RailOptions]: Omit<RailOptions[P], 'baseUrl'> }

const readOptions = async (url: string): Promise<Options> => {
  for (let count = 1; ; count += 1) {
    try {
      return (await requestJson(`${url}/control/options`)) as Options
    } catch (cause) {
      if (count === tries)
        throw new StartupError(`No sandbox answers at SANDBOX_URL (${url}): start one with npm run sandbox.`, { cause })
      await wait(500)
    }
  }
}

/** How far the time of a running sandbox is ahead. */
const readOffsetMs = async (url: string): Promise<number> =>
  ((await requestJson(`${url}/control/clock`)) as { offset_ms: number }).offset_ms

const urlOf = (address: string): string => address.replace(/\/+$/, '')

/** The same, asked once by a process that does not use its rails. */
export const readSandboxOffsetMs = (address: string): Promise<number> =>
  readOffsetMs(urlOf(address)).catch((cause: unknown) => {
    throw new StartupError(`No sandbox answers at SANDBOX_URL (${address}) with its time: start one with npm run sandbox.`, {
      cause,
    })
  })

/** An emulator shared by several services: they use its credentials and its time. */
export const joinSandbox = async (address: string, clock: MovableClock, logger: Logger) => {
  const url = urlOf(address)
  const read = await readOptions(url)
  const follow = async (): Promise<void> => clock.moveTo(await readOffsetMs(url))
  await follow()
  const timer = setInterval(() => {
    follow().catch(() => logger.debug('the sandbox did not answer with its time'))
  }, 1_000).unref()
  const options: SandboxOptions = {
    options: (baseUrl) =>
      Object.fromEntries(Object.entries(read).map(([provider, options]) => [provider, { ...options, baseUrl }])) as RailOptions,
  }
  return {
    options,
    advance: async (seconds: number): Promise<void> => {
      const body = JSON.stringify({ advance_seconds: seconds })
      await requestJson(`${url}/control/clock`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      await follow()
    },
    stop: async () => clearInterval(timer),
  }
}
