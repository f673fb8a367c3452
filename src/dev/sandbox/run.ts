import { resolve } from 'node:path'
import { loadConfig } from '../../config.ts'
import { createMovableClock } from '../../lib/clock.ts'
import { readEnvironment } from '../../process/environment.ts'
import { createRailSandbox } from './rail-sandbox.ts'
import { createSandboxTime, createTimerScheduler } from './scheduler.ts'

// Runs only the providers' emulator, for several services at once or for other M-PESA and PesaLink clients.
const config = loadConfig(readEnvironment())
const folder = resolve(config.DATA_DIR, 'sandbox')
const clock = createMovableClock()
const scheduler = createTimerScheduler()
const sandbox = createRailSandbox({
  scheduler,
  clock,
  delayMs: config.SANDBOX_DELAY_MS,
  folder,
  moveTime: createSandboxTime(clock, scheduler, folder),
})
// Listens at the URL with which services are configured.
const url = await sandbox.listen(Number(new URL(config.SANDBOX_URL ?? 'http://127.0.0.1:3002').port))
sandbox.resume()
const { consumerKey, consumerSecret, shortcode, passkey, initiatorName } = sandbox.options(url).MPESA

console.log(`The provider sandbox is ready: no money moves.

  Rules, journal   ${url}/control
  Our service      SANDBOX_URL=${url} npm start
  Other clients    DARAJA_URL=${url}
                   DARAJA_CONSUMER_KEY=${consumerKey}
                   DARAJA_CONSUMER_SECRET=${consumerSecret}
                   DARAJA_SHORTCODE=${shortcode}
                   DARAJA_PASSKEY=${passkey}
                   DARAJA_INITIATOR_NAME=${initiatorName}
                   all of them, certificates and PesaLink's included: ${url}/control/options
  Data             ${folder}
`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close().then(() => process.exit(0)))
