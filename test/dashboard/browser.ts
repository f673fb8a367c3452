import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const firstOf = (...paths: readonly (string | undefined)[]) =>
  paths.find((path): path is string => path !== undefined && existsSync(path))

/** A browser for the tests. Undefined if none is installed. */
export const chromiumPath = firstOf(
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
)

/** The same engine without a browser's windows saves a sixth of all flows' processor time. It shows no notifications. */
const shellPath = process.env.CHROMIUM_PATH ? undefined : firstOf('/usr/bin/chromium-headless-shell')

if (!chromiumPath) {
  console.warn('\n!!! NO CHROMIUM: the dashboard is NOT tested. Install chromium or name one with CHROMIUM_PATH. !!!\n')
}

/** The last list counts: Playwright's own that matter here, and features that cost a process and a second per window. */
const withoutFeatures = [
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  // The list below the address bar, two pages of its own in every window.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  // A spare process after every page.
  'SpareRendererForSitePerProcess',
]

export const showsNotices = shellPath === undefined

/** `notices`: a browser that shows notifications. */
export const openBrowser = ({ notices = false } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: (notices ? undefined : shellPath) ?? chromiumPath ?? '',
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${withoutFeatures.join(',')}`,
    ],
  })
