import type { Browser } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll } from 'vitest'
import { createTestClock } from '../harness/clock.ts'
import { newWallet } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { openBrowser } from './browser.ts'

/** One service and one browser for every flow. They are there once the tests run. */
export type World = {
  /** The wallet that the settings name as an administrator's. */
  readonly administrator: PrivateKeyAccount
  readonly service: TestService
  readonly browser: Browser
}

export const createWorld = (): World => {
  const administrator = newWallet()
  let service: TestService | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    // The browser's clock is the machine's: what expires has to expire for both.
    service = await startService({ clock: createTestClock(new Date()), env: { ADMIN_ACCOUNTS: administrator.address } })
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })
  return {
    administrator,
    get service() {
      if (!service) throw new Error('the service runs only while tests do')
      return service
    },
    get browser() {
      if (!browser) throw new Error('the browser runs only while tests do')
      return browser
    },
  }
}
