import type { Browser } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { countHours } from '../../src/ledger/count-hours.ts'
import { createTestClock } from '../harness/clock.ts'
import { newWallet } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { createInspector, type Inspector } from './axe.ts'
import { openBrowser, showsNotices } from './browser.ts'
import { createHousehold, type Household } from './household.ts'
import { createWindows, type Windows } from './windows.ts'

/** One service and one browser for all flows, started before the tests. */
export type World = {
  readonly browser: Browser
  /** The wallet of an administrator by the settings. */
  readonly administrator: PrivateKeyAccount
  readonly service: TestService
  readonly windows: Windows
  /** One inspector for all flows, so that each text's contrast is checked once. */
  readonly inspector: Inspector
  /** An account after some use, created once, for tests that do not change it. */
  readonly household: () => Promise<Household>
}

type WorldOptions = {
  /** Another world, whose browser is used: for flows that need a service of their own. */
  beside?: World
  /** Whether its browser shows notifications. */
  notices?: boolean
  /** Settings of its service. */
  env?: Record<string, string>
}

export const createWorld = ({ beside, notices = false, env: settings = {} }: WorldOptions = {}): World => {
  const shared = notices && !showsNotices ? undefined : beside
  const administrator = newWallet()
  let service: TestService | undefined
  let browser: Browser | undefined
  let household: Promise<Household> | undefined
  beforeAll(async () => {
    // The browser uses the machine's clock, so the service uses it too.
    const env = { ADMIN_ACCOUNTS: administrator.address, ...settings }
    // A notification is sent once: a slow machine's late one is not lost.
    const fixed = { OAUTH_METADATA_TIMEOUT_MS: 60_000 }
    const starting = startService({ clock: createTestClock(new Date()), env, fixed })
    ;[service, browser] = await Promise.all([starting, shared?.browser ?? openBrowser({ notices })])
  })
  // A test that set the clock back wrote into already counted hours.
  afterEach(async () => {
    if (service) await countHours(service.deps.db, service.clock.now())
  })
  afterAll(async () => {
    if (!shared) await browser?.close()
    await service?.close()
  })
  const running = (): TestService => {
    if (!service) throw new Error('the service runs only while tests do')
    return service
  }
  const opened = (): Browser => {
    if (!browser) throw new Error('the browser runs only while tests do')
    return browser
  }
  const windows = createWindows(opened, () => running().api.url)
  return {
    administrator,
    get service() {
      return running()
    },
    get browser() {
      return opened()
    },
    windows,
    inspector: beside?.inspector ?? createInspector(),
    household: () => {
      household ??= createHousehold(running())
      return household
    },
  }
}
