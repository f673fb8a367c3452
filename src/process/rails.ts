import type { Logger } from 'pino'
import { realRails, sandboxRails } from '../app-rails.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Rails } from '../rails/rail.ts'
import { createRailSandbox } from '../sandbox/rail-sandbox.ts'
import { createTimerScheduler } from '../sandbox/scheduler.ts'

export type RunningRails = { rails: Rails; simulated: boolean; stop: () => Promise<void> }

/** Real providers when they are named, else their emulator on a loopback port that nobody else needs to know. */
export const openRails = async (config: Config, clock: Clock, logger: Logger): Promise<RunningRails> => {
  if (config.RAILS && !config.RAILS.includes('sandbox')) {
    return { rails: realRails(config, clock), simulated: false, stop: async () => undefined }
  }
  const sandbox = createRailSandbox({
    scheduler: createTimerScheduler(),
    clock,
    delayMs: config.SANDBOX_DELAY_MS,
    logger: logger.child({ part: 'sandbox' }),
  })
  const baseUrl = await sandbox.listen()
  return { rails: sandboxRails(config, clock, sandbox, baseUrl), simulated: true, stop: sandbox.close }
}
